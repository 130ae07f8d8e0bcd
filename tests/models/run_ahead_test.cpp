// A program ahead of simulated time: operations that it waits for where it issues them are answered at once. Times,
// failures and what a run that is cut short has counted are those of a machine that answers each at its instant.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"
#include "tests/support/child.h"
#include "tests/support/quantities.h"
#include "tests/support/stub_memory.h"
#include "traces/protocol_monitor.h"

namespace kernwave::run_ahead_test {
namespace {

using testing::AnswerStyle;
using testing::in_child;
using testing::StubMemory;
using testing::StubTiming;

/// Whether somebody watches who must be told of each end at its instant.
enum class Ends : std::uint8_t { ahead, at_their_instant };
constexpr Ends both[] = {Ends::ahead, Ends::at_their_instant};

/// A cube of two PEs whose vector engine takes `cycles` for an operation of 256 elements: by hand, one operation of a
/// program takes 2 cycles of issue, 2 of dispatch and those.
class Machine {
 public:
  Machine(Ends ends, std::int64_t cycles, tl::Policy policy = tl::Policy::lazy)
      : policy_(policy), system_("system", config(cycles), DataMode::none, connector_) {
    if (ends == Ends::at_their_instant) system_.set_observer(&observer_);
  }

  void launch(std::int64_t pe, const tl::Kernel& kernel) { tl::launch(system_.pe(PeId(pe)), kernel, policy_); }
  RunEnd run() { return run_to_end(system_.ledger()); }
  [[nodiscard]] System& system() noexcept { return system_; }
  [[nodiscard]] PeCpu& cpu(std::int64_t pe) { return system_.pe(PeId(pe)).cpu(); }

  /// How the run ended: when, why, and what each PE has counted; if it did not fail, what each waits for.
  [[nodiscard]] std::string outcome() {
    const bool failed = !system_.ledger().failures().empty();
    std::string text = "at " + std::to_string(now().count()) + "\n";
    for (const RunLedger::Failure& failure : system_.ledger().failures()) text += failure.message + "\n";
    for (std::int64_t id = 0; id < 2; ++id) {
      const EngineStatistics math = system_.pe(PeId(id)).statistics(Engine::math);
      text += "PE " + std::to_string(id) + ": " + std::to_string(math.operations) + " operations, " +
              std::to_string(math.flops) + " flops, busy " + std::to_string(math.busy.count()) + "\n";
      for (std::size_t cause = 0; cause < time_cause_count; ++cause) {
        text += std::to_string(cpu(id).account().of(static_cast<TimeCause>(cause)).count()) + " ";
      }
      if (!failed && !cpu(id).drained()) text += cpu(id).describe_wait();
      text += "\n";
    }
    return text;
  }

 private:
  [[nodiscard]] static SystemConfig config(std::int64_t cycles) {
    SystemConfig config;
    config.cubes = 1;
    config.pes_per_cube = 2;
    config.pe.math.cycles.copy = Cycles(cycles);
    return config;
  }

  tl::Policy policy_;
  Connector connector_;
  PeObserver observer_;
  System system_;
};

void compute(tl::Context& tl, std::int64_t operations) {
  for (std::int64_t i = 0; i < operations; ++i) {
    const auto scope = tl.scratch_scope();
    tl.full({256}, 1.0, DType::f32);
  }
}

/// The same run with ends ahead and at their instants, each in a process of its own: `setup` launches, `check` looks at
/// what there is by hand under `lazy`. The outcomes are compared under every policy.
template <typename Setup, typename Check>
void expect_same_outcome(std::int64_t cycles, Setup setup, Check check) {
  for (const Ends ends : both) {
    in_child([&] {
      Machine machine(ends, cycles);
      setup(machine);
      const RunEnd end = machine.run();
      check(machine, end);
    });
  }
  for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::blocking, tl::Policy::stall_on_use}) {
    std::vector<std::string> outcomes;
    for (const Ends ends : both) {
      outcomes.push_back(testing::from_child([&] {
        Machine machine(ends, cycles, policy);
        setup(machine);
        machine.run();
        return machine.outcome();
      }));
    }
    EXPECT_EQ(outcomes[0], outcomes[1]) << "policy " << static_cast<int>(policy);
  }
}

