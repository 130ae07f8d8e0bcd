// Lazy loads overlap computation, and cost nothing when they are used at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::overlap_test {
namespace {

using testing::from_child;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds issue_load = 8 * cycle;
constexpr Picoseconds issue_dot = 6 * cycle;
constexpr Picoseconds issue_store = 8 * cycle;
constexpr Picoseconds dispatch = 2 * cycle;
constexpr tl::Shape tile{64, 128};  // of f16: 16 KiB
constexpr Bytes tile_bytes(16384);

/// M x 64 times 64 x 64 on 64 x 64 multiply-accumulators: M cycles. Its operands, in f16 but for the f32 result, are
/// 128 M + 8192 + 256 M bytes, at 512 B a cycle less than M cycles from M = 64 on.
[[nodiscard]] Picoseconds dot_time(std::int64_t rows) { return rows * cycle; }

/// Latency of one program on a machine of one PE.
[[nodiscard]] Picoseconds latency_of(const tl::Kernel& kernel, tl::Policy policy, const SystemConfig& config) {
  const std::string text = from_child([&] {
    Simulation simulation(config);
    simulation.run(kernel, policy);
    return std::to_string(simulation.latency().count());
  });
  return Picoseconds(text.empty() ? -1 : std::stoll(text));
}

TEST(Overlap, ALoadAndAnIndependentDotTakeTheLongerOfTheTwo) {
  // Given a load of 16 KiB: 20 ns of setup, 100 ns of latency, 128 ns of data.
  const SystemConfig config = one_cube();
  const Picoseconds load = testing::isolated_transfer(config, tile_bytes);
  ASSERT_EQ(load, 248 * cycle);
  // And a dot that is shorter, exactly as long with its issue, or longer.
  for (const std::int64_t rows : {64, 242, 512}) {
    // When the dot does not use what the load brings.
    const auto kernel = [rows](tl::Context& tl) {
      const auto a = tl.buffer({rows, 64}, DType::f16);
      const auto b = tl.buffer({64, 64}, DType::f16);
      tl.load(HbmAddress(0), tile, DType::f16);
      tl.dot(a, b);
    };
    // Then the longer of the two counts, and the other costs nothing.
    const Picoseconds expected = issue_load + dispatch + std::max(load, issue_dot + dot_time(rows));
    EXPECT_EQ(latency_of(kernel, tl::Policy::lazy, config), expected) << rows << " rows";
    EXPECT_EQ(latency_of(kernel, tl::Policy::stall_on_use, config), expected) << rows << " rows";
    // Blocking, they add up.
    EXPECT_EQ(latency_of(kernel, tl::Policy::blocking, config),
              issue_load + dispatch + load + issue_dot + dispatch + dot_time(rows))
        << rows << " rows";
  }
}

TEST(Overlap, ALoadThatIsUsedAtOnceCostsWhatABlockingLoadCosts) {
  const SystemConfig config = one_cube();
  const Picoseconds load = testing::isolated_transfer(config, tile_bytes);
  // Given a kernel that multiplies what it has just loaded: 128 x 64 times 64 x 128, 2 x 128 cycles on 64 x 64.
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({128, 64}, DType::f16);
    const auto b = tl.load(HbmAddress(0), tile, DType::f16);
    tl.dot(a, b);
  };
  // Then every policy takes the sum, to the picosecond.
  const Picoseconds expected = issue_load + dispatch + load + issue_dot + dispatch + 256 * cycle;
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    EXPECT_EQ(latency_of(kernel, policy, config), expected) << name_of(policy);
  }
}

/// Loads two tiles of consecutive numbers and stores them elsewhere. Returns when the loads ended.
[[nodiscard]] std::vector<Picoseconds> two_loads(bool overlap_commands) {
  SystemConfig config = one_cube();
  config.pe.dma.overlap_commands = overlap_commands;
  Simulation simulation(config);
  std::vector<float> first(4096);
  std::iota(first.begin(), first.end(), 0.0F);
  std::vector<float> second(4096);
  std::iota(second.begin(), second.end(), 5000.0F);
  simulation.write(HbmAddress(0), DType::f32, first);
  simulation.write(HbmAddress(0x10000), DType::f32, second);
  simulation.run([](tl::Context& tl) {
    const auto a = tl.load(HbmAddress(0), {32, 128}, DType::f32);
    const auto b = tl.load(HbmAddress(0x10000), {32, 128}, DType::f32);
    tl.store(HbmAddress(0x20000), a);
    tl.store(HbmAddress(0x30000), b);
  });
  EXPECT_EQ(simulation.read(HbmAddress(0x20000), DType::f32, 4096), first);
  EXPECT_EQ(simulation.read(HbmAddress(0x30000), DType::f32, 4096), second);
  std::vector<Picoseconds> ends;
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.descriptor.engine == Engine::dma_read) ends.push_back(row.end);
  }
  return ends;
}

