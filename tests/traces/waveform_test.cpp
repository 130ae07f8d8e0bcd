// The signals of a waveform: what they say and when.
#include "traces/waveform/waveform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/traced.h"

namespace kernwave::traces::waveform_test {
namespace {

using kernwave::testing::all_policies;
using kernwave::testing::Changes;
using kernwave::testing::end_of_load_dot_store;
using kernwave::testing::in_child;
using kernwave::testing::load_dot_store;
using kernwave::testing::one_cube;
using kernwave::testing::run_ring;
using kernwave::testing::since;
using kernwave::testing::Traced;
using kernwave::testing::two_cubes;
using kernwave::testing::Vcd;
using kernwave::testing::VcdChange;

constexpr Picoseconds nanosecond(1000);
constexpr tl::Shape tile{64, 128};  // of f16: 16 KiB

class WaveformTest : public kernwave::testing::TracedTest {};

// ---- by hand

TEST_F(WaveformTest, ShowsWhatAProgramDoesAndWaitsFor) {
  in_child([this] {
    Traced traced(one_cube(), options());
    traced.simulation().run(load_dot_store);
    ASSERT_EQ(traced.simulation().latency(), end_of_load_dot_store * nanosecond);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes,
              (Changes{since(0, TimeCause::issue), since(8, TimeCause::load), since(258, TimeCause::issue),
                       since(264, TimeCause::compute), since(522, TimeCause::issue), since(530, TimeCause::drain),
                       since(1164, TimeCause::idle)}));
    EXPECT_EQ(vcd.signal("pe0.operation").changes, (Changes{since(0, 0), since(264, 1), since(530, 2)}));
    EXPECT_EQ(vcd.signal("pe0.dma_read_busy").changes, (Changes{since(0, 0), since(10, 1), since(258, 0)}));
    EXPECT_EQ(vcd.signal("pe0.gemm_busy").changes, (Changes{since(0, 0), since(266, 1), since(522, 0)}));
    EXPECT_EQ(vcd.signal("pe0.dma_write_busy").changes, (Changes{since(0, 0), since(532, 1), since(1164, 0)}));
    EXPECT_EQ(vcd.signal("pe0.math_busy").changes, (Changes{since(0, 0)}));
    EXPECT_EQ(vcd.signal("pe0.outstanding_loads").changes, (Changes{since(0, 0), since(8, 1), since(258, 0)}));
    EXPECT_EQ(vcd.signal("pe0.scheduler_queue").changes, (Changes{since(0, 0), since(8, 1), since(10, 0), since(264, 1),
                                                                  since(266, 0), since(530, 1), since(532, 0)}));
    EXPECT_EQ(vcd.signal("pe0.gemm_queue").changes, (Changes{since(0, 0), since(266, 1), since(522, 0)}));
    EXPECT_EQ(vcd.signal("pe0.scratch_bytes").at(300 * nanosecond), 16384U + 16384U + 65536U);
    EXPECT_EQ(vcd.stamps.front(), Picoseconds(0));
    EXPECT_EQ(vcd.stamps.back(), end_of_load_dot_store * nanosecond);
  });
}

TEST_F(WaveformTest, ShowsAWaitForAnEarlierOperationUnderItsNumber) {
  in_child([this] {
    Traced traced(one_cube(), options("pe0.operation"));
    traced.simulation().run([](tl::Context& tl) {
      const auto first = tl.load(HbmAddress(0), tile, DType::f16);
      tl.load(HbmAddress(1 << 20), tile, DType::f16);  // issued from 8 to 16 ns
      tl.wait(first);                                  // from 16 to 258 ns
    });
    EXPECT_EQ(traced.close().signal("pe0.operation").changes, (Changes{since(0, 0), since(258, 1)}));
  });
}

TEST_F(WaveformTest, OfAMemoryShowsItsChannels) {
  in_child([this] {
    // Given two PEs that load the same 256 B, all of channel 0: 5 ns at 51.2 GB/s
    Traced traced(one_cube(2), options("cube0"));
    // When both requests become eligible at 8 + 2 + 20 + 100 ns
    traced.simulation().run_grid({2, 1, 1}, [](tl::Context& tl) { tl.load(HbmAddress(0), {1, 128}, DType::f16); });
    // Then one waits for the other
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("cube0.channel0_busy").changes, (Changes{since(0, 0), since(130, 1), since(140, 0)}));
    EXPECT_EQ(vcd.signal("cube0.channel0_queue").changes, (Changes{since(0, 0), since(130, 1), since(135, 0)}));
    EXPECT_EQ(vcd.signal("cube0.channel1_busy").changes, (Changes{since(0, 0)}));
  });
}