constexpr Picoseconds cycle(1'000);

TEST(RunAhead, AProgramThatComputesMakesHardlyAnEvent) {
  static constexpr std::int64_t operations = 10'000;
  for (const Ends ends : both) {
    in_child([ends] {
      Machine machine(ends, 1);
      machine.launch(0, [](tl::Context& tl) { compute(tl, operations); });
      EXPECT_EQ(machine.run(), RunEnd::finished);
      EXPECT_EQ(machine.system().ledger().end(), 5 * operations * cycle);
      const auto deltas = static_cast<std::int64_t>(sc_core::sc_delta_count());
      if (ends == Ends::ahead) {
        EXPECT_LT(deltas, operations / 50);
      } else {
        EXPECT_GT(deltas, operations);
      }
    });
  }
}

// A program that computes for ever lets others in: its lead is bounded.
TEST(RunAhead, ALeadIsBoundedSoThatTheHostGetsAWordIn) {
  in_child([] {
    Machine machine(Ends::ahead, 1);
    std::int64_t rounds = 0;
    machine.launch(0, [&rounds](tl::Context& tl) {
      for (;; ++rounds) compute(tl, 1);
    });
    sc_core::sc_spawn(
        [&machine] {
          sc_core::wait(to_sc_time(Picoseconds(1'000'000)));
          machine.system().ledger().interrupt();
        },
        "interrupt");
    EXPECT_EQ(machine.run(), RunEnd::interrupted);
    // By hand, 200 operations of 5 cycles end within 1 us; the program may be some hundred ahead.
    EXPECT_EQ(machine.system().pe(PeId(0)).statistics(Engine::math).operations, 200);
    EXPECT_LT(rounds, 1000);
  });
}

TEST(RunAhead, AFailureElsewhereFindsWhatHadEndedByThen) {
  for (const std::int64_t lead_us : {1'000, 20'000}) {
    static constexpr std::int64_t operations = 200;
    const std::int64_t cycles = lead_us * 1'000 / operations;
    expect_same_outcome(
        cycles,
        [](Machine& machine) {
          machine.launch(0, [](tl::Context& tl) { compute(tl, operations); });
          machine.launch(1, [](tl::Context& tl) {
            tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
            compute(tl, 3);
            throw std::runtime_error("a complaint");
          });
        },
        [cycles](Machine& machine, RunEnd end) {
          EXPECT_EQ(end, RunEnd::failed);
          // The load ends at 258 ns, as it would alone. PE 1 then computes three times, and PE 0 all the while.
          const Picoseconds failed = Picoseconds(258'000) + 3 * (4 + cycles) * cycle;
          EXPECT_EQ(now(), failed);
          EXPECT_EQ(machine.system().pe(PeId(0)).statistics(Engine::math).operations,
                    failed.count() / ((4 + cycles) * cycle).count());
        });
  }
}

TEST(RunAhead, AnErrorOfAnEarlierOperationEndsTheProgramWhenItComes) {
  expect_same_outcome(
      1'000,
      [](Machine& machine) {
        machine.launch(0, [](tl::Context& tl) {
          const auto x = tl.full({256}, 1.0, DType::f32);
          tl.store(HbmAddress(CubeId(0), Bytes(std::int64_t{1} << 39)), x);  // there is no such address
          compute(tl, 100);
        });
      },
      [](Machine& machine, RunEnd end) {
        EXPECT_EQ(end, RunEnd::failed);
        // 1,004 cycles of `full`, 8 + 2 of the store, 20 ns of setup, 100 ns of the memory. An error has no data.
        EXPECT_EQ(now(), Picoseconds(1'004'000 + 10'000 + 20'000 + 100'000));
        // After issue and service of `full` and issue of the store and of one more, the program waits for that one.
        EXPECT_EQ(machine.cpu(0).account().of(TimeCause::compute), Picoseconds(1'134'000 - 12'000));
        EXPECT_EQ(machine.system().pe(PeId(0)).statistics(Engine::math).operations, 1);
      });
}

TEST(RunAhead, AnExceptionOfTheProgramTakesEffectAtItsInstant) {
  expect_same_outcome(
      1'000,
      [](Machine& machine) {
        machine.launch(0, [](tl::Context& tl) {
          compute(tl, 7);
          throw std::runtime_error("a complaint");
        });
      },
      [](Machine& /*machine*/, RunEnd end) {
        EXPECT_EQ(end, RunEnd::failed);
        EXPECT_EQ(now(), 7 * 1'004 * cycle);
      });
}

TEST(RunAhead, ADeadlockIsToldWhenTheProgramGetsThere) {
  expect_same_outcome(
      1'000,
      [](Machine& machine) {
        const tl::Kernel receiver = [](tl::Context& tl) {
          compute(tl, 100);
          tl.recv(Direction::south, {16}, DType::f32);
        };
        const tl::Kernel other = [](tl::Context& tl) { compute(tl, 1); };
        tl::launch(machine.system().pe(PeId(0)), receiver, tl::Policy::lazy, {{Direction::south}, Bytes(4096)});
        machine.launch(1, other);
      },
      [](Machine& machine, RunEnd end) {
        EXPECT_EQ(end, RunEnd::deadlocked);
        // By hand: 100 operations, and the issue of the receive, which ends ahead of the event time.
        EXPECT_EQ(machine.cpu(0).account().of(TimeCause::compute), 100 * 1'002 * cycle);
        EXPECT_EQ(now(), 100 * 1'004 * cycle);
      });
}

// An operation longer than a run may go on without progress.
TEST(RunAhead, AnOperationWithoutProgressEndsTheRunAtItsLimit) {
  expect_same_outcome(
      50'000,
      [](Machine& machine) {
        machine.system().ledger().set_no_progress_limit(20'000 * cycle);
        machine.launch(0, [](tl::Context& tl) { compute(tl, 5); });
      },
      [](Machine& machine, RunEnd end) {
        EXPECT_EQ(end, RunEnd::no_progress);
        EXPECT_LT(now(), 20'100 * cycle);
        EXPECT_EQ(machine.system().pe(PeId(0)).statistics(Engine::math).operations, 0);
      });
}

TEST(RunAhead, SyncBringsSimulatedTimeToTheProgram) {
  in_child([] {
    Machine machine(Ends::ahead, 1'000);
    std::vector<Picoseconds> seen;
    machine.launch(0, [&seen](tl::Context& tl) {
      compute(tl, 3);
      seen.push_back(now());
      tl.sync();
      seen.push_back(now());
      compute(tl, 1);
    });
    EXPECT_EQ(machine.run(), RunEnd::finished);
    EXPECT_EQ(seen, (std::vector<Picoseconds>{Picoseconds(0), 3 * 1'004 * cycle}));
    EXPECT_EQ(machine.system().ledger().end(), 4 * 1'004 * cycle);
  });
}

// ---- engines that are not ours

/// What the replaced engine is bound to: it sends nothing.
class Silence : public sc_core::sc_module, private tlm::tlm_bw_transport_if<> {
 public:
  explicit Silence(const sc_core::sc_module_name& name) : sc_module(name), socket_("socket") { socket_.bind(*this); }
  [[nodiscard]] InitiatorSocket& socket() noexcept { return socket_; }

 private:
  tlm::tlm_sync_enum nb_transport_bw(Payload& /*payload*/, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  InitiatorSocket socket_;
};

/// Puts a stub in the matrix engine's place.
class WithOtherGemm : public traces::MonitoringConnector {
 public:
  explicit WithOtherGemm(StubMemory& engine) : engine_(engine), to_engine_("to_engine"), to_gemm_("to_gemm") {
    to_engine_.socket().bind(engine.write_socket());  // a stub has two sockets
  }

  void connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name) override {
    if (name != "pe0.scheduler_to_gemm") return MonitoringConnector::connect(initiator, target, name);
    MonitoringConnector::connect(initiator, engine_.read_socket(), name);
    to_gemm_.socket().bind(target);
  }

 private:
  StubMemory& engine_;
  Silence to_engine_;
  Silence to_gemm_;
};

struct Answer {
  const char* name;
  AnswerStyle style;
  Picoseconds service;  ///< from BEGIN_REQ to the response
  friend void PrintTo(const Answer& answer, std::ostream* out) { *out << answer.name; }
};

class EngineOfAnotherKind : public ::testing::TestWithParam<Answer> {};

TEST_P(EngineOfAnotherKind, IsWaitedForWhateverItsWayOfAnswering) {
  for (const Ends ends : both) {
    in_child([ends, answer = GetParam()] {
      StubTiming timing;
      timing.any_length = true;
      StubMemory engine("engine", answer.style, timing);
      WithOtherGemm connector(engine);
      SystemConfig config;
      config.cubes = 1;
      config.pes_per_cube = 1;
      PeObserver observer;
      System system("system", config, DataMode::none, connector);
      if (ends == Ends::at_their_instant) system.set_observer(&observer);
      tl::launch(
          system.pe(PeId(0)),
          [](tl::Context& tl) {
            const auto a = tl.buffer({16, 16}, DType::f16);
            for (int n = 0; n < 3; ++n) tl.dot(a, a);
          },
          tl::Policy::lazy);
      EXPECT_EQ(run_to_end(system.ledger()), RunEnd::finished);
      // Three products one after another: 6 cycles of issue, 2 of dispatch, and what the engine takes.
      EXPECT_EQ(system.ledger().end(), 3 * (8 * cycle + answer.service));
      EXPECT_EQ(connector.violations(), std::vector<std::string>());
      EXPECT_EQ(connector.in_flight(), 0U);
      EXPECT_EQ(system.pe(PeId(0)).cpu().command_pool().in_use(), 0U);
    });
  }
}

// A = 1 ns, L = 60 ns (StubTiming).
INSTANTIATE_TEST_SUITE_P(
    RunAhead, EngineOfAnotherKind,
    ::testing::Values(Answer{"EndReqLater", AnswerStyle::end_req_later, Picoseconds(61'000)},
                      Answer{"EndReqAnnounced", AnswerStyle::end_req_announced, Picoseconds(61'000)},
                      Answer{"EndReqAnnotated", AnswerStyle::end_req_annotated, Picoseconds(61'000)},
                      Answer{"ResponseAtOnce", AnswerStyle::response_at_once, Picoseconds(0)},
                      Answer{"ResponseAnnotated", AnswerStyle::response_annotated, Picoseconds(60'000)},
                      Answer{"CompletedAtOnce", AnswerStyle::completed_at_once, Picoseconds(0)},
                      Answer{"CompletedAnnotated", AnswerStyle::completed_annotated, Picoseconds(60'000)},
                      Answer{"ResponseEndsRequest", AnswerStyle::response_ends_request, Picoseconds(60'000)},
                      Answer{"LateAnnotation", AnswerStyle::late_annotation, Picoseconds(60'000)},
                      Answer{"ResponsesAnnotated", AnswerStyle::responses_annotated, Picoseconds(60'000)}),
    [](const auto& answer) { return answer.param.name; });

}  // namespace
}  // namespace kernwave::run_ahead_test