TEST(Overlap, TheSecondOfTwoLoadsCompletesOneTransferAfterTheFirst) {
  in_child([] {
    // Setup and latency of the second load hide under the data of the first; the read channel carries both.
    const Picoseconds transfer = duration(tile_bytes, Bandwidth(128'000'000'000));
    const Picoseconds first = issue_load + dispatch + testing::isolated_transfer(one_cube(), tile_bytes);
    EXPECT_EQ(two_loads(true), (std::vector<Picoseconds>{first, first + transfer}));
  });
}

TEST(Overlap, WithoutOverlapTheSecondLoadPaysSetupAndLatencyAgain) {
  in_child([] {
    const Picoseconds load = testing::isolated_transfer(one_cube(), tile_bytes);  // setup + latency + transfer
    const Picoseconds first = issue_load + dispatch + load;
    EXPECT_EQ(two_loads(false), (std::vector<Picoseconds>{first, first + load}));
  });
}

TEST(Overlap, ALoadAndAStoreUseChannelsOfTheirOwn) {
  // Given a load right after a store, of other bytes: both channels stream at once, the memory has bandwidth for both.
  const SystemConfig config = one_cube();
  const Picoseconds transfer = testing::isolated_transfer(config, tile_bytes);
  const auto kernel = [](tl::Context& tl) {
    tl.store(HbmAddress(0x10000), tl.buffer(tile, DType::f16));
    tl.load(HbmAddress(0), tile, DType::f16);
  };
  // 16 channels of 51.2 GB/s carry the store's KiB each in 20 ns; the load's request comes 8 ns after the store's, so
  // that its data follow 12 ns late in the memory, which the port, six times slower, does not feel.
  EXPECT_EQ(latency_of(kernel, tl::Policy::lazy, config), issue_store + issue_load + dispatch + transfer);
}

/// Multiplies `rows` x 64 by each of `tiles` tiles, prefetched two ahead into three buffers.
[[nodiscard]] tl::Kernel prefetching_kernel(std::int64_t tiles, std::int64_t rows) {
  return [tiles, rows](tl::Context& tl) {
    constexpr std::int64_t distance = 2;
    const auto a = tl.buffer({rows, 64}, DType::f16);
    const auto acc = tl.zeros({rows, 128}, DType::f32);
    const auto ring = tl.buffers(distance + 1, tile, DType::f16);
    const auto buffer = [&ring](std::int64_t j) { return ring[static_cast<std::size_t>(j % (distance + 1))]; };
    const auto request = [&](std::int64_t j) {
      tl.load(HbmAddress(0) + tile_bytes * j, tile, DType::f16, tl::into(buffer(j)));
    };
    for (std::int64_t j = 0; j < distance; ++j) request(j);
    for (std::int64_t j = 0; j < tiles; ++j) {
      if (j + distance < tiles) request(j + distance);
      tl.dot(a, buffer(j), acc);
    }
  };
}

/// What one more tile costs once the pipeline is full.
[[nodiscard]] Picoseconds period_of_prefetching(std::int64_t rows) {
  constexpr std::int64_t few = 8;
  constexpr std::int64_t more = 16;
  const Picoseconds shorter = latency_of(prefetching_kernel(few, rows), tl::Policy::lazy, one_cube());
  const Picoseconds longer = latency_of(prefetching_kernel(few + more, rows), tl::Policy::lazy, one_cube());
  EXPECT_EQ((longer - shorter).count() % more, 0);
  return Picoseconds((longer - shorter).count() / more);
}

TEST(Overlap, PrefetchingWhereComputingDominatesTakesComputeAndIssueATile) {
  // 256 x 64 times 64 x 128 on 64 x 64: 512 cycles (operands: 32 KiB + 16 KiB + 2 x 128 KiB = 608 cycles at 512 B: the
  // accumulator's passes through scratch are what counts). The transfer of 128 ns hides.
  const Picoseconds dot = std::max(256 * 64 * 128 / 4096, (32 + 16 + 2 * 128) * 1024 / 512) * cycle;
  const Picoseconds compute_and_issue = issue_load + issue_dot + dispatch + dot;
  const Picoseconds transfer = duration(tile_bytes, Bandwidth(128'000'000'000));
  ASSERT_GT(compute_and_issue, transfer);
  EXPECT_EQ(period_of_prefetching(256), std::max(compute_and_issue, transfer));
}

TEST(Overlap, PrefetchingWhereTheTransferDominatesTakesOneTransferATile) {
  // 16 x 64 times 64 x 128 on 64 x 64: 32 cycles; operands 2 KiB + 16 KiB + 2 x 8 KiB: 68 cycles.
  const Picoseconds dot = std::max(16 * 64 * 128 / 4096, (2 + 16 + 2 * 8) * 1024 / 512) * cycle;
  const Picoseconds compute_and_issue = issue_load + issue_dot + dispatch + dot;
  const Picoseconds transfer = duration(tile_bytes, Bandwidth(128'000'000'000));
  ASSERT_LT(compute_and_issue, transfer);
  // A tile's request leaves when the tile two before it has been multiplied: two transfers cover setup, latency and
  // what stands between, so that the channel never runs dry.
  ASSERT_LE(compute_and_issue + dispatch + Picoseconds(120'000), 2 * transfer);
  EXPECT_EQ(period_of_prefetching(16), std::max(compute_and_issue, transfer));
}

}  // namespace
}  // namespace kernwave::overlap_test
