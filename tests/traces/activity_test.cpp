// What a run did over time: bins that hold all of it in bounded memory, and the operations of a window.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "traces/activity/activity_series.h"
#include "traces/activity/window_recorder.h"
#include "traces/observer_group.h"

namespace kernwave::activity_test {
namespace {

using testing::in_child;
using testing::Simulation;
using traces::ActivitySeries;
using traces::RecordedWindow;
using traces::WindowRecorder;

[[nodiscard]] Descriptor operation(Engine engine, std::int64_t pe = 0, std::int64_t sequence = 0) {
  Descriptor descriptor;
  descriptor.id.pe = PeId(pe);
  descriptor.id.sequence = sequence;
  descriptor.engine = engine;
  descriptor.work = MathDescriptor{};
  return descriptor;
}

void complete(PeObserver& observer, const Descriptor& descriptor, std::int64_t start, std::int64_t end) {
  observer.completed(
      {descriptor, SourceLocation{}, Completion{}, Picoseconds(start), Picoseconds(start), Picoseconds(end)});
}

void serve(ActivitySeries& series, bool reads, std::int64_t bytes, std::int64_t start, std::int64_t end,
           std::int64_t cube = 0) {
  series.served({CubeId(cube), 0, reads, Bytes(bytes), Picoseconds(start), Picoseconds(start), Picoseconds(end)});
}

[[nodiscard]] std::vector<std::int64_t> first(const ActivitySeries::Bins& bins, std::size_t count) {
  return {bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(count)};
}

[[nodiscard]] std::int64_t sum(const ActivitySeries::Bins& bins) {
  return std::accumulate(bins.begin(), bins.end(), std::int64_t{0});
}

using Numbers = std::vector<std::int64_t>;

// ---- bins by hand; they are 1 ns wide at first

TEST(ActivitySeries, AnIntervalIsSplitAtTheEdgesOfTheBins) {
  ActivitySeries series;
  complete(series, operation(Engine::math), 700, 2300);  // 300 ps, 1000 ps, 300 ps
  EXPECT_EQ(series.bin_width(), Picoseconds(1000));
  EXPECT_EQ(series.bin_count(), 3);
  EXPECT_EQ(first(series.busy(Engine::math), 4), (Numbers{300, 1000, 300, 0}));
  EXPECT_TRUE(series.busy(Engine::gemm).empty());
}

TEST(ActivitySeries, EnginesOfAllPesAddUp) {
  ActivitySeries series;
  complete(series, operation(Engine::math, 0), 0, 1000);
  complete(series, operation(Engine::math, 1), 500, 1500);
  EXPECT_EQ(first(series.busy(Engine::math), 2), (Numbers{1500, 500}));
}

TEST(ActivitySeries, BytesAreSpreadEvenlyAndNoneIsLost) {
  ActivitySeries series;
  serve(series, true, 10, 500, 3500);  // after 500, 1500 and 2500 of 3000 ps: 1, 5 and 8 whole bytes are through
  EXPECT_EQ(first(series.traffic().at(0).read, 4), (Numbers{1, 4, 3, 2}));
  serve(series, false, 64, 2000, 2000);  // in no time at all
  EXPECT_EQ(first(series.traffic().at(0).written, 4), (Numbers{0, 0, 64, 0}));
}

TEST(ActivitySeries, EachCubeHasItsOwnTraffic) {
  ActivitySeries series;
  serve(series, true, 8, 0, 1000, 2);
  ASSERT_EQ(series.traffic().size(), 3U);
  EXPECT_TRUE(series.traffic()[0].read.empty());
  EXPECT_EQ(series.traffic()[2].read[0], 8);
}

TEST(ActivitySeries, ALongRunMergesNeighboursAndTheWidthDoubles) {
  ActivitySeries series;
  complete(series, operation(Engine::math), 0, 1000);
  complete(series, operation(Engine::math), 1500, 2000);
  complete(series, operation(Engine::math), 511'000, 512'000);  // still inside 512 bins of 1 ns
  EXPECT_EQ(series.bin_width(), Picoseconds(1000));
  complete(series, operation(Engine::math), 511'500, 512'001);
  EXPECT_EQ(series.bin_width(), Picoseconds(2000));
  EXPECT_EQ(series.bin_count(), 257);
  EXPECT_EQ(series.busy(Engine::math)[0], 1500);
  EXPECT_EQ(series.busy(Engine::math)[255], 1500);  // from 510,000 on
  EXPECT_EQ(series.busy(Engine::math)[256], 1);
}

TEST(ActivitySeries, MemoryIsBoundedHoweverLongTheRun) {
  ActivitySeries series;
  constexpr std::int64_t count = 100'000;
  for (std::int64_t i = 0; i < count; ++i) complete(series, operation(Engine::math), 1000 * i, 1000 * i + 250);
  EXPECT_EQ(series.busy(Engine::math).size(), 512U);
  // 100,000 ns in 512 bins: 2^8 ns each are enough for 131,072, 2^7 are not.
  EXPECT_EQ(series.bin_width(), Picoseconds(256'000));
  EXPECT_EQ(sum(series.busy(Engine::math)), 250 * count);
}

TEST(ActivitySeries, CompositesAndReceivesAreNotBusyTimeOfTheirOwn) {
  ActivitySeries series;
  complete(series, operation(Engine::composite), 0, 1000);
  IpcqDescriptor message;
  Descriptor descriptor = operation(Engine::ipcq);
  message.action = IpcqAction::receive;
  descriptor.work = message;
  complete(series, descriptor, 0, 1000);
  message.action = IpcqAction::send;
  descriptor.work = message;
  complete(series, descriptor, 200, 1000);
  EXPECT_EQ(sum(series.busy(Engine::ipcq)), 800);
  EXPECT_EQ(series.bin_count(), 1);
}

// ---- of real runs

constexpr tl::Shape tile{64, 128};  // of f16: 16 KiB

/// Loads, products, stores and messages, east on a ring of cubes.
void mixed(tl::Context& tl) {
  const auto x = tl.load(HbmAddress(0), tile, DType::f16);
  const auto y = tl.dot(x, tl.trans(x));
  tl.store(HbmAddress(0x100000), y);
  tl.send(Direction::east, x);
  tl.recv(Direction::west, tile, DType::f16);
}

TEST(ActivitySeries, SumsToTheStatisticsOfTheRun) {
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    Simulation simulation(config);
    ActivitySeries series;
    simulation.system().set_observer(&series);
    simulation.system().set_channel_observer(&series);
    simulation.run_parts({{0, mixed}, {1, mixed}}, {{Direction::west}, Bytes(16384)});
    for (const Engine engine : {Engine::dma_read, Engine::dma_write, Engine::gemm, Engine::math, Engine::ipcq}) {
      const Picoseconds busy = simulation.pe(0).statistics(engine).busy + simulation.pe(1).statistics(engine).busy;
      EXPECT_EQ(sum(series.busy(engine)), busy.count()) << static_cast<int>(engine);
    }
    EXPECT_GT(sum(series.busy(Engine::ipcq)), 0);
    // Both PEs read and write addresses of cube 0: 16 KiB of f16, and 64 x 64 of f32.
    EXPECT_EQ(sum(series.traffic().at(0).read), 2 * 16384);
    EXPECT_EQ(sum(series.traffic().at(0).written), 2 * 64 * 64 * 4);
  });
}

// ---- windows

[[nodiscard]] std::string rows_of(const WindowRecorder& recorder) {
  std::string text;
  for (const traces::OperationRow& row : recorder.rows()) {
    text += std::to_string(row.descriptor.id.pe.count()) + ":" + std::to_string(row.start.count()) + " ";
  }
  return text;
}

TEST(WindowRecorder, KeepsWhatIsInServiceInTheWindow) {
  WindowRecorder recorder(RecordedWindow{Picoseconds(1000), Picoseconds(2000)});
  complete(recorder, operation(Engine::math, 0), 0, 1000);     // ended before
  complete(recorder, operation(Engine::math, 1), 500, 1001);   // reaches into it
  complete(recorder, operation(Engine::math, 2), 0, 5000);     // spans it
  complete(recorder, operation(Engine::math, 3), 1999, 3000);  // begins in it
  complete(recorder, operation(Engine::math, 4), 2000, 3000);  // begins behind it
  complete(recorder, operation(Engine::math, 5), 1000, 1000);  // takes no time, in it
  EXPECT_EQ(rows_of(recorder), "2:0 1:500 5:1000 3:1999 ");
  EXPECT_EQ(recorder.touching(), 4);
  EXPECT_EQ(recorder.complete_to(), Picoseconds(2000));
}

TEST(WindowRecorder, OfTooManyKeepsTheFirstThatStartInWhateverOrderTheyAreTold) {
  // Given six operations of 100 ps, and room for three of them.
  const std::vector<std::vector<std::int64_t>> orders = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 2, 4, 1}};
  for (const auto& order : orders) {
    WindowRecorder recorder(RecordedWindow{Picoseconds(0), Picoseconds(10'000), 3});
    for (const std::int64_t i : order) complete(recorder, operation(Engine::math, i), 100 * i, 100 * i + 100);
    EXPECT_EQ(rows_of(recorder), "0:0 1:100 2:200 ");
    EXPECT_EQ(recorder.touching(), 6);
    EXPECT_EQ(recorder.complete_to(), Picoseconds(300));  // where the first of the others starts
  }
}

TEST(WindowRecorder, OfOneInstantKeepsThoseOfTheLowestPes) {
  for (const bool ascending : {true, false}) {
    WindowRecorder recorder(RecordedWindow{Picoseconds(0), Picoseconds(10'000), 2});
    for (std::int64_t i = 0; i < 4; ++i) complete(recorder, operation(Engine::math, ascending ? i : 3 - i), 50, 60);
    EXPECT_EQ(rows_of(recorder), "0:50 1:50 ");
  }
}

TEST(WindowRecorder, WithoutRoomCountsAlone) {
  WindowRecorder recorder(RecordedWindow{Picoseconds(0), Picoseconds(10'000), 0});
  complete(recorder, operation(Engine::math), 50, 60);
  EXPECT_TRUE(recorder.rows().empty());
  EXPECT_EQ(recorder.touching(), 1);
}

}  // namespace
}  // namespace kernwave::activity_test
