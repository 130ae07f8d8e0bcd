// PEs of different kinds in one machine: what they are, how kernels are placed on them, and what bounds a run of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/config/pe_kinds.h"
#include "platform/config/configuration.h"
#include "platform/config/parameter_attributes.h"
#include "platform/report/roofline.h"
#include "platform/results/recorded_machine.h"
#include "platform/results/what_if.h"
#include "platform/run/simulate.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::platform::pe_kinds_test {
namespace {

using Texts = std::vector<std::string>;
using testing::Simulation;

[[nodiscard]] SystemConfig machine(const std::vector<std::string>& overrides) {
  return load_configuration({"ahbm", overrides}).system;
}

[[nodiscard]] Texts problems_of(const std::vector<std::string>& overrides) {
  Texts texts;
  try {
    (void)load_configuration({"ahbm", overrides});
  } catch (const ConfigurationError& error) {
    for (const Problem& problem : error.problems()) texts.push_back(problem.to_string());
  }
  return texts;
}

/// Two cubes of four PEs. The first PE of each cube and PE 7 have twice the rows.
const Texts two_cubes{"system.cubes=2", "system.pes_per_cube=4", "pe.kind.big.of_each_cube=0", "pe.kind.big.pes=7",
                      "pe.kind.big.gemm.rows=128"};

[[nodiscard]] Texts with(Texts overrides, const Texts& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

// ---- configuration

TEST(PeKinds, HoldForThePesThatTheyNameByNumberOrByPlaceInEveryCube) {
  const SystemConfig system = machine(two_cubes);
  const std::vector<std::int64_t> rows{128, 64, 64, 64, 128, 64, 64, 128};
  for (std::size_t pe = 0; pe < rows.size(); ++pe) {
    EXPECT_EQ(pe_config(system, PeId(static_cast<std::int64_t>(pe))).gemm.rows, rows[pe]) << "PE " << pe;
  }
}

TEST(PeKinds, TakeEveryOtherValueFromAllPesWhicheverIsGivenFirst) {
  for (const Texts& overrides : {with({"pe.gemm.cols=32", "pe.gemm.rows=16"}, two_cubes),
                                 with(two_cubes, {"pe.gemm.rows=16", "pe.gemm.cols=32"})}) {
    const SystemConfig system = machine(overrides);
    EXPECT_EQ(pe_config(system, PeId(0)).gemm.rows, 128);
    EXPECT_EQ(pe_config(system, PeId(0)).gemm.cols, 32);
    EXPECT_EQ(pe_config(system, PeId(1)).gemm.rows, 16);
  }
}

TEST(PeKinds, ArePrintedByTheirDifferencesAndReadBack) {
  const Configuration configuration = load_configuration({"ahbm", with(two_cubes, {"pe.kind.small.pes=1, 2-3"})});
  const std::string text = to_toml(configuration);
  EXPECT_NE(text.find("\n[pe.kind.big]\npes = \"7\"\nof_each_cube = \"0\"\n\n[pe.kind.big.gemm]\nrows = 128\n\n"
                      "[pe.kind.small]\npes = \"1, 2-3\"\n"),
            std::string::npos)
      << text;
  Json config = Json::object();
  for (const ConfigurationValue& value : configuration_values(configuration.system)) config[value.path] = value.value;
  const SystemConfig recorded = recorded_machine(Json::object({{"config", config}}));
  EXPECT_EQ(to_toml({configuration.preset, recorded, {}}), text);
}

TEST(PeKinds, WithMistakesSaySo) {
  EXPECT_EQ(problems_of({"pe.kind.big.gem.rows=2"}),
            Texts{"--set: pe.kind.big.gem.rows: unknown key; did you mean \"pe.gemm.rows\"? (allowed in [pe]: clock, "
                  "issue, scheduler, gemm, math, scratch, dma)"});
  EXPECT_EQ(problems_of({"pe.kind.big.gemm.rows=0", "pe.kind.big.pes=3"}),
            Texts{"--set: pe.kind.big.gemm.rows: 0 is out of range (allowed: 1 to 65536)"});
  EXPECT_EQ(problems_of({"pe.kind.big.pes=3-1"}),
            Texts{"--set: pe.kind.big.pes: expected numbers of PEs such as \"0, 8-15\", got the text \"3-1\""});
  EXPECT_EQ(problems_of({"pe.kind.big.gemm.rows=2"}),
            Texts{"--set: pe.kind.big: no PE is of this kind: give pes = \"0, 8-15\", numbers in the machine, or "
                  "of_each_cube = \"0\", places in every cube"});
  EXPECT_EQ(problems_of(with(two_cubes, {"pe.kind.big.pes=8"})),
            Texts{"--set: pe.kind.big.pes: there is no PE 8 (allowed: 0 to 7)"});
  EXPECT_EQ(problems_of(with(two_cubes, {"pe.kind.big.of_each_cube=4"})),
            Texts{"--set: pe.kind.big.of_each_cube: a cube has no PE 4 (allowed: 0 to 3)"});
  EXPECT_EQ(problems_of(with(two_cubes, {"pe.kind.small.pes=3-4"})),
            Texts{"--set: pe.kind.small: PE 4 is of the kind \"big\" already"});
  EXPECT_EQ(problems_of({"pe.kind.big=2"}),
            Texts{"--set: pe.kind.big: is a table, not a single value: write [pe.kind.big] with pes = \"0-3\" and keys "
                  "of [pe]; got the integer 2"});
}

TEST(PeKinds, OfAMachineMadeInCodeAreCheckedToo) {
  SystemConfig system = machine(two_cubes);
  system.kinds[0].pe.gemm.rows = 0;
  ASSERT_EQ(check(system).problems.size(), 1U);
  EXPECT_EQ(check(system).problems[0].to_string(),
            "pe.gemm.rows: for the kind \"big\": 0 is out of range (allowed: 1 to 65536)");
  system = machine(two_cubes);
  system.kinds[0].pe.dma.burst = Bytes(64);
  ASSERT_EQ(check(system).warnings.size(), 1U);
  EXPECT_EQ(check(system).warnings[0].rfind("PEs of the kind \"big\": pe.dma.max_outstanding", 0), 0U);
  system.kinds[0].pes = {{8, 9}};
  EXPECT_EQ(check(system).problems.size(), 1U);
}

[[nodiscard]] std::string attribute_of(const char* object, const char* name) {
  const auto* attribute =
      dynamic_cast<const sc_core::sc_attribute<std::string>*>(sc_core::sc_find_object(object)->get_attribute(name));
  return attribute == nullptr ? "none" : attribute->value;
}

TEST(PeKinds, AreReadableThroughSystemC) {
  testing::in_child([] {
    Connector connector;
    System system("system", machine(two_cubes), DataMode::none, connector);
    const ParameterAttributes attributes(system);
    EXPECT_EQ(attribute_of("system", "pe.kind.big.gemm.rows"), "128");
    EXPECT_EQ(attribute_of("system.cube1.pe4", "pe.gemm.rows"), "128");
    EXPECT_EQ(attribute_of("system.cube1.pe5", "pe.gemm.rows"), "64");
  });
}

// ---- the machine

TEST(PeKinds, ServeByTheirOwnNumbers) {
  testing::in_child([] {
    Simulation simulation(machine(two_cubes), DataMode::none);
    simulation.run_grid({8, 1, 1}, [](tl::Context& tl) {
      const auto a = tl.buffer({128, 128}, DType::f16);
      const auto b = tl.buffer({128, 128}, DType::f16);
      tl.wait(tl.dot(a, b));
    });
    // ideal: 128^3 products by 64 x 64 or 128 x 64 of them a cycle of 1 ns
    for (std::int64_t pe = 0; pe < 8; ++pe) {
      const bool big = pe == 0 || pe == 4 || pe == 7;
      EXPECT_EQ(simulation.pe(pe).statistics(Engine::gemm).busy, Picoseconds(big ? 256'000 : 512'000)) << "PE " << pe;
    }
  });
}

TEST(PeKinds, SendMessagesToEachOther) {
  testing::in_child([] {
    // PE 0, with a clock of its own, sends east to PE 4 of the other cube, and PE 1 of the common kind to PE 5.
    Simulation simulation(machine(with(two_cubes, {"pe.kind.fast.pes=5", "pe.kind.fast.clock=2 GHz",
                                                   "pe.kind.fast.dma.setup=50 ns", "pe.kind.fast.issue.store=30"})));
    const auto sender = [](tl::Context& tl) { tl.send(Direction::east, tl.full({4}, 3.0, DType::f32)); };
    const auto receiver = [](std::int64_t pe) {
      return [pe](tl::Context& tl) {
        tl.store(HbmAddress(CubeId(1), Bytes(pe * 64)), tl.recv(Direction::west, {4}, DType::f32));
      };
    };
    simulation.run_parts({{0, sender}, {1, sender}, {4, receiver(4)}, {5, receiver(5)}},
                         {{Direction::west}, Bytes(64)});
    for (const std::int64_t pe : {4, 5}) {
      EXPECT_EQ(simulation.read(HbmAddress(CubeId(1), Bytes(pe * 64)), DType::f32, 4), (std::vector<float>(4, 3.0F)));
    }
    // PE 5 ends last: its setup is on the critical path, in the length that it has.
    EXPECT_EQ(simulation.critical_path().causes[static_cast<std::size_t>(traces::PathCause::dma_setup)],
              Picoseconds(50'000));
  });
}

// ---- runs

[[nodiscard]] WorkloadRequest prefill() {
  WorkloadRequest request;
  request.kernel = "gqa_attention_prefill_short";
  request.model = load_model_shape("llama-3.1-8b");
  request.s_kv = {256};
  return request;
}

[[nodiscard]] Json result_of(const WorkloadRequest& request, const Texts& overrides) {
  const Configuration configuration = load_configuration({"ahbm", overrides});
  const auto workload = make_workload(request, configuration.system);
  return simulate_isolated({configuration, request.kernel, tl::Policy::lazy, DataMode::none, ""}, *workload);
}

const Texts wide{"pe.gemm.rows=128", "pe.math.lanes=512", "pe.dma.bandwidth=256 GB/s", "pe.issue.load=3"};

[[nodiscard]] Texts wide_kind(const std::string& of_each_cube) {
  Texts keys{"pe.kind.wide.of_each_cube=" + of_each_cube};
  for (const std::string& key : wide) keys.push_back("pe.kind.wide." + key.substr(std::string("pe.").size()));
  return keys;
}

TEST(PeKinds, OfAllPesAreTheMachineWithTheseValues) {
  WorkloadRequest decode = prefill();
  decode.kernel = "gqa_attention_decode_long";
  decode.s_kv = {16384};
  for (const WorkloadRequest& request : {prefill(), decode}) {
    const Json common = result_of(request, wide);
    const Json kind = result_of(request, wide_kind("0-7"));
    for (const char* part : {"latency_ps", "bounds_ps", "stall_ps", "busy_ps", "bytes"}) {
      EXPECT_EQ(kind.at(part), common.at(part)) << request.kernel << ": " << part;
    }
    EXPECT_EQ(to_json(roofline(kind)), to_json(roofline(common))) << request.kernel;
  }
}

TEST(PeKinds, TakeKernelsThatAreForThemAlone) {
  // One program for each of 8 KV heads: the 16 wide PEs of 8 cubes do what they would in a machine of wide PEs.
  WorkloadRequest request = prefill();
  const Json all_wide = result_of(request, with(wide, {"system.pes_per_cube=2"}));
  request.pe_kind = "wide";
  const Json placed = result_of(request, wide_kind("3-4"));
  EXPECT_EQ(placed.at("latency_ps"), all_wide.at("latency_ps"));
  EXPECT_EQ(placed.at("bounds_ps"), all_wide.at("bounds_ps"));
  EXPECT_LT(placed.at("stall_ps").at("pe3").at("idle").as_int(), placed.at("latency_ps").as_int());
  EXPECT_EQ(placed.at("stall_ps").at("pe0").at("idle"), placed.at("latency_ps"));
}

TEST(PeKinds, ThatAKernelSharesArePlannedForTheSmallest) {
  const Texts small{"pe.scratch.capacity=512 KiB"};
  const Texts one_small{"pe.kind.small.pes=63", "pe.kind.small.scratch.capacity=512 KiB"};
  const auto plan_of = [](const WorkloadRequest& request, const Texts& overrides) {
    return make_workload(request, machine(overrides))->shape();
  };
  EXPECT_NE(plan_of(prefill(), small), plan_of(prefill(), {}));
  EXPECT_EQ(plan_of(prefill(), one_small), plan_of(prefill(), small));
  const Json result = result_of(prefill(), {"pe.kind.small.pes=1", "pe.kind.small.scratch.capacity=512 KiB"});
  EXPECT_EQ(result.at("scratch").at("capacity_bytes").as_int(), 512 << 10);
}

TEST(PeKinds, BoundARunByTheSlowestOfThem) {
  // 8 programs on 8 cubes' PEs 0 to 7. Compulsory products of a head: 4 query heads x 256 x 257 / 2 pairs x 2 x 128.
  const std::int64_t products = 4 * 256 * 257 / 2 * 2 * 128;
  const auto bound_of = [](const Texts& overrides) {
    return result_of(prefill(), overrides).at("bounds_ps").at("compulsory").at("gemm_ideal").as_int();
  };
  // A cycle of 1 ns for every 64 x 64 products, of a PE of kind "half" for every 32 x 64.
  EXPECT_EQ(bound_of({"pe.kind.half.pes=60", "pe.kind.half.gemm.rows=32"}), (products + 4095) / 4096 * 1000);
  EXPECT_EQ(bound_of({"pe.kind.half.pes=5", "pe.kind.half.gemm.rows=32"}), (products + 2047) / 2048 * 1000);
}

TEST(PeKinds, AreAllFasterInAWhatIf) {
  const SystemConfig system = machine(two_cubes);
  const SystemConfig faster = twice_as_fast(system, Faster::gemm);
  EXPECT_EQ(pe_config(faster, PeId(0)).gemm.clock_multiple, 2);
  EXPECT_EQ(pe_config(faster, PeId(1)).gemm.clock_multiple, 2);
  EXPECT_EQ(pe_config(twice_as_fast(system, Faster::dma), PeId(7)).dma.bandwidth, system.pe.dma.bandwidth * 2);
}

TEST(PeKinds, AddTheirPeaksInARoofline) {
  // PEs 0 to 7 work; two of them have twice the rows: 10 x 2 x 64 x 64 flops a cycle of 1 ns.
  const Json result = result_of(prefill(), {"pe.kind.big.pes=0-1", "pe.kind.big.gemm.rows=128"});
  EXPECT_DOUBLE_EQ(roofline(result).peak_flops, 10 * 2 * 64 * 64 * 1e9);
}

TEST(PeKinds, HaveNotesOfTheirKeysWithoutEffect) {
  const auto notes_of = [](const Texts& overrides) {
    const Json result = result_of(prefill(), overrides);
    return to_text(result.at("notes"), 0);
  };
  const Texts kind{"pe.kind.big.pes=0", "pe.kind.big.gemm.folds=serial"};
  EXPECT_NE(notes_of(kind).find("pe.kind.big.gemm.folds has no effect in this run: pe.gemm.dataflow is"),
            std::string::npos);
  EXPECT_EQ(notes_of(with(kind, {"pe.kind.big.gemm.dataflow=weight_stationary"})), "[]");
  // A key of all PEs has an effect if it has one on some.
  EXPECT_EQ(notes_of({"pe.gemm.folds=serial", "pe.kind.big.pes=0", "pe.kind.big.gemm.dataflow=weight_stationary"}),
            "[]");
}

TEST(PeKinds, ThatAreNotThereAreRefusedByName) {
  const auto refusal = [](WorkloadRequest request, const char* kind, const Texts& overrides) {
    request.pe_kind = kind;
    return testing::error_of<WorkloadError>([&] { (void)make_workload(request, machine(overrides)); });
  };
  EXPECT_EQ(refusal(prefill(), "wid", wide_kind("0")), "--pe-kind \"wid\"; did you mean \"wide\"? (allowed: wide)");
  EXPECT_EQ(refusal(prefill(), "wide", {}), "--pe-kind \"wide\": the machine has PEs of one kind (see pe.kind.NAME)");
  WorkloadRequest decode = prefill();
  decode.kernel = "gqa_attention_decode_long";
  EXPECT_EQ(
      refusal(decode, "big", two_cubes),
      "--pe-kind: the long attention kernels run on PEs with the same places in each of 2 cubes; give the kind by "
      "of_each_cube");
}

}  // namespace
}  // namespace kernwave::platform::pe_kinds_test
