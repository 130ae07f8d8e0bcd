// Transfers between HBM and scratch: isolated, streamed, queued, in bursts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "models/pe/burst_rule.h"
#include "tests/support/child.h"
#include "tests/support/lone_pe.h"
#include "tests/support/simulation.h"

namespace kernwave::dma_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds issue = 8 * cycle;  // of a load or a store
constexpr Picoseconds dispatch = 2 * cycle;

/// What the test moves: `rows` x `cols` elements, `stride` elements from row to row.
struct Extent {
  const char* name;
  std::uint64_t address;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t stride;
  DType dtype;
  friend void PrintTo(const Extent& extent, std::ostream* out) { *out << extent.name; }
};

/// setup + latency + the slower of the port with all bytes and the busiest channel with its own, counted byte by byte.
[[nodiscard]] Picoseconds isolated(const SystemConfig& config, const Extent& extent) {
  std::vector<std::int64_t> bytes_of_channel(static_cast<std::size_t>(config.hbm.channels));
  const std::int64_t element = size_of(extent.dtype);
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    for (std::int64_t byte = 0; byte < extent.cols * element; ++byte) {
      const std::int64_t at = static_cast<std::int64_t>(extent.address) + row * extent.stride * element + byte;
      ++bytes_of_channel[static_cast<std::size_t>(at / config.hbm.interleave.count() % config.hbm.channels)];
    }
  }
  const Bytes busiest(*std::max_element(bytes_of_channel.begin(), bytes_of_channel.end()));
  const Bandwidth channel(config.hbm.bandwidth.count() / config.hbm.channels);
  const Bytes all(extent.rows * extent.cols * element);
  return config.pe.dma.setup + config.hbm.latency +
         std::max(duration(all, config.pe.dma.bandwidth), duration(busiest, channel));
}

// A6: the transfer itself is counted once, in whichever place is slower.
class IsolatedTransfer : public ::testing::TestWithParam<Extent> {};

TEST_P(IsolatedTransfer, ALoadTakesSetupLatencyAndItsBytes) {
  const Extent extent = GetParam();
  in_child([extent] {
    const SystemConfig config = one_cube();
    Simulation simulation(config);
    simulation.run([extent](tl::Context& tl) {
      tl.load(HbmAddress(extent.address), {extent.rows, extent.cols}, extent.dtype,
              tl::LoadOptions().strides(extent.stride));
    });
    EXPECT_EQ(simulation.latency(), issue + dispatch + isolated(config, extent));
  });
}

TEST_P(IsolatedTransfer, AStoreTakesSetupLatencyAndItsBytes) {
  const Extent extent = GetParam();
  in_child([extent] {
    const SystemConfig config = one_cube();
    Simulation simulation(config);
    simulation.run([extent](tl::Context& tl) {
      const auto tensor = tl.buffer({extent.rows, extent.cols}, extent.dtype);
      tl.store(HbmAddress(extent.address), tensor, tl::StoreOptions().strides(extent.stride));
    });
    EXPECT_EQ(simulation.latency(), issue + dispatch + isolated(config, extent));
  });
}

INSTANTIATE_TEST_SUITE_P(
    Dma, IsolatedTransfer,
    ::testing::Values(Extent{"OneElement", 0x40, 1, 1, 1, DType::f32}, Extent{"OneByte", 0x41, 1, 1, 1, DType::boolean},
                      Extent{"OneBlockOfOneChannel", 0x1000, 1, 64, 64, DType::f32},
                      Extent{"TwoPartsOfBlocks", 0x10F0, 1, 16, 16, DType::f16},
                      Extent{"AllChannelsOnce", 0, 16, 64, 64, DType::f32},
                      Extent{"ThirtyTwoKiB", 0, 128, 128, 128, DType::f16},
                      Extent{"OddRows", 0x30, 7, 33, 33, DType::f16},
                      // 64 B rows 4 KiB apart all lie in one channel: it, not the port, is the slower one.
                      Extent{"RowsInOneChannel", 0x2000, 16, 32, 2048, DType::f16},
                      Extent{"OneColumn", 0x2000, 33, 1, 16, DType::f32},
                      Extent{"RowsInAllChannels", 0x2000, 32, 64, 1152, DType::f16}),
    [](const ::testing::TestParamInfo<Extent>& instance) { return std::string(instance.param.name); });

