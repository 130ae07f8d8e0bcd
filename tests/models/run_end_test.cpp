// How a run ends: all kernels drained, one failed, or nothing left that could happen.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/lone_pe.h"
#include "tests/support/simulation.h"

namespace kernwave::run_end_test {
namespace {

using testing::AnswerStyle;
using testing::in_child;
using testing::LonePe;
using testing::one_cube;
using testing::Simulation;

/// A clock that never stops, as a user's own modules may have.
void start_perpetual_clock(std::int64_t& ticks, Picoseconds period = Picoseconds(500)) {
  sc_core::sc_spawn(
      [&ticks, period] {
        while (true) {
          sc_core::wait(to_sc_time(period));
          ++ticks;
        }
      },
      "perpetual_clock");
}

TEST(RunEnd, ARunEndsWhenItsKernelsHaveDrainedWhateverElseGoesOn) {
  in_child([] {
    std::int64_t ticks = 0;
    start_perpetual_clock(ticks);
    Simulation simulation;
    // `run` expects RunEnd::finished.
    simulation.run([](tl::Context& tl) { tl.load(HbmAddress(0), {64, 128}, DType::f16); });
    // The load ends at 258 ns, as ever; so does the simulation, the clock's last tick in the same instant or before.
    EXPECT_EQ(simulation.latency(), Picoseconds(258'000));
    EXPECT_EQ(now(), Picoseconds(258'000));
    EXPECT_GE(ticks, 258 * 2 - 1);
    EXPECT_LE(ticks, 258 * 2);
  });
}

TEST(RunEnd, EveryKernelCounts) {
  in_child([] {
    // Given four kernels of different length, and four PEs without one.
    Simulation simulation(one_cube(8));
    simulation.run_grid({4, 1, 1}, [](tl::Context& tl) {
      for (std::int64_t j = 0; j <= tl.program_id(0); ++j) tl.full({256}, 1.0, DType::f32);
    });
    // The longest decides: 4 operations of 2 + 2 + 1 cycles.
    EXPECT_EQ(simulation.latency(), Picoseconds(4 * 5'000));
  });
}

TEST(RunEnd, AMachineWithoutAKernelHasNothingToEnd) {
  in_child([] {
    Simulation simulation;
    EXPECT_EQ(simulation.system().ledger().state(), RunLedger::State::finished);
  });
}

TEST(RunEnd, AnExceptionInAKernelFailsTheRunWithItsMessage) {
  for (const bool with_clock : {false, true}) {
    in_child([with_clock] {
      std::int64_t ticks = 0;
      if (with_clock) start_perpetual_clock(ticks);
      Simulation simulation(one_cube(2));
      const std::string message = simulation.run_failing([](tl::Context& tl) {
        tl.load(HbmAddress(0), {64, 128}, DType::f16);
        throw std::runtime_error("the kernel's own complaint");
      });
      EXPECT_EQ(message, "PE 0, program (0, 0, 0): the kernel's own complaint");
      EXPECT_EQ(simulation.system().ledger().failures().front().pe, PeId(0));
      EXPECT_FALSE(simulation.pe(0).cpu().drained());
    });
  }
}

TEST(RunEnd, AnExceptionThatIsNoStdExceptionNamesThePeAndItsLastLine) {
  in_child([] {
    Simulation simulation;
    int line = 0;
    const std::string message = simulation.run_failing([&line](tl::Context& tl) {
      line = __LINE__ + 1;
      tl.load(HbmAddress(0), {64, 128}, DType::f16);
      throw 7;  // NOLINT: what this test is about
    });
    EXPECT_EQ(message, "PE 0, program (0, 0, 0), after the operation at " + std::string(__FILE__) + ":" +
                           std::to_string(line) + ": an exception that is no std::exception");
  });
  in_child([] {
    Simulation simulation;
    EXPECT_EQ(simulation.run_failing([](tl::Context&) { throw "text"; }),  // NOLINT: what this test is about
              "PE 0, program (0, 0, 0), before its first operation: an exception that is no std::exception");
  });
  in_child([] {  // of a program without the language
    Simulation simulation;
    simulation.pe().cpu().add_program([](PeCpu&) { throw 7; });  // NOLINT: what this test is about
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    EXPECT_EQ(simulation.system().ledger().failures().front().message,
              "PE 0, before its first operation: an exception that is no std::exception");
  });
}

TEST(RunEnd, AProgramWhoseProcessIsKilledUnwindsAndFailsNothing) {
  in_child([] {
    // Given a program that holds something while it waits, and its process
    Simulation simulation(one_cube(2));
    bool unwound = false;
    struct Note {
      bool& set;
      ~Note() { set = true; }
    };
    tl::launch(simulation.pe(0), [&unwound](tl::Context& tl) {
      const Note note{unwound};
      tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
    });
    tl::launch(simulation.pe(1), [](tl::Context& tl) { tl.full({256}, 1.0, DType::f32); });
    sc_core::sc_process_handle program;
    for (sc_core::sc_object* object : simulation.pe(0).cpu().get_child_objects()) {
      const sc_core::sc_process_handle process(object);
      if (process.valid() && std::string(object->basename()) == "run") program = process;
    }
    ASSERT_TRUE(program.valid());
    // When it is killed at 50 ns
    sc_core::sc_spawn(
        [&program] {
          sc_core::wait(to_sc_time(Picoseconds(50'000)));
          program.kill();
        },
        "killer");
    const RunEnd end = run_to_end(simulation.system().ledger());
    // then SystemC has unwound it, nothing has failed, and PE 1 has ended, but PE 0 never does.
    EXPECT_TRUE(unwound);
    EXPECT_EQ(end, RunEnd::deadlocked);
    EXPECT_TRUE(simulation.system().ledger().failures().empty());
    EXPECT_TRUE(simulation.pe(1).cpu().drained());
    EXPECT_FALSE(simulation.pe(0).cpu().drained());
  });
}

// ---- times that do not fit

TEST(EndOfTime, OfOneOperationIsAnErrorThatNamesThePeAndTheLine) {
  in_child([] {
    // Given a matrix engine of one multiply-accumulator at 1 Hz: 2^24 cycles are more than 2^63 ps
    SystemConfig config = one_cube();
    config.pe.gemm.rows = 1;
    config.pe.gemm.cols = 1;
    config.pe.clock = Frequency(1);
    config.run.no_progress_limit = Picoseconds(0);
    Simulation simulation(config);
    tl::launch(simulation.pe(), [](tl::Context& tl) {
      const auto a = tl.buffer({256, 256}, DType::f16);
      tl.dot(a, a);
    });
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    ASSERT_EQ(simulation.system().ledger().failures().size(), 1U);
    const std::string message = simulation.system().ledger().failures().front().message;
    EXPECT_TRUE(testing::contains(message, "PE 0, program (0, 0, 0), after the operation at ")) << message;
    EXPECT_TRUE(testing::contains(message, TimeOverflow::message)) << message;
  });
}

TEST(EndOfTime, OfManyOperationsIsAnErrorThatNamesThePeAndItsLine) {
  in_child([] {
    // Given issue costs of 2^22 s, of which two fit into 2^63 ps = 9.2 * 10^6 s and three do not
    SystemConfig config = one_cube();
    config.pe.clock = Frequency(1);
    config.pe.issue.math = Cycles(std::int64_t{1} << 22);
    config.run.no_progress_limit = Picoseconds(0);
    Simulation simulation(config);
    int line = 0;
    const std::string message = simulation.run_failing([&line](tl::Context& tl) {
      for (int i = 0; i < 3; ++i) {
        line = __LINE__ + 1;
        tl.full({1}, 1.0, DType::f32);
      }
    });
    EXPECT_EQ(message, "PE 0, program (0, 0, 0), after the operation at " + std::string(__FILE__) + ":" +
                           std::to_string(line) + ": " + TimeOverflow::message);
  });
}

TEST(EndOfTime, AtItsEdgeARunIsExact) {
  in_child([] {
    // Given an issue cost of 9,223,372 s, 36,854,775,807 ps short of 2^63 - 1, and a limit that reaches beyond
    SystemConfig config = one_cube();
    config.pe.clock = Frequency(1'000);
    config.pe.issue.math = Cycles(9'223'372'000);
    config.pe.scheduler.dispatch_latency = Cycles(1);
    config.run.no_progress_limit = Picoseconds(std::numeric_limits<std::int64_t>::max());
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) { tl.full({1}, 1.0, DType::f32); });
    EXPECT_EQ(simulation.latency(), Picoseconds(9'223'372'002'000'000'000));  // dispatch and one vector: 2 cycles
  });
}

TEST(RunEnd, OneFailedKernelEndsTheRunOfAll) {
  in_child([] {
    Simulation simulation(one_cube(2));
    tl::launch(
        simulation.pe(0),
        [](tl::Context& tl) {
          for (int j = 0; j < 1000; ++j) tl.full({256}, 1.0, DType::f32);
        },
        tl::Policy::lazy);
    const auto fails_at_10_ns = [](tl::Context& tl) {
      tl.full({256}, 1.0, DType::f32);
      tl.full({256}, 1.0, DType::f32);
      throw std::runtime_error("stop");
    };
    tl::launch(simulation.pe(1), fails_at_10_ns, tl::Policy::lazy);
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    EXPECT_EQ(now(), Picoseconds(10'000));
    EXPECT_EQ(simulation.system().ledger().failures().front().pe, PeId(1));
  });
}

TEST(RunEnd, AMemoryThatNeverAnswersIsADeadlockAndTheReportSaysWhere) {
  in_child([] {
    LonePe bench(AnswerStyle::never, {}, LonePe::with_bursts(), PeId(3));
    int line = 0;
    const RunEnd end = bench.run([&line](tl::Context& tl) {
      line = __LINE__ + 1;
      const auto x = tl.load(HbmAddress(0), {8, 16}, DType::f32);
      tl.exp(x);
    });
    EXPECT_EQ(end, RunEnd::deadlocked);
    EXPECT_EQ(bench.ledger().state(), RunLedger::State::running);
    const std::string report = bench.pe().cpu().describe_wait();
    EXPECT_EQ(report, "PE 3 waits for load: memory/dma_read of 8x16 f32 at cube 0, offset 0x0, issued at " +
                          std::string(__FILE__) + ":" + std::to_string(line));
  });
}

// ---- no progress ------------------------------------------------------------------------------------------------

TEST(NoProgress, IsToldAfterTheLimitThoughAClockKeepsTicking) {
  for (const Picoseconds limit : {Picoseconds(3'000'000), RunConfig{}.no_progress_limit}) {
    in_child([limit] {
      // Given a memory that swallows every request, and a clock
      std::int64_t ticks = 0;
      start_perpetual_clock(ticks, Picoseconds(1'000'000));
      LonePe bench(AnswerStyle::never, {}, LonePe::with_bursts(), PeId(3));
      EXPECT_EQ(bench.ledger().no_progress_limit(), Picoseconds(10'000'000'000));  // by default
      bench.ledger().set_no_progress_limit(limit);
      int line = 0;
      const RunEnd end = bench.run([&line](tl::Context& tl) {
        tl.full({256}, 1.0, DType::f32);  // done after 5 ns, the last progress
        line = __LINE__ + 1;
        const auto x = tl.load(HbmAddress(0), {8, 16}, DType::f32);
        tl.exp(x);
      });
      // Then it is over a picosecond after the limit, and says who waits where.
      EXPECT_EQ(end, RunEnd::no_progress);
      EXPECT_EQ(bench.ledger().moved_at(), Picoseconds(5'000));
      EXPECT_EQ(now(), Picoseconds(5'001) + limit);
      EXPECT_EQ(ticks, (limit.count() + 5'001) / 1'000'000);
      EXPECT_EQ(bench.pe().cpu().describe_wait(),
                "PE 3 waits for load: memory/dma_read of 8x16 f32 at cube 0, offset 0x0, issued at " +
                    std::string(__FILE__) + ":" + std::to_string(line));
    });
  }
}

TEST(NoProgress, IsNoneWhileOperationsOrPartsOfACompositeComplete) {
  in_child([] {
    // Given a limit of 1 us, and a clock so that nothing ends for want of events
    std::int64_t ticks = 0;
    start_perpetual_clock(ticks);
    SystemConfig config = one_cube();
    config.run.no_progress_limit = Picoseconds(1'000'000);
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) {  // which expects that it finishes
      // Each of 100 operations takes 2 + 2 + 64 ns,
      const auto x = tl.buffer({64, 256}, DType::f32);
      for (int i = 0; i < 100; ++i) tl.fill(x, 1.0);
      // and then a composite of 16 tiles whose reads take 512 ns each.
      const auto a = tl.zeros({1, 64}, DType::f16);
      const auto out = tl.buffer({1, 8192}, DType::f32);
      tl.composite(a, tl.ref(HbmAddress(0), {64, 8192}, DType::f16), tl::CompositeOptions().out(out).tile(512));
    });
    EXPECT_GE(simulation.latency(), Picoseconds(100 * 68'000 + 16 * 512'000));
  });
}

TEST(NoProgress, IsNotLookedForWithoutALimitAndNotAfterTheLastEvent) {
  for (const Picoseconds limit : {Picoseconds(0), Picoseconds(1'000'000)}) {
    in_child([limit] {
      LonePe bench(AnswerStyle::never);
      bench.ledger().set_no_progress_limit(limit);
      EXPECT_EQ(bench.run([](tl::Context& tl) {
        tl.wait(tl.load(HbmAddress(0), {8, 16}, DType::f32));
      }),
                RunEnd::deadlocked);
      EXPECT_LT(now(), Picoseconds(1'000'000));  // where it stands, not where the limit is
    });
  }
}

TEST(NoProgress, OfAMachineWithoutAKernelIsNoFault) {
  in_child([] {
    std::int64_t ticks = 0;
    start_perpetual_clock(ticks);
    SystemConfig config = one_cube();
    config.run.no_progress_limit = Picoseconds(1'000'000);
    Simulation simulation(config);
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
  });
}

// ---- stacks -----------------------------------------------------------------------------------------------------

/// Touches every page of an array of so many bytes on the stack; returns its sum.
template <std::size_t bytes>
[[nodiscard]] [[gnu::noinline]] std::int64_t sum_of_locals() {
  std::array<volatile char, bytes> locals;  // NOLINT(cppcoreguidelines-pro-type-member-init): it is written below
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += 1024) locals[i] = 1;
  for (std::size_t i = 0; i < bytes; i += 1024) sum += locals[i];
  return sum;
}

TEST(KernelStack, HoldsHalfAMebibyteOfLocals) {
  in_child([] {
    Simulation simulation(one_cube(8));
    std::array<std::int64_t, 8> sums{};
    simulation.run_grid({8, 1, 1}, [&sums](tl::Context& tl) {
      tl.zeros({4}, DType::f32);
      sums.at(static_cast<std::size_t>(tl.program_id(0))) = sum_of_locals<512 * 1024>();
      tl.zeros({4}, DType::f32);
    });
    for (const std::int64_t sum : sums) EXPECT_EQ(sum, 512);
  });
}

TEST(KernelStack, ThatOverflowsEndsTheProcessInsteadOfWritingOverSomethingElse) {
  const auto overflow = [] {
    Simulation simulation(one_cube(2));
    simulation.run_grid({2, 1, 1}, [](tl::Context&) { EXPECT_EQ(sum_of_locals<8 * 1024 * 1024>(), 8 * 1024); });
  };
#ifdef __SANITIZE_ADDRESS__
  EXPECT_DEATH(overflow(), "AddressSanitizer: stack-overflow");
#else
  EXPECT_EXIT(overflow(), ::testing::KilledBySignal(SIGSEGV), "");
#endif
}

TEST(RunEnd, ADeadlockedDrainIsToldFromADeadlockedWait) {
  in_child([] {
    LonePe bench(AnswerStyle::never);
    const RunEnd end = bench.run([](tl::Context& tl) {
      tl.load(HbmAddress(0), {8, 16}, DType::f32);
      tl.load(HbmAddress(512), {8, 16}, DType::f32);
    });
    EXPECT_EQ(end, RunEnd::deadlocked);
    const std::string report = bench.pe().cpu().describe_wait();
    EXPECT_NE(report.find("PE 0 waits for drain:"), std::string::npos) << report;
    EXPECT_NE(report.find("2 are in flight"), std::string::npos) << report;
  });
}

// ---- a simulation that the user drives, stops or pauses

void fails(tl::Context& tl) { tl.zeros({0}, DType::f32); }

/// What reports of the type "kernwave/kernel" do, with a simulation that the test starts itself.
[[nodiscard]] std::string report_of_a_failure(sc_core::sc_actions actions) {
  sc_core::sc_report_handler::set_actions(report_type::kernel, actions);
  Simulation simulation(one_cube(2));
  tl::launch({&simulation.pe(0), &simulation.pe(1)}, {2, 1, 1}, fails);
  std::string text;
  try {
    sc_core::sc_start(to_sc_time(Picoseconds(1'000'000)));
  } catch (const sc_core::sc_report& report) {
    text = std::string(report.get_msg_type()) + ": " + report.get_msg();
  }
  EXPECT_EQ(simulation.system().ledger().failures().size(), 2U);
  return text;
}

TEST(RunEnd, AKernelThatFailsUnderTheUsersOwnStartIsReportedOnceUnderAStableType) {
  in_child([] {
    const std::string text = report_of_a_failure(sc_core::SC_THROW);
    EXPECT_EQ(text.substr(0, text.find(" at")), "kernwave/kernel: PE 0, zeros") << text;
    EXPECT_EQ(sc_core::sc_report_handler::get_count(sc_core::SC_ERROR), 1);
  });
}

TEST(RunEnd, AReportActionTurnsThatOff) {
  in_child([] {
    EXPECT_EQ(report_of_a_failure(sc_core::SC_DO_NOTHING), "");
    EXPECT_EQ(now(), Picoseconds(1'000'000));
  });
}

TEST(RunEnd, WhoRunsToTheEndIsToldByItsValueAlone) {
  in_child([] {
    Simulation simulation;
    tl::launch(simulation.pe(), fails);
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    EXPECT_EQ(sc_core::sc_report_handler::get_count(sc_core::SC_ERROR), 0);
  });
}

void loads(tl::Context& tl) { tl.load(HbmAddress(0), {64, 128}, DType::f16); }  // until 258 ns

/// A load, in whose middle a process of the user's calls `cut`, with and without a limit on time without progress.
void expect_cut(const std::function<void()>& cut, RunEnd end, const std::function<void(Simulation&)>& and_then) {
  for (const Picoseconds limit : {Picoseconds(0), RunConfig{}.no_progress_limit}) {
    in_child([&] {
      Simulation simulation;
      simulation.system().ledger().set_no_progress_limit(limit);
      sc_core::sc_spawn([&cut] {
        sc_core::wait(to_sc_time(Picoseconds(100'000)));
        cut();
      });
      tl::launch(simulation.pe(), loads);
      EXPECT_EQ(run_to_end(simulation.system().ledger()), end);
      EXPECT_EQ(now(), Picoseconds(100'000));
      and_then(simulation);
    });
  }
}

TEST(RunEnd, AUsersPauseIsToldAndTheRunGoesOnWhenAskedTo) {
  expect_cut([] { sc_core::sc_pause(); }, RunEnd::paused,
             [](Simulation& simulation) {
               EXPECT_FALSE(simulation.pe().cpu().drained());
               EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
               EXPECT_EQ(simulation.latency(), Picoseconds(258'000));
             });
}

TEST(RunEnd, AUsersStopIsToldFromADeadlock) {
  expect_cut([] { sc_core::sc_stop(); }, RunEnd::stopped, [](Simulation& /*simulation*/) {});
}

}  // namespace
}  // namespace kernwave::run_end_test
