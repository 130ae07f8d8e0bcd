// The `bandwidth` model of HBM, driven by initiators of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/channel_map.h"
#include "models/memory/hbm.h"
#include "tests/support/at_initiator.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "traces/protocol_monitor.h"

namespace kernwave::hbm_test {
namespace {

using testing::AtInitiator;
using testing::EndResponse;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;
using Transaction = AtInitiator::Transaction;

constexpr Picoseconds latency(1'000);
constexpr std::int64_t ps_per_byte = 100;  // of one channel
constexpr Bytes block(256);                // of one channel
constexpr Picoseconds block_time(25'600);

/// `channels` of 10 GB/s each.
[[nodiscard]] HbmConfig memory_of(std::int64_t channels) {
  HbmConfig config;
  config.channels = channels;
  config.bandwidth = Bandwidth(10'000'000'000) * channels;
  config.latency = latency;
  config.interleave = block;
  config.capacity = Bytes(1 << 20);
  return config;
}

[[nodiscard]] std::vector<std::uint8_t> numbers(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

/// A memory with an initiator, through a monitor, on each of its ports.
class Bench {
 public:
  explicit Bench(const HbmConfig& config, std::int64_t ports = 1, bool last_port_first = false,
                 EndResponse style = EndResponse::completed, Picoseconds end_response_delay = Picoseconds(0))
      : hbm_("hbm", CubeId(0), config, DataMode::full, ports), initiators_(static_cast<std::size_t>(ports)) {
    for (std::int64_t i = 0; i < ports; ++i) {
      const std::int64_t id = last_port_first ? ports - 1 - i : i;
      const std::string name = "initiator" + std::to_string(id);
      auto& initiator = initiators_[static_cast<std::size_t>(id)];
      initiator = std::make_unique<AtInitiator>(name.c_str(), style, end_response_delay);
      connector_.connect(initiator->socket(), hbm_.socket(id), name);
    }
  }

  [[nodiscard]] AtInitiator& port(std::int64_t id = 0) { return *initiators_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] Hbm& hbm() noexcept { return hbm_; }

  void run() {
    sc_core::sc_start();
    EXPECT_EQ(connector_.violations(), std::vector<std::string>());
    EXPECT_EQ(connector_.in_flight(), 0U);
    for (const auto& initiator : initiators_) EXPECT_EQ(initiator->in_use(), 0);
  }

 private:
  traces::MonitoringConnector connector_;
  Hbm hbm_;
  std::vector<std::unique_ptr<AtInitiator>> initiators_;
};

/// A bare initiator socket: the test calls its transport functions from processes of its own.
struct Caller : sc_core::sc_module {
  explicit Caller(Hbm& hbm) : sc_module("caller"), socket("socket") { socket.bind(hbm.socket(0)); }
  tlm_utils::simple_initiator_socket<Caller> socket;
};

/// A process of the test's own in the simulation.
void spawn(const std::function<void()>& body) { sc_core::sc_spawn(body, sc_core::sc_gen_unique_name("test_process")); }

TEST(Hbm, AnswersAfterLatencyAndTheBusiestChannelsBytes) {
  in_child([] {
    Bench bench(memory_of(4));
    constexpr Picoseconds far(1'000'000);  // each request finds the memory idle
    const Transaction& byte = bench.port().read(Picoseconds(0), HbmAddress(0), Bytes(1));
    const Transaction& one_block = bench.port().read(far, HbmAddress(0), block);
    const Transaction& four_blocks = bench.port().read(2 * far, HbmAddress(0), 4 * block);
    // A block and a half from the middle of one: 128 B, then 256 B in the next channel.
    const Transaction& shifted = bench.port().write(3 * far, HbmAddress(128), numbers(384));
    const Transaction& two_halves = bench.port().read(4 * far, HbmAddress(128), block);
    // The last channel is not the busiest.
    const Transaction& block_and_byte = bench.port().read(5 * far, HbmAddress(0), block + Bytes(1));
    bench.run();
    EXPECT_EQ(byte.end_request, Picoseconds(0));
    EXPECT_EQ(byte.response, latency + Picoseconds(ps_per_byte));
    EXPECT_EQ(one_block.response, far + latency + block_time);
    EXPECT_EQ(four_blocks.response, 2 * far + latency + block_time);
    EXPECT_EQ(shifted.response, 3 * far + latency + block_time);
    EXPECT_EQ(two_halves.response, 4 * far + latency + Picoseconds(128 * ps_per_byte));
    EXPECT_EQ(block_and_byte.response, 5 * far + latency + block_time);
    EXPECT_EQ(shifted.status(), tlm::TLM_OK_RESPONSE);
  });
}

TEST(ChannelMap, CountsWholeRoundsAndWhatIsLeftInTheChannelsWhereItLies) {
  const ChannelMap map(3, Bytes(64));
  const auto per_channel = [&map](const HbmRegion& region) {
    std::vector<std::int64_t> bytes(3);
    map.add_bytes(region, bytes);
    return bytes;
  };
  const auto dense = [&](std::int64_t offset, std::int64_t count) {
    return per_channel({HbmAddress(static_cast<std::uint64_t>(offset)), 1, Bytes(count), Bytes(count)});
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(dense(0, 192), (Counts{64, 64, 64}));
  EXPECT_EQ(dense(0, 193), (Counts{65, 64, 64}));
  // From the middle of channel 1 on: a round, and then 32 B of channel 1, 64 of channel 2, 4 of channel 0.
  EXPECT_EQ(dense(96, 100), (Counts{4, 32, 64}));
  EXPECT_EQ(dense(96, 192 + 100), (Counts{64 + 4, 64 + 32, 64 + 64}));
  EXPECT_EQ(dense(96, 5 * 192 + 100), (Counts{5 * 64 + 4, 5 * 64 + 32, 5 * 64 + 64}));
  // Two rows of 100 B at 96 and at 96 + 256 = 352, which is 32 B behind the start of channel 2's second block.
  EXPECT_EQ(per_channel({HbmAddress(96), 2, Bytes(100), Bytes(256)}), (Counts{4 + 64, 32 + 4, 64 + 32}));
}

TEST(Hbm, ReadsBringWhatWritesLeft) {
  in_child([] {
    Bench bench(memory_of(4));
    const auto bytes = numbers(1000);
    bench.port().write(Picoseconds(0), HbmAddress(777), bytes);
    const Transaction& read = bench.port().read(Picoseconds(1'000'000), HbmAddress(770), Bytes(1010));
    bench.run();
    std::vector<std::uint8_t> expected(1010);
    std::copy(bytes.begin(), bytes.end(), expected.begin() + 7);
    EXPECT_EQ(read.data, expected);
  });
}

// C3
TEST(Hbm, ThroughputScalesWithTheNumberOfChannels) {
  for (const std::int64_t channels : {1, 2, 4, 8, 16}) {
    in_child([channels] {
      // Given eight ports that each read 16 blocks at once, spread over all channels.
      Bench bench(memory_of(channels), 8);
      std::vector<const Transaction*> reads;
      for (std::int64_t port = 0; port < 8; ++port) {
        reads.push_back(&bench.port(port).read(Picoseconds(0), HbmAddress(0) + block * 16 * port, block * 16));
      }
      bench.run();
      // Then the last answer comes when the channels together have moved 128 blocks; port by port until then.
      for (std::int64_t port = 0; port < 8; ++port) {
        const Picoseconds expected = latency + block_time * (16 * (port + 1) / channels);
        EXPECT_EQ(reads[static_cast<std::size_t>(port)]->response, expected) << channels << " channels, port " << port;
      }
      // C5: what each channel carried is known.
      for (const ChannelStatistics& channel : bench.hbm().statistics()) {
        EXPECT_EQ(channel.read, block * (128 / channels));
        EXPECT_EQ(channel.written, Bytes(0));
      }
    });
  }
}

TEST(Hbm, EfficiencyScalesEveryChannel) {
  in_child([] {
    HbmConfig config = memory_of(4);
    config.efficiency = PartsPerMillion(800'000);
    Bench bench(config);
    const Transaction& read = bench.port().read(Picoseconds(0), HbmAddress(0), 4 * block);
    bench.run();
    // 25,600 / 0.8
    EXPECT_EQ(read.response, latency + Picoseconds(32'000));
  });
}

TEST(Hbm, ReadsAndWritesShareTheChannels) {
  in_child([] {
    Bench bench(memory_of(4), 2);
    const Transaction& read = bench.port(0).read(Picoseconds(0), HbmAddress(0), block);
    const Transaction& write = bench.port(1).write(Picoseconds(0), HbmAddress(1024), numbers(256));  // the same channel
    const Transaction& elsewhere = bench.port(1).write(Picoseconds(0), HbmAddress(256), numbers(256));
    bench.run();
    EXPECT_EQ(read.response, latency + block_time);
    EXPECT_EQ(write.response, latency + 2 * block_time);
    EXPECT_EQ(elsewhere.response, latency + block_time);  // overtakes: another channel
    EXPECT_EQ(bench.hbm().statistics()[0].read, block);
    EXPECT_EQ(bench.hbm().statistics()[0].written, block);
    EXPECT_EQ(bench.hbm().statistics()[1].written, block);
  });
}

TEST(Hbm, WithinAnInstantTheSmallerPortIdGoesFirstWhoeverCalled) {
  for (const bool last_port_first : {false, true}) {
    in_child([last_port_first] {
      // Given three requests for one channel that take effect in one instant; the initiators' processes, and so their
      // calls, run in the order of construction.
      Bench bench(memory_of(4), 3, last_port_first);
      const Picoseconds instant(5'000);
      const Transaction& second = bench.port(1).read(instant, HbmAddress(0), block);
      const Transaction& first = bench.port(0).read(instant, HbmAddress(1024), block);
      // This one is announced earlier, with the difference annotated.
      Transaction& third = bench.port(2).read(instant - Picoseconds(700), HbmAddress(2048), block);
      third.annotated = Picoseconds(700);
      bench.run();
      EXPECT_EQ(first.response, instant + latency + block_time);
      EXPECT_EQ(second.response, instant + latency + 2 * block_time);
      EXPECT_EQ(third.response, instant + latency + 3 * block_time);
    });
  }
}

TEST(Hbm, BetweenInstantsTheEarlierRequestGoesFirst) {
  in_child([] {
    Bench bench(memory_of(4), 2);
    const Transaction& later = bench.port(0).read(Picoseconds(1), HbmAddress(0), block);
    const Transaction& earlier = bench.port(1).read(Picoseconds(0), HbmAddress(0), block);
    bench.run();
    EXPECT_EQ(earlier.response, latency + block_time);
    EXPECT_EQ(later.response, latency + 2 * block_time);
  });
}

TEST(Hbm, BeyondItsQueueAPortsRequestIsWithheldAndTheOthersAreNot) {
  in_child([] {
    HbmConfig config = memory_of(4);
    config.queue_depth = 2;
    Bench bench(config, 2);
    std::vector<const Transaction*> reads;
    for (std::int64_t i = 0; i < 4; ++i) {
      reads.push_back(&bench.port(0).read(Picoseconds(0), HbmAddress(0), block));
    }
    const Transaction& other = bench.port(1).read(Picoseconds(0), HbmAddress(256), block);
    bench.run();
    // Two are taken at once and stream one after the other. The third is taken when the first is answered and is
    // eligible a latency later, which the second one's data hide; so with the fourth.
    EXPECT_EQ(reads[0]->end_request, Picoseconds(0));
    EXPECT_EQ(reads[1]->end_request, Picoseconds(0));
    EXPECT_EQ(reads[2]->end_request, latency + block_time);
    EXPECT_EQ(reads[3]->end_request, latency + 2 * block_time);
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(reads[static_cast<std::size_t>(i)]->response, latency + block_time * (i + 1));
    }
    EXPECT_EQ(other.end_request, Picoseconds(0));
    EXPECT_EQ(other.response, latency + block_time);
  });
}

TEST(Hbm, WithAQueueOfOneEveryRequestPaysTheLatency) {
  in_child([] {
    HbmConfig config = memory_of(4);
    config.queue_depth = 1;
    Bench bench(config);
    const Transaction& first = bench.port().read(Picoseconds(0), HbmAddress(0), block);
    const Transaction& second = bench.port().read(Picoseconds(0), HbmAddress(256), block);
    bench.run();
    EXPECT_EQ(first.response, latency + block_time);
    EXPECT_EQ(second.end_request, first.response);
    EXPECT_EQ(second.response, 2 * (latency + block_time));
  });
}

// A5
TEST(Hbm, ManyPesOnQueuesOfOneLoseNothing) {
  in_child([] {
    SystemConfig config = one_cube(8);
    config.hbm.queue_depth = 1;
    Simulation simulation(config);  // with a monitor on every socket
    constexpr std::int64_t tiles = 20;
    constexpr std::int64_t elements = 256;
    std::vector<float> source(8 * tiles * elements);
    std::iota(source.begin(), source.end(), 0.0F);
    simulation.write(HbmAddress(0), DType::f32, source);
    simulation.run_grid({8, 1, 1}, [](tl::Context& tl) {
      for (std::int64_t j = 0; j < tiles; ++j) {
        const Bytes offset(4 * elements * (tl.program_id(0) * tiles + j));
        tl.store(HbmAddress(0x100000) + offset, tl.load(HbmAddress(0) + offset, {elements}, DType::f32));
      }
    });
    EXPECT_EQ(simulation.read(HbmAddress(0x100000), DType::f32, 8 * tiles * elements), source);
    EXPECT_EQ(simulation.count(Engine::dma_read), 8 * tiles);
    EXPECT_EQ(simulation.count(Engine::dma_write), 8 * tiles);
  });
}

/// Two reads of one port that are answered in one instant, and what stands between their BEGIN_RESPs.
[[nodiscard]] Picoseconds distance_of_responses(EndResponse style, Picoseconds end_response_delay) {
  Bench bench(memory_of(4), 1, false, style, end_response_delay);
  const Transaction& first = bench.port().read(Picoseconds(0), HbmAddress(0), block);
  const Transaction& second = bench.port().read(Picoseconds(0), HbmAddress(256), block);
  bench.run();
  EXPECT_EQ(first.response, latency + block_time);
  return second.response.value_or(Picoseconds(-1)) - latency - block_time;
}

TEST(Hbm, OfTwoResponsesInOneInstantTheSecondWaitsForTheEndOfTheFirst) {
  const Picoseconds none(0);
  const Picoseconds late(7'000);
  for (const EndResponse style : {EndResponse::completed, EndResponse::updated, EndResponse::accepted}) {
    in_child([=] { EXPECT_EQ(distance_of_responses(style, none), none); });
    in_child([=] { EXPECT_EQ(distance_of_responses(style, late), late); });
  }
}

// A3
TEST(Hbm, ABlockingCallWithAPayloadOnTheStackTakesTheTimeOfANonBlockingOne) {
  in_child([] {
    HbmConfig config = memory_of(4);
    Hbm hbm("hbm", CubeId(0), config, DataMode::full, 1);
    Caller caller(hbm);
    const auto bytes = numbers(512);
    std::vector<std::uint8_t> read(512);
    std::vector<Picoseconds> returned;
    spawn([&] {
      const auto access = [&](tlm::tlm_command command, std::uint8_t* data, Picoseconds delay) {
        Payload payload;
        payload.set_command(command);
        payload.set_address(0x100);
        payload.set_data_ptr(data);
        payload.set_data_length(512);
        payload.set_streaming_width(512);
        sc_core::sc_time annotated = to_sc_time(delay);
        caller.socket->b_transport(payload, annotated);
        returned.push_back(now() + to_picoseconds(annotated));
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        EXPECT_FALSE(payload.has_mm());
      };
      std::vector<std::uint8_t> source = bytes;
      access(tlm::TLM_WRITE_COMMAND, source.data(), Picoseconds(0));
      access(tlm::TLM_READ_COMMAND, read.data(), Picoseconds(3'000));
    });
    sc_core::sc_start();
    // Two blocks in two channels.
    EXPECT_EQ(returned,
              (std::vector<Picoseconds>{latency + block_time, 2 * (latency + block_time) + Picoseconds(3'000)}));
    EXPECT_EQ(read, bytes);
  });
}

TEST(Hbm, BlockingCallsShareTheQueueAndTheChannelsOfTheirPort) {
  in_child([] {
    HbmConfig config = memory_of(4);
    config.queue_depth = 1;
    Hbm hbm("hbm", CubeId(0), config, DataMode::full, 1);
    Caller caller(hbm);
    // Given three processes that call at once, on a port that takes one request at a time.
    std::vector<Picoseconds> returned;
    for (int process = 0; process < 3; ++process) {
      spawn([&] {
        std::array<std::uint8_t, 256> data{};
        Payload payload;
        payload.set_command(tlm::TLM_READ_COMMAND);
        payload.set_data_ptr(data.data());
        payload.set_data_length(256);
        payload.set_streaming_width(256);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        caller.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        returned.push_back(now());
      });
    }
    sc_core::sc_start();
    const Picoseconds one = latency + block_time;
    EXPECT_EQ(returned, (std::vector<Picoseconds>{one, 2 * one, 3 * one}));
  });
}

// A3
TEST(Hbm, ANonBlockingRequestWithoutAMemoryManagerIsOneClearError) {
  in_child([] {
    Hbm hbm("hbm", CubeId(0), memory_of(4), DataMode::full, 1);
    Caller caller(hbm);
    std::string message;
    spawn([&] {
      Payload payload;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      try {
        caller.socket->nb_transport_fw(payload, phase, delay);
      } catch (const sc_core::sc_report& report) {
        message = report.what();
      }
    });
    sc_core::sc_start();
    EXPECT_NE(message.find("hbm.port0"), std::string::npos) << message;
    EXPECT_NE(message.find("no memory manager"), std::string::npos) << message;
    EXPECT_NE(message.find("b_transport"), std::string::npos) << message;
  });
}

TEST(Hbm, DebugAccessTakesNoTime) {
  in_child([] {
    Hbm hbm("hbm", CubeId(0), memory_of(4), DataMode::full, 1);
    Caller caller(hbm);
    auto bytes = numbers(300);
    std::vector<std::uint8_t> read(300);
    spawn([&] {
      const auto access = [&](tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& data) {
        Payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(payload.get_data_length());
        return caller.socket->transport_dbg(payload);
      };
      EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, 0x123, bytes), 300U);
      EXPECT_EQ(access(tlm::TLM_READ_COMMAND, 0x123, read), 300U);
      EXPECT_EQ(access(tlm::TLM_READ_COMMAND, (1 << 20) - 299, bytes), 0U) << "beyond the capacity";
      EXPECT_EQ(now(), Picoseconds(0));
    });
    sc_core::sc_start();
    EXPECT_EQ(read, numbers(300));
    EXPECT_EQ(hbm.statistics()[1].written, Bytes(0)) << "debug access is not traffic";
  });
}

TEST(Hbm, WhatItCannotDoIsAnsweredWithTheRightError) {
  in_child([] {
    Bench bench(memory_of(4));
    const Picoseconds step(100'000);
    constexpr std::uint64_t capacity = 1 << 20;
    const Transaction& last_block = bench.port().read(Picoseconds(0), HbmAddress(capacity - 256), block);
    const Transaction& beyond = bench.port().read(step, HbmAddress(capacity - 255), block);
    const Transaction& other_cube = bench.port().read(2 * step, HbmAddress(CubeId(1), Bytes(0)), block);
    Transaction& byte_enables = bench.port().write(3 * step, HbmAddress(0), numbers(256));
    std::array<std::uint8_t, 1> enable{0xFF};
    byte_enables.payload.set_byte_enable_ptr(enable.data());
    byte_enables.payload.set_byte_enable_length(0);
    Transaction& streaming = bench.port().write(4 * step, HbmAddress(0), numbers(256));
    streaming.payload.set_streaming_width(4);
    Transaction& ignore = bench.port().read(5 * step, HbmAddress(0), block);
    ignore.payload.set_command(tlm::TLM_IGNORE_COMMAND);
    const Transaction& untouched = bench.port().read(6 * step, HbmAddress(0), block);
    bench.run();

    EXPECT_EQ(last_block.status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(beyond.status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(other_cube.status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(byte_enables.status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(streaming.status(), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(ignore.status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(untouched.data, std::vector<std::uint8_t>(256)) << "a refused write leaves no bytes";
    // An error comes after the latency: no channel is occupied.
    EXPECT_EQ(beyond.response, step + latency);
    EXPECT_EQ(ignore.response, 5 * step + latency);
  });
}

// ---- byte enables and direct memory

TEST(Hbm, MovesTheBytesThatAreEnabled) {
  in_child([] {
    Bench bench(memory_of(4));
    // Given enables of three bytes, which are repeated over the data: bytes 0, 1, 3, 4, 6, 7 of 8
    std::array<std::uint8_t, 3> enables{TLM_BYTE_ENABLED, TLM_BYTE_ENABLED, TLM_BYTE_DISABLED};
    Transaction& write = bench.port().write(Picoseconds(0), HbmAddress(16), numbers(8));
    Transaction& whole = bench.port().read(Picoseconds(100'000), HbmAddress(16), Bytes(8));
    Transaction& part = bench.port().read(Picoseconds(200'000), HbmAddress(16), Bytes(8));
    for (Transaction* transaction : {&write, &part}) {
      transaction->payload.set_byte_enable_ptr(enables.data());
      transaction->payload.set_byte_enable_length(3);
    }
    std::fill(part.data.begin(), part.data.end(), std::uint8_t{0xEE});
    bench.run();
    EXPECT_EQ(write.status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(whole.data, (std::vector<std::uint8_t>{1, 2, 0, 4, 5, 0, 7, 8}));
    EXPECT_EQ(part.data, (std::vector<std::uint8_t>{1, 2, 0xEE, 4, 5, 0xEE, 7, 8}));
    // The others count as unwritten, and the time is that of all bytes.
    EXPECT_EQ(bench.hbm().first_unwritten(Bytes(16), Bytes(8)), Bytes(18));
    EXPECT_EQ(bench.hbm().first_unwritten(Bytes(19), Bytes(2)), Bytes(21));
    EXPECT_EQ(write.response, latency + Picoseconds(8 * ps_per_byte));
  });
}

/// A port that asks for direct memory.
class Asker : public sc_core::sc_module {
 public:
  explicit Asker(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
  tlm_utils::simple_initiator_socket<Asker> socket;

  [[nodiscard]] bool ask(std::uint64_t address, tlm::tlm_dmi& dmi) {
    tlm::tlm_generic_payload payload;
    payload.set_address(address);
    payload.set_read();
    return socket->get_direct_mem_ptr(payload, dmi);
  }
};

TEST(Hbm, GrantsDirectMemoryWhereThatIsAllowed) {
  in_child([] {
    Hbm hbm("hbm", CubeId(1), memory_of(4), DataMode::full, 1);
    Asker asker("asker");
    asker.socket.bind(hbm.socket(0));
    const std::vector<std::uint8_t> bytes = numbers(4);
    hbm.write(Bytes(0x10100), bytes.data(), Bytes(4));
    const std::uint64_t address = HbmAddress(CubeId(1), Bytes(0x10102)).value();
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(asker.ask(address, dmi));
    hbm.allow_direct_memory();
    ASSERT_TRUE(asker.ask(address, dmi));
    // A page of 64 KiB, which holds what was written, and zeroes elsewhere.
    EXPECT_EQ(dmi.get_start_address(), HbmAddress(CubeId(1), Bytes(0x10000)).value());
    EXPECT_EQ(dmi.get_end_address(), HbmAddress(CubeId(1), Bytes(0x1FFFF)).value());
    EXPECT_TRUE(dmi.is_read_write_allowed());
    EXPECT_EQ(dmi.get_dmi_ptr()[0x102], 3);
    EXPECT_EQ(dmi.get_dmi_ptr()[0x104], 0);
    // What is written through the pointer is there, also after other bytes were written in the usual way.
    dmi.get_dmi_ptr()[0x200] = 77;
    hbm.write(Bytes(0x10300), bytes.data(), Bytes(4));
    std::uint8_t read = 0;
    hbm.read(Bytes(0x10200), &read, Bytes(1));
    EXPECT_EQ(read, 77);
    EXPECT_EQ(dmi.get_dmi_ptr()[0x301], 2);
    EXPECT_EQ(hbm.first_unwritten(Bytes(0x10000), Bytes(0x10000)), Bytes(0x20000));
    // Not in another cube, and not beyond the capacity of 1 MiB.
    EXPECT_FALSE(asker.ask(HbmAddress(CubeId(0), Bytes(0)).value(), dmi));
    EXPECT_FALSE(asker.ask(HbmAddress(CubeId(1), Bytes(1 << 20)).value(), dmi));
    Hbm without_data("without_data", CubeId(0), memory_of(4), DataMode::none, 1);
    Asker other("other");
    other.socket.bind(without_data.socket(0));
    without_data.allow_direct_memory();
    EXPECT_FALSE(other.ask(0, dmi));
  });
}

TEST(Hbm, AKernelsAccessBeyondTheCapacityFailsWithItsPlace) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    in_child([policy] {
      SystemConfig config = one_cube();
      config.hbm.capacity = Bytes(0x10000);
      Simulation simulation(config);
      int line = 0;
      const std::string message = simulation.run_failing(
          [&line](tl::Context& tl) {
            line = __LINE__ + 1;
            tl.load(HbmAddress(0xFFF0), {4, 8}, DType::f32);
          },
          policy);
      EXPECT_NE(message.find("PE 0"), std::string::npos) << message;
      EXPECT_NE(message.find("memory/dma_read of 4x8 f32"), std::string::npos) << message;
      EXPECT_NE(message.find("cube 0, offset 0xfff0"), std::string::npos) << message;
      EXPECT_NE(message.find("hbm_test.cpp:" + std::to_string(line)), std::string::npos) << message;
      EXPECT_NE(message.find("ADDRESS_ERROR"), std::string::npos) << message;
    });
  }
}

}  // namespace
}  // namespace kernwave::hbm_test