TEST(Dma, ByHandAnIsolatedLoadOf16KiB) {
  in_child([] {
    // 20 ns + 100 ns + 16384 B / 128 GB/s; 8 ns and 2 ns before.
    Simulation simulation;
    simulation.run([](tl::Context& tl) { tl.load(HbmAddress(0), {64, 128}, DType::f16); });
    EXPECT_EQ(simulation.latency(), Picoseconds(8'000 + 2'000 + 20'000 + 100'000 + 128'000));
  });
}

TEST(Dma, ByHandAnIsolatedStoreOfOneElement) {
  in_child([] {
    // 4 B in one of 16 channels at 51.2 GB/s: 78.125 ps, and 31.25 ps in the port.
    Simulation simulation;
    simulation.run([](tl::Context& tl) { tl.store(HbmAddress(0), tl.buffer({1}, DType::f32)); });
    EXPECT_EQ(simulation.latency(), Picoseconds(8'000 + 2'000 + 20'000 + 100'000 + 79));
  });
}

TEST(Dma, ATransferWithoutBytesAsksNoMemory) {
  in_child([] {
    Simulation simulation;
    // Given a tile of which nothing lies inside the matrix: setup, and padding alone.
    simulation.run([](tl::Context& tl) {
      const auto padding = tl.load(HbmAddress(0), {2, 8}, DType::f32, tl::LoadOptions().valid({0, 8}).other(3.0F));
      tl.wait(padding);
    });
    EXPECT_EQ(simulation.latency(), issue + dispatch + simulation.system().config().pe.dma.setup);
    EXPECT_EQ(simulation.system().cube(CubeId(0)).hbm().statistics()[0].read, Bytes(0));
    EXPECT_EQ(simulation.count(Engine::dma_read), 1);
  });
}

TEST(Dma, StridedRowsAndPartsReachTheirPlacesAndNothingElse) {
  in_child([] {
    Simulation simulation;
    std::vector<float> matrix(8 * 10);
    std::iota(matrix.begin(), matrix.end(), 1.0F);
    simulation.write(HbmAddress(0), DType::f32, matrix);
    simulation.write(HbmAddress(0x1000), DType::f32, std::vector<float>(100, -1.0F));
    // Given a 3 x 4 tile at row 2, column 5 of an 8 x 10 matrix, of which 2 x 3 count; the rest is 7.
    simulation.run([](tl::Context& tl) {
      const auto tile = tl.load(HbmAddress(4 * (2 * 10 + 5)), {3, 4}, DType::f32,
                                tl::LoadOptions().strides(10).valid({2, 3}).other(7.0F));
      tl.store(HbmAddress(0x1000), tile);
      tl.store(HbmAddress(0x1100), tl.trans(tile), tl::StoreOptions().strides(5).valid({3, 2}));
    });
    const float a = matrix[25];
    const float b = matrix[35];
    EXPECT_EQ(simulation.read(HbmAddress(0x1000), DType::f32, 13),
              (std::vector<float>{a, a + 1, a + 2, 7, b, b + 1, b + 2, 7, 7, 7, 7, 7, -1}));
    EXPECT_EQ(simulation.read(HbmAddress(0x1100), DType::f32, 15),
              (std::vector<float>{a, b, -1, -1, -1, a + 1, b + 1, -1, -1, -1, a + 2, b + 2, -1, -1, -1}));
  });
}

/// 64 loads of 16 KiB, back to back, into 32 buffers.
void stream_one_mebibyte(Bandwidth port, Bandwidth memory) {
  SystemConfig config = one_cube();
  // What stands before the data must not be slower than the data: 16 KiB take 4.9 ns.
  config.pe.issue.load = Cycles(1);
  config.pe.dma.setup = Picoseconds(1'000);
  config.pe.dma.queue_depth = 64;
  config.pe.dma.max_outstanding = 64;
  config.pe.dma.bandwidth = port;
  config.hbm.queue_depth = 64;
  config.hbm.bandwidth = memory;
  Simulation simulation(config);
  simulation.run([](tl::Context& tl) {
    const auto ring = tl.buffers(32, {64, 128}, DType::f16);
    for (std::int64_t j = 0; j < 64; ++j) {
      const tl::Tensor& buffer = ring[static_cast<std::size_t>(j % 32)];
      tl.load(HbmAddress(static_cast<std::uint64_t>(j) * 16384), {64, 128}, DType::f16, tl::into(buffer));
    }
  });
  // Issue, dispatch, setup and latency once; from then on a byte every 1 / 3.35 = 20 / 67 ps, rounded up where a load
  // ends and nowhere else: the last one ends 2^20 * 20 / 67 = 313,007.76 ps later.
  const std::int64_t first_data = 1'000 + 2'000 + 1'000 + 100'000;
  EXPECT_EQ(simulation.latency(), Picoseconds(first_data + 313'008));
  const auto rows = simulation.rows();
  ASSERT_EQ(rows.size(), 64U);
  for (std::int64_t j = 0; j < 64; ++j) {
    const Picoseconds end(first_data + ceil_div((j + 1) * 16384 * 20, 67));
    EXPECT_EQ(rows[static_cast<std::size_t>(j)].end, end) << "load " << j;
  }
}

constexpr Bandwidth rate_of_the_stream(3'350'000'000'000);

TEST(Dma, AStreamIsExactToItsRatioWhereThePortIsSlower) {
  in_child([] { stream_one_mebibyte(rate_of_the_stream, 2 * rate_of_the_stream); });
}

TEST(Dma, AStreamIsExactToItsRatioWhereTheMemoryIsSlower) {
  in_child([] { stream_one_mebibyte(2 * rate_of_the_stream, rate_of_the_stream); });
}

TEST(Dma, AStreamIsExactToItsRatioWherePortAndMemoryAreEquallyFast) {
  in_child([] { stream_one_mebibyte(rate_of_the_stream, rate_of_the_stream); });
}

/// Ends of loads of 2 KiB with requests of 256 B, at most `outstanding` of them in the memory at once.
[[nodiscard]] Picoseconds end_of_a_load_in_requests(std::int64_t outstanding) {
  SystemConfig config = one_cube();
  config.pe.dma.burst = Bytes(256);
  config.pe.dma.max_outstanding = outstanding;
  Simulation simulation(config);
  simulation.run([](tl::Context& tl) { tl.load(HbmAddress(0), {8, 64}, DType::f32); });
  return simulation.latency();
}

TEST(Dma, TheNumberOfOutstandingRequestsBoundsWhatLatencyHides) {
  // Eight requests of 256 B, each to a channel of its own: 100 ns of latency, 5 ns of data at 51.2 GB/s.
  const Picoseconds before = issue + dispatch + Picoseconds(20'000);
  const Picoseconds round_trip(100'000 + 5'000);
  in_child([=] { EXPECT_EQ(end_of_a_load_in_requests(1), before + 8 * round_trip); });
  in_child([=] { EXPECT_EQ(end_of_a_load_in_requests(2), before + 4 * round_trip); });
  in_child([=] { EXPECT_EQ(end_of_a_load_in_requests(3), before + 3 * round_trip); });
  // All at once: the port needs 2048 B / 128 GB/s from the first answer on.
  in_child([=] { EXPECT_EQ(end_of_a_load_in_requests(8), before + round_trip + Picoseconds(16'000)); });
}

TEST(Dma, WithQueuesOfOneTheProgramWaitsForAPlaceAndTheWaitIsAccounted) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.scheduler.queue_depth = 1;
    config.pe.dma.queue_depth = 1;
    Simulation simulation(config);
    constexpr std::int64_t loads = 12;
    simulation.run([](tl::Context& tl) {
      for (std::int64_t j = 0; j < loads; ++j) {
        tl.load(HbmAddress(static_cast<std::uint64_t>(j) * 16384), {64, 128}, DType::f16);
      }
    });
    // One command at a time in the channel: nothing overlaps, each takes setup, latency and transfer.
    const Picoseconds load = testing::isolated_transfer(config, Bytes(16384));
    const Picoseconds end = issue + dispatch + loads * load;
    EXPECT_EQ(simulation.latency(), end);
    // Three loads find a place at once: in the channel, presented to it, in the scheduler. From then on the n-th is
    // taken when the (n - 3)-th ends.
    const Picoseconds last_taken = issue + dispatch + (loads - 3) * load;
    EXPECT_EQ(simulation.time(TimeCause::issue), loads * issue);
    EXPECT_EQ(simulation.time(TimeCause::queue), last_taken - loads * issue);
    EXPECT_EQ(simulation.time(TimeCause::drain), end - last_taken);
  });
}

/// Of all transactions those that are no commands: a command goes to the scheduler, and from there to its engine.
[[nodiscard]] std::int64_t requests_to_memory(Simulation& simulation) {
  return simulation.monitor().transactions() - 2 * simulation.pe().cpu().operations();
}

TEST(Bursts, ADenseTileIsOneIntervalOfBytes) {
  in_child([] {
    // Given bursts of 2 KiB
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(2048);
    Simulation simulation(config);
    std::vector<float> numbers(128 * 128);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 512);
    simulation.write(HbmAddress(0), DType::f16, numbers);
    // When 128 x 128 f16, rows of 256 B, are loaded and stored
    simulation.run([](tl::Context& tl) {
      const auto x = tl.load(HbmAddress(0), {128, 128}, DType::f16);
      tl.store(HbmAddress(0x10000), x);
    });
    // Then 32 KiB are 16 requests each way.
    EXPECT_EQ(requests_to_memory(simulation), 16 + 16);
    EXPECT_EQ(simulation.read(HbmAddress(0x10000), DType::f16, 128 * 128), numbers);
  });
}

TEST(Bursts, CutEachIntervalOfItsOwn) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(2048);
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) {
      // 8 rows of 256 B with 256 B between them: 8 requests.
      tl.load(HbmAddress(0), {8, 128}, DType::f16, tl::LoadOptions().strides(256));
      // The first 4 rows of 8, dense: 1 KiB, one request.
      tl.load(HbmAddress(0), {8, 128}, DType::f16, tl::LoadOptions().valid({4, 128}));
      // Of 4 rows the first 64 columns: four requests.
      tl.load(HbmAddress(0), {4, 128}, DType::f16, tl::LoadOptions().valid({4, 64}));
      // The same row four times: no interval, four requests.
      tl.load(HbmAddress(0), {4, 128}, DType::f16, tl::LoadOptions().strides(0));
      // A dense tile of 4 KiB that begins 256 B before a multiple of 2 KiB: 256 B, 2 KiB, then what is left of 1,792 B
      // as 1 KiB, 512 B and 256 B.
      tl.load(HbmAddress(2048 - 256), {16, 128}, DType::f16);
    });
    EXPECT_EQ(requests_to_memory(simulation), 8 + 1 + 4 + 4 + 5);
  });
}

TEST(Bursts, OfADenseTransposeMoveEveryElementToItsPlace) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(64);
    Simulation simulation(config);
    std::vector<float> matrix(24 * 10);
    std::iota(matrix.begin(), matrix.end(), 0.0F);
    simulation.write(HbmAddress(6), DType::f16, matrix);
    // When a dense 24 x 10 f16 tile, rows of 20 B in bursts of up to 64 B, is stored transposed
    simulation.run([](tl::Context& tl) {
      tl.store(HbmAddress(0x1002), tl.trans(tl.load(HbmAddress(6), {24, 10}, DType::f16)));
    });
    // Then every element is where it belongs.
    std::vector<float> expected;
    for (std::size_t col = 0; col < 10; ++col) {
      for (std::size_t row = 0; row < 24; ++row) expected.push_back(matrix[row * 10 + col]);
    }
    EXPECT_EQ(simulation.read(HbmAddress(0x1002), DType::f16, 240), expected);
  });
}

