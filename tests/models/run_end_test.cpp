// How a run ends: all kernels drained, one failed, or nothing left that could happen.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/child.h"
#include "tests/support/lone_pe.h"
#include "tests/support/simulation.h"

namespace kernwave {
namespace {

using testing::AnswerStyle;
using testing::in_child;
using testing::LonePe;
using testing::one_cube;
using testing::Simulation;

/// A clock that never stops, as a user's own modules may have.
void start_perpetual_clock(std::int64_t& ticks) {
  sc_core::sc_spawn(
      [&ticks] {
        while (true) {
          sc_core::wait(to_sc_time(Picoseconds(500)));
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

TEST(RunEnd, AMemoryThatNeverAnswersLeavesTheRunStuckAndTheReportSaysWhere) {
  in_child([] {
    LonePe bench(AnswerStyle::never, {}, LonePe::with_bursts(), PeId(3));
    int line = 0;
    const RunEnd end = bench.run([&line](tl::Context& tl) {
      line = __LINE__ + 1;
      const auto x = tl.load(HbmAddress(0), {8, 16}, DType::f32);
      tl.exp(x);
    });
    EXPECT_EQ(end, RunEnd::stuck);
    EXPECT_EQ(bench.ledger().state(), RunLedger::State::running);
    const std::string report = bench.pe().cpu().describe_wait();
    EXPECT_EQ(report, "PE 3 waits for load: memory/dma_read of 8x16 f32 at cube 0, offset 0x0, issued at " +
                          std::string(__FILE__) + ":" + std::to_string(line));
  });
}

TEST(RunEnd, AStuckDrainIsToldFromAStuckWait) {
  in_child([] {
    LonePe bench(AnswerStyle::never);
    const RunEnd end = bench.run([](tl::Context& tl) {
      tl.load(HbmAddress(0), {8, 16}, DType::f32);
      tl.load(HbmAddress(512), {8, 16}, DType::f32);
    });
    EXPECT_EQ(end, RunEnd::stuck);
    const std::string report = bench.pe().cpu().describe_wait();
    EXPECT_NE(report.find("PE 0 waits for drain:"), std::string::npos) << report;
    EXPECT_NE(report.find("2 are in flight"), std::string::npos) << report;
  });
}

}  // namespace
}  // namespace kernwave