// ---- against the run's own numbers

TEST_F(WaveformTest, HoldsTheBusyTimeOfEveryEngineToThePicosecond) {
  for (const tl::Policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    in_child([this, policy] {
      Traced traced(two_cubes(), options("pe?"));
      run_ring(traced, policy);
      const Vcd vcd = traced.close();
      const std::vector<std::pair<Engine, std::string>> engines = {{Engine::dma_read, "dma_read_busy"},
                                                                   {Engine::dma_write, "dma_write_busy"},
                                                                   {Engine::gemm, "gemm_busy"},
                                                                   {Engine::math, "math_busy"},
                                                                   {Engine::ipcq, "sends_in_service"}};
      for (const auto& [engine, name] : engines) {
        EXPECT_GT(vcd.integral("pe0." + name), Picoseconds(0)) << name;
        for (std::int64_t id = 0; id < 2; ++id) {
          const std::string signal = "pe" + std::to_string(id) + "." + name;
          EXPECT_EQ(vcd.integral(signal), traced.simulation().pe(id).statistics(engine).busy) << signal;
        }
      }
    });
  }
}

TEST_F(WaveformTest, HoldsTheTimeOfEveryState) {
  in_child([this] {
    Traced traced(two_cubes(), options("pe?.state"));
    run_ring(traced);
    const Vcd vcd = traced.close();
    for (std::int64_t id = 0; id < 2; ++id) {
      const Changes& changes = vcd.signal("pe" + std::to_string(id) + ".state").changes;
      std::vector<Picoseconds> times(time_cause_count);
      for (std::size_t i = 0; i < changes.size(); ++i) {
        const Picoseconds end = i + 1 < changes.size() ? changes[i + 1].first : vcd.stamps.back();
        times.at(changes[i].second) += end - changes[i].first;
      }
      for (std::size_t i = 0; i < time_cause_count; ++i) {
        const auto cause = static_cast<TimeCause>(i);
        if (cause == TimeCause::idle) continue;  // which the account leaves out
        EXPECT_EQ(times[i], traced.simulation().time(cause, id)) << "PE " << id << ", " << name_of(cause);
      }
    }
  });
}

TEST_F(WaveformTest, CountsTheSlotsOfALinkedDirection) {
  in_child([this] {
    Traced traced(two_cubes(), options("pe1"));
    // Given a message of 16 KiB: issue 8, dispatch 2, hop 100, 128 of data, so that it lands at 238 ns
    const auto send = [](tl::Context& tl) { tl.send(Direction::east, tl.buffer(tile, DType::f16)); };
    // And a receiver that waits for it and holds it until 512 vectors are done: issue 2, dispatch 2, 512: at 754 ns
    const auto receive = [](tl::Context& tl) {
      const auto scope = tl.scratch_scope();
      tl.recv(Direction::west, tile, DType::f16);
      tl.wait(tl.full({256, 512}, 0.0, DType::f32));
    };
    traced.simulation().run_parts({{0, send}, {1, receive}}, {{Direction::west}, Bytes(16384)});
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe1.west_slots").changes, (Changes{since(0, 0), since(238, 1), since(754, 0)}));
    EXPECT_EQ(vcd.signals.count("SystemC.pe1.north_slots"), 0U);  // a cube of one PE has no neighbour there
  });
}

TEST_F(WaveformTest, HasEventsAtTheirLoggedTimes) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.timescale, "1 ps");
    const auto& busy = vcd.signal("pe0.gemm_busy");
    for (const OperationRow& row : traced.log().rows()) {
      if (row.descriptor.id.pe != PeId(0) || row.descriptor.engine != Engine::gemm) continue;
      EXPECT_NE(std::find(busy.changes.begin(), busy.changes.end(), VcdChange(row.start, 1)), busy.changes.end());
      EXPECT_EQ(busy.at(row.end - Picoseconds(1)), 1U);
    }
  });
}

}  // namespace
}  // namespace kernwave::traces::waveform_test
