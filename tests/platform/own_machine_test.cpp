// A machine that a user has built, with an engine and a timing table of the user's, goes through everything that
// `kernwave` does with a run, and all of it tells the same of the engine.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tl/context.h"
#include "kernels/tl/launch.h"
#include "models/base/systemc.h"
#include "platform/files/whole_file.h"
#include "platform/host/child_process.h"
#include "platform/json/json.h"
#include "platform/run/simulate.h"
#include "platform/workload/workload.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/own_workload.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/vcd_reader.h"

namespace kernwave::platform::own_machine_test {
namespace {

using testing::OwnWorkload;

/// Takes 10 ns an element.
class Sorter : public sc_core::sc_module {
 public:
  explicit Sorter(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &Sorter::serve);
  }
  tlm_utils::simple_target_socket<Sorter> socket;

 private:
  void serve(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    delay += to_sc_time(Picoseconds(10'000) * descriptor_of(payload).call().tensors[0].elements());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// Engine number of the sorter: the first behind those of every PE.
constexpr auto sorter = static_cast<Engine>(engine_rows.size());

class SortingMachine : public Machine {
 public:
  SortingMachine(const SystemConfig& config, DataMode data)
      : system_("system", config, data, connector_, ConstructionOrder::ascending, engines()) {
    for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
      sorters_.push_back(std::make_unique<Sorter>(("sorter" + std::to_string(id)).c_str()));
      connector_.connect(system_.pe(PeId(id)).engine_socket(sorter), sorters_.back()->socket, "sorter");
    }
  }
  [[nodiscard]] System& system() override { return system_; }

 private:
  [[nodiscard]] static EngineList engines() {
    EngineList list;
    list.add({0x6000, "sorter", "Sorter", "sorting engine"});
    return list;
  }

  Connector connector_;
  System system_;
  std::vector<std::unique_ptr<Sorter>> sorters_;
};

[[nodiscard]] RunRequest request_of(const std::vector<std::string>& overrides) {
  RunRequest request = testing::own_request(DataMode::none);
  request.configuration = load_configuration({"ahbm", overrides});
  request.build = [](const SystemConfig& config, DataMode data) {
    return std::make_unique<SortingMachine>(config, data);
  };
  return request;
}

void kernel(tl::Context& tl) {
  const auto x = tl.load(HbmAddress(0), {16, 16}, DType::f16);
  const auto product = tl.dot(x, x);
  const auto sorted = tl.buffer({16, 16}, DType::f32);
  tl.call(sorter, tl::Call().reads(product).writes(sorted));
  tl.call(sorter, tl::Call().reads(sorted).writes(product));
  tl.store(HbmAddress(0x10000), product);
}

class OwnMachine : public kernwave::testing::TemporaryFolderTest {};

TEST_F(OwnMachine, ShowsItsEngineAlikeInEveryOutput) {
  write_file_atomically(path("times.toml"), "[[gemm]]\nm = [16]\ntime = [77]\n");
  RunOptions options;
  options.outputs.json = path("run.json");
  options.outputs.vcd = path("run.vcd");
  options.outputs.vcd_scope = "pe1";
  options.outputs.op_log = path("run.sqlite");
  options.outputs.timeline = path("run.perfetto");
  options.outputs.report = path("run.html");
  options.outputs.critical_path = true;
  testing::in_child([&] {
    const OwnWorkload workload(kernel);
    const RunOutcome outcome = simulate(request_of({"pe.gemm.timing=" + path("times.toml")}), workload, options);
    EXPECT_TRUE(outcome.problems.empty());
  });
  // Two calls of 256 elements on each of three PEs, a product of 77 cycles.
  constexpr std::int64_t busy = 2 * 256 * 10'000;
  const Json document = parse_json(read_file(path("run.json")), "run.json");
  EXPECT_EQ(document.at("counts").at("sorter").as_int(), 3 * 2);
  for (const char* pe : {"pe0", "pe1", "pe2"}) {
    EXPECT_EQ(document.at("busy_ps").at(pe).at("sorter").as_int(), busy) << pe;
    EXPECT_EQ(document.at("busy_ps").at(pe).at("gemm").as_int(), 77'000) << pe;
  }
  const Json& causes = document.at("critical_path").at("by_cause");
  EXPECT_EQ(causes.at("added_engine").as_int(), busy);
  EXPECT_EQ(causes.at("gemm").as_int(), 77'000);
  EXPECT_EQ(causes.find("unexplained"), nullptr);
  EXPECT_EQ(testing::query_text(path("run.sqlite"),
                                "SELECT sum(end_ps - start_ps) FROM operations WHERE engine = 'sorter' AND pe = 1"),
            std::to_string(busy) + "\n");
  const testing::Vcd vcd = testing::parse_vcd(read_file(path("run.vcd")));
  EXPECT_EQ(vcd.integral("pe1.sorter_busy"), Picoseconds(busy));
  const std::string report = read_file(path("run.html"));
  EXPECT_NE(report.find("\"sorter\""), std::string::npos);
  EXPECT_NE(report.find("custom/sorter of 16x16 f32 to 16x16 f32"), std::string::npos);
  EXPECT_NE(read_file(path("run.perfetto")).find("Sorter"), std::string::npos);
}

TEST_F(OwnMachine, MustBeTheOneThatIsAskedFor) {
  RunRequest request = request_of({});
  request.build = [](SystemConfig config, DataMode data) {
    config.cubes = 1;
    return std::make_unique<SortingMachine>(config, data);
  };
  const std::string message = text_from_child([&request] {
    return testing::error_of<SimulationError>([&request] { (void)simulate(request, OwnWorkload(kernel)); });
  });
  EXPECT_EQ(message, "the builder has built 8 PEs with data none, where 64 PEs with data none are asked for");
}

}  // namespace
}  // namespace kernwave::platform::own_machine_test