TEST(Bursts, WithoutDataWriteNothingToTheModelsOwnMemory) {
  in_child([] {
    // Given a system, whose memory is the model's own, in data mode none, and no key that allows anything
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(64);
    ASSERT_FALSE(config.pe.dma.zero_writes);
    const auto kernel = [](tl::Context& tl) { tl.store(HbmAddress(0), tl.full({64}, 1.0, DType::f32)); };
    Simulation simulation(config, DataMode::none);
    // Then a kernel that stores runs, in the time that it takes with data.
    simulation.run(kernel);
    EXPECT_EQ(requests_to_memory(simulation), 4);
  });
}

TEST(Bursts, WithoutDataToAMemoryThatNobodyHasDeclaredTakeTheKey) {
  for (const bool allowed : {false, true}) {
    in_child([allowed] {
      // Given a PE by itself in data mode none, on a memory of the user's
      Connector connector;
      RunLedger ledger;
      PeConfig config = testing::LonePe::with_bursts();
      config.dma.zero_writes = allowed;
      testing::StubMemory memory("memory", testing::AnswerStyle::end_req_later, testing::StubTiming{});
      Pe pe("pe", PeId(0), config, DataMode::none, ledger, connector);
      connector.connect(pe.read_socket(), memory.read_socket(), "read");
      connector.connect(pe.write_socket(), memory.write_socket(), "write");
      tl::launch(pe, [](tl::Context& tl) { tl.store(HbmAddress(0), tl.full({64}, 1.0, DType::f32)); });
      // Then only the key lets it write.
      EXPECT_EQ(run_to_end(ledger), allowed ? RunEnd::finished : RunEnd::failed);
      if (allowed) return;
      const std::string message = ledger.failures().front().message;
      EXPECT_EQ(message.find("PE 0, store at "), 0U) << message;
      EXPECT_NE(message.find("pe.dma.zero_writes = true"), std::string::npos) << message;
    });
  }
}

