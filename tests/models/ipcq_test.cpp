// Queues between PEs: where they lead, what a message takes, and how two counts bound a sender.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/ipcq/topology.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::ipcq_test {
namespace {

using testing::in_child;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds issue_send = 8 * cycle;
constexpr Picoseconds issue_receive = 6 * cycle;
constexpr Picoseconds dispatch = 2 * cycle;
constexpr Picoseconds hop = 100 * cycle;
constexpr tl::Shape tile{64, 128};             // of f16: 16 KiB
constexpr Picoseconds transfer = 128 * cycle;  // 16,384 B / 128 GB/s
constexpr Picoseconds start = issue_send + dispatch;
constexpr Picoseconds landing = start + hop + transfer;
static_assert(landing == 238 * cycle);

const tl::Queues from_west{{Direction::west}, Bytes(16384)};

/// `cubes` cubes of `pes` PEs; PE `pes` is the eastern neighbour of PE 0.
[[nodiscard]] SystemConfig machine(std::int64_t cubes, std::int64_t pes = 1) {
  SystemConfig config;
  config.cubes = cubes;
  config.pes_per_cube = pes;
  return config;
}

// ---- topology

[[nodiscard]] std::vector<std::int64_t> around(const SystemConfig& config, std::int64_t pe) {
  std::vector<std::int64_t> found;
  for (const Direction direction : {Direction::north, Direction::south, Direction::east, Direction::west}) {
    const auto other = neighbour(config, PeId(pe), direction);
    found.push_back(other ? other->count() : -1);
  }
  return found;
}

using Around = std::vector<std::int64_t>;  // north, south, east, west; -1: nobody

TEST(IpcqTopology, ARingLeadsAroundTheCubesAndALineAlongTheCube) {
  const SystemConfig config = machine(8, 8);
  EXPECT_EQ(around(config, 0), (Around{-1, 1, 8, 56}));
  EXPECT_EQ(around(config, 7), (Around{6, -1, 15, 63}));
  EXPECT_EQ(around(config, 58), (Around{57, 59, 2, 50}));
}

TEST(IpcqTopology, ARingOfTwoMeetsTheOtherOnBothSidesAndARingOfOneNobody) {
  EXPECT_EQ(around(machine(2), 0), (Around{-1, -1, 1, 1}));
  EXPECT_EQ(around(machine(1), 0), (Around{-1, -1, -1, -1}));
}

TEST(IpcqTopology, ALineEnds) {
  SystemConfig config = machine(3, 2);
  config.pe.ipcq.topology = IpcqTopology::line;
  EXPECT_EQ(around(config, 0), (Around{-1, 1, 2, -1}));
  EXPECT_EQ(around(config, 3), (Around{2, -1, 5, 1}));
  EXPECT_EQ(around(config, 4), (Around{-1, 5, -1, 2}));
}

TEST(IpcqTopology, AMeshIsAsSquareAsItCanBeAndStaysInsideTheCube) {
  SystemConfig config = machine(2, 8);  // 2 rows of 4
  config.pe.ipcq.topology = IpcqTopology::mesh;
  EXPECT_EQ(around(config, 0), (Around{-1, 4, 1, -1}));
  EXPECT_EQ(around(config, 3), (Around{-1, 7, -1, 2}));
  EXPECT_EQ(around(config, 13), (Around{9, -1, 14, 12}));
  config.pes_per_cube = 7;  // a prime number is one row
  EXPECT_EQ(around(config, 10), (Around{-1, -1, 11, 9}));
}

TEST(IpcqTopology, WhoeverHasANeighbourIsItsNeighbourOnTheOtherSide) {
  for (const auto topology : {IpcqTopology::ring, IpcqTopology::line, IpcqTopology::mesh}) {
    SystemConfig config = machine(3, 6);
    config.pe.ipcq.topology = topology;
    for (std::int64_t pe = 0; pe < 18; ++pe) {
      for (const auto& [direction, other] : neighbours(config, PeId(pe))) {
        EXPECT_EQ(neighbour(config, other, opposite(direction)), PeId(pe));
      }
    }
  }
}

// ---- time

[[nodiscard]] tl::Kernel send_east(int messages) {
  return [messages](tl::Context& tl) {
    const auto x = tl.buffer(tile, DType::f16);
    for (int i = 0; i < messages; ++i) tl.send(Direction::east, x);
  };
}

[[nodiscard]] tl::Kernel receive_west(int messages) {
  return [messages](tl::Context& tl) {
    for (int i = 0; i < messages; ++i) {
      auto scope = tl.scratch_scope();
      tl.recv(Direction::west, tile, DType::f16);
    }
  };
}

TEST(Ipcq, OneMessageTakesTheHopAndItsBytes) {
  in_child([] {
    Simulation simulation(machine(2));
    simulation.run_parts({{0, send_east(1)}, {1, receive_west(1)}}, from_west);
    EXPECT_EQ(simulation.latency(), landing);
    // Sent as a posted operation, its end is the landing; the receiver waits from its own issue on.
    EXPECT_EQ(simulation.pe(0).cpu().local_time(), landing);
    EXPECT_EQ(simulation.time(TimeCause::receive, 1), landing - issue_receive);
    EXPECT_EQ(simulation.time(TimeCause::drain, 0), landing - issue_send);
    const auto rows = simulation.rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(name_of(rows[0].descriptor), "ipcq_copy");
    EXPECT_EQ(rows[0].start, start);
    EXPECT_EQ(rows[0].end, landing);
    EXPECT_EQ(name_of(rows[1].descriptor), "ipcq_recv");
    EXPECT_EQ(rows[1].start, issue_receive + dispatch);
    EXPECT_EQ(rows[1].end, landing);
    EXPECT_EQ(transferred_bytes(rows[0].descriptor), Bytes(16384));
    EXPECT_EQ(rows[0].descriptor.ipcq().peer, PeId(1));
    EXPECT_EQ(rows[1].descriptor.ipcq().peer, PeId(0));
  });
}

TEST(Ipcq, AMessageThatHasLandedCostsItsReceiverTheIssueAlone) {
  in_child([] {
    Simulation simulation(machine(2));
    const auto late = [](tl::Context& tl) {
      tl.wait(tl.full({256, 512}, 0.0, DType::f32));  // 512 vectors: long after the landing
      tl.recv(Direction::west, tile, DType::f16);
    };
    simulation.run_parts({{0, send_east(1)}, {1, late}}, from_west);
    EXPECT_EQ(simulation.latency(), 2 * cycle + dispatch + 512 * cycle + issue_receive + dispatch);
  });
}

TEST(Ipcq, TheWindowComesBackOneHopAfterTheReceive) {
  in_child([] {
    Simulation simulation(machine(2));  // window 1, depth 2
    simulation.run_parts({{0, send_east(2)}, {1, receive_west(2)}}, from_west);
    EXPECT_EQ(simulation.latency(), landing + hop + landing);
    EXPECT_EQ(simulation.time(TimeCause::credit, 0), landing + hop - issue_send);
    EXPECT_EQ(simulation.pe(0).ipcq().in_flight(Direction::east).most, 1);
    // In flight: from the credit to the receive. The first from 0 on, the second from the end of its wait on.
    EXPECT_EQ(simulation.pe(0).ipcq().in_flight(Direction::east).total, 2 * landing);
  });
}

TEST(Ipcq, WithAWiderWindowMessagesFollowOneAnotherOnTheLink) {
  in_child([] {
    SystemConfig config = machine(2);
    config.pe.ipcq.window = 2;
    Simulation simulation(config);
    simulation.run_parts({{0, send_east(2)}, {1, receive_west(2)}}, from_west);
    EXPECT_EQ(simulation.latency(), landing + transfer);
    EXPECT_EQ(simulation.pe(0).ipcq().in_flight(Direction::east).most, 2);
    EXPECT_EQ(simulation.system().queue_link(PeId(0), Direction::east)->statistics().busy, 2 * transfer);
    EXPECT_EQ(simulation.system().queue_link(PeId(0), Direction::east)->statistics().bytes, Bytes(2 * 16384));
    EXPECT_EQ(simulation.system().queue_link(PeId(0), Direction::west)->statistics().messages, 0);
  });
}

TEST(Ipcq, ASlotIsFreeWhenItsScopeHasEndedAndItsLastReaderIsDone) {
  in_child([] {
    SystemConfig config = machine(2);
    config.pe.ipcq.depth = 1;
    config.pe.ipcq.window = 2;
    Simulation simulation(config);
    // The received tile is read by a product of 512 x 128 times 128 x 64.
    const auto reader = [](tl::Context& tl) {
      const auto a = tl.buffer({512, 128}, DType::f16);
      for (int i = 0; i < 2; ++i) {
        auto scope = tl.scratch_scope();
        const auto x = tl.recv(Direction::west, tile, DType::f16);
        tl.dot(a, tl.trans(x));
      }
    };
    simulation.run_parts({{0, send_east(2)}, {1, reader}}, from_west, tl::Policy::stall_on_use);
    // 512 x 128 x 64 / 4,096 = 1,024 cycles.
    const Picoseconds free = landing + 6 * cycle + dispatch + 1024 * cycle;
    EXPECT_EQ(simulation.time(TimeCause::credit, 0), free + hop - issue_send);
    EXPECT_EQ(simulation.rows()[3].end, free + hop + landing);
  });
}

TEST(Ipcq, SlotsFallFreeInTheOrderOfTheirMessagesAlsoAheadOfSimulatedTime) {
  in_child([] {
    SystemConfig config = machine(2);
    config.pe.ipcq.window = 3;
    Simulation simulation(config);
    // The scope of message 1 ends before that of message 0, and 10 loads of 8 cycles are issued in between.
    Picoseconds inner_end;
    Picoseconds outer_end;
    const auto receiver = [&](tl::Context& tl) {
      {
        auto outer = tl.scratch_scope();
        tl.recv(Direction::west, tile, DType::f16);
        const auto buffers = tl.buffers(10, {64}, DType::f32);
        {
          auto inner = tl.scratch_scope();
          tl.recv(Direction::west, tile, DType::f16);
        }
        inner_end = simulation.pe(1).cpu().local_time();
        for (const tl::Tensor& buffer : buffers) {
          tl.load(HbmAddress(CubeId(1), Bytes(0)), {64}, DType::f32, tl::into(buffer));
        }
        outer_end = simulation.pe(1).cpu().local_time();
      }
      tl.recv(Direction::west, tile, DType::f16);
    };
    simulation.run_parts({{0, send_east(3)}, {1, receiver}}, from_west);
    EXPECT_EQ(outer_end - inner_end, 10 * 8 * cycle);
    // The third message waits for slot 0, which is free when the outer scope has ended.
    EXPECT_EQ(simulation.rows().back().descriptor.ipcq().action, IpcqAction::receive);
    EXPECT_EQ(simulation.latency(), outer_end + hop + landing);
  });
}

TEST(Ipcq, PesThatShareALinkShareItsBandwidthInTheOrderOfTheirNumbers) {
  for (const auto order : {ConstructionOrder::ascending, ConstructionOrder::descending}) {
    in_child([order] {
      SystemConfig config = machine(2, 3);
      config.pe.ipcq.shared_per_cube = true;
      Simulation simulation(config, DataMode::full, order);
      std::vector<Simulation::Part> parts;
      for (std::int64_t pe = 0; pe < 3; ++pe) {
        parts.push_back({pe, send_east(1)});
        parts.push_back({pe + 3, receive_west(1)});
      }
      simulation.run_parts(parts, from_west);
      for (std::int64_t pe = 0; pe < 3; ++pe) {
        EXPECT_EQ(simulation.pe(pe).cpu().local_time(), landing + pe * transfer);
      }
    });
  }
}

TEST(Ipcq, WithoutSharingNobodySlowsAnybodyDown) {
  in_child([] {
    Simulation simulation(machine(2, 3));
    simulation.run_parts({{0, send_east(1)}, {3, receive_west(1)}, {1, send_east(1)}, {4, receive_west(1)}}, from_west);
    EXPECT_EQ(simulation.latency(), landing);
  });
}

TEST(Ipcq, ARelayOnAZeroIssueTableTakesTheHopsAndDispatchesAlone) {
  in_child([] {
    SystemConfig config = machine(3);
    config.pe.issue = IssueCosts{Cycles(0), Cycles(0), Cycles(0), Cycles(0), Cycles(0), Cycles(0), Cycles(0)};
    Simulation simulation(config);
    const auto relay = [](tl::Context& tl) { tl.send(Direction::east, tl.recv(Direction::west, tile, DType::f16)); };
    simulation.run_parts({{0, send_east(1)}, {1, relay}, {2, receive_west(1)}}, from_west);
    EXPECT_EQ(simulation.latency(), 2 * (dispatch + hop + transfer));
    for (std::int64_t pe = 0; pe < 3; ++pe) EXPECT_EQ(simulation.time(TimeCause::issue, pe), Picoseconds(0));
  });
}

TEST(Ipcq, TimesAndLogAreTheSameWithoutDataAndInAnyOrderOfConstruction) {
  const auto log = [](DataMode mode, ConstructionOrder order) {
    return testing::from_child([=] {
      SystemConfig config = machine(4, 2);
      config.pe.ipcq.depth = 3;  // the kernel below keeps all that it receives
      Simulation simulation(config, mode, order);
      std::vector<Simulation::Part> parts;
      for (std::int64_t pe = 0; pe < 8; ++pe) {
        parts.push_back({pe, [](tl::Context& tl) {
                           auto x = tl.load(HbmAddress(CubeId(tl.pe_id().count() / 2), Bytes(0)), tile, DType::f16);
                           for (int step = 0; step < 3; ++step) {
                             tl.send(Direction::east, x);
                             x = tl.recv(Direction::west, tile, DType::f16);
                           }
                         }});
      }
      simulation.run_parts(parts, from_west);
      return simulation.log_text();
    });
  };
  const std::string expected = log(DataMode::full, ConstructionOrder::ascending);
  EXPECT_GT(expected.size(), 1000U);
  EXPECT_EQ(log(DataMode::none, ConstructionOrder::ascending), expected);
  EXPECT_EQ(log(DataMode::full, ConstructionOrder::descending), expected);
  EXPECT_EQ(log(DataMode::full, ConstructionOrder::interleaved), expected);
}

}  // namespace
}  // namespace kernwave::ipcq_test