TEST(BurstRule, ARequestIsTheLongestNaturallyAlignedPowerOfTwo) {
  EXPECT_EQ(next_burst(HbmAddress(0), Bytes(1000), Bytes(64)), Bytes(64));
  EXPECT_EQ(next_burst(HbmAddress(64), Bytes(64), Bytes(64)), Bytes(64));
  EXPECT_EQ(next_burst(HbmAddress(32), Bytes(1000), Bytes(64)), Bytes(32));
  EXPECT_EQ(next_burst(HbmAddress(0), Bytes(63), Bytes(64)), Bytes(32));
  EXPECT_EQ(next_burst(HbmAddress(1), Bytes(1000), Bytes(64)), Bytes(1));
  EXPECT_EQ(next_burst(HbmAddress(6), Bytes(1000), Bytes(64)), Bytes(2));
  EXPECT_EQ(next_burst(HbmAddress(CubeId(3), Bytes(0x48)), Bytes(1000), Bytes(256)), Bytes(8));
}

TEST(BurstRule, TheRequestsOfARowCoverItExactly) {
  for (const std::int64_t longest : {1, 4, 64, 256}) {
    for (std::uint64_t first = 0; first < 70; ++first) {
      for (std::int64_t length = 1; length < 300; ++length) {
        HbmAddress at(first);
        std::int64_t left = length;
        while (left > 0) {
          const std::int64_t burst = next_burst(at, Bytes(left), Bytes(longest)).count();
          ASSERT_GT(burst, 0);
          ASSERT_LE(burst, std::min(left, longest));
          ASSERT_EQ(burst & (burst - 1), 0) << "not a power of two";
          ASSERT_EQ(at.value() % static_cast<std::uint64_t>(burst), 0U) << "not aligned";
          at = at + Bytes(burst);
          left -= burst;
        }
        ASSERT_EQ(left, 0);
        ASSERT_EQ(at, HbmAddress(first) + Bytes(length));
      }
    }
  }
}

TEST(Dma, InBurstsOddAddressesAndSizesMoveTheSameBytes) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(64);
    Simulation simulation(config);
    // Given 5 rows of 37 bf16 (74 B), 41 elements apart, at an odd address.
    std::vector<float> source(5 * 41);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i % 200);
    simulation.write(HbmAddress(0x1003), DType::bf16, source);
    simulation.write(HbmAddress(0x8001), DType::bf16, std::vector<float>(5 * 39, -1.0F));
    // When they are copied to rows 39 elements apart at another odd address.
    simulation.run([](tl::Context& tl) {
      const auto tile = tl.load(HbmAddress(0x1003), {5, 37}, DType::bf16, tl::LoadOptions().strides(41));
      tl.store(HbmAddress(0x8001), tile, tl::StoreOptions().strides(39));
    });
    // Then they are there, and what lies between them is untouched.
    std::vector<float> expected;
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t col = 0; col < 39; ++col) expected.push_back(col < 37 ? source[row * 41 + col] : -1.0F);
    }
    EXPECT_EQ(simulation.read(HbmAddress(0x8001), DType::bf16, 5 * 39), expected);
  });
}

TEST(Dma, InBurstsAViewMovesElementByElement) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.burst = Bytes(64);
    Simulation simulation(config);
    std::vector<float> matrix(3 * 5);
    std::iota(matrix.begin(), matrix.end(), 0.0F);
    simulation.write(HbmAddress(2), DType::f32, matrix);
    simulation.run([](tl::Context& tl) {
      tl.store(HbmAddress(0x1001), tl.trans(tl.load(HbmAddress(2), {3, 5}, DType::f32)));
    });
    EXPECT_EQ(simulation.read(HbmAddress(0x1001), DType::f32, 15),
              (std::vector<float>{0, 5, 10, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14}));
  });
}

}  // namespace
}  // namespace kernwave::dma_test
