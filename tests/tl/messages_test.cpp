// send, recv, recv_async: what arrives, in which order, and what never does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::messages_test {
namespace {

using testing::contains;
using testing::eighths;
using testing::in_child;
using testing::in_child_for_each_policy;
using testing::Simulation;
using testing::Values;

const tl::Queues from_west{{Direction::west}, Bytes(4096)};

[[nodiscard]] SystemConfig cubes(std::int64_t count, std::int64_t depth = 2) {
  SystemConfig config;
  config.cubes = count;
  config.pes_per_cube = 1;
  config.pe.ipcq.depth = depth;
  return config;
}

[[nodiscard]] HbmAddress at(std::int64_t cube, std::int64_t offset = 0) {
  return HbmAddress(CubeId(cube), Bytes(offset));
}

TEST(Messages, BringWhatWasSentIntoTheSlotItself) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(cubes(2));
    const Values sent = eighths({8, 16}, DType::f16, 1);
    testing::put(simulation, at(0), sent);
    const auto sender = [](tl::Context& tl) {
      const auto x = tl.load(at(0), {8, 16}, DType::f16);
      for (int i = 0; i < 3; ++i) tl.send(Direction::east, x);
    };
    const auto receiver = [](tl::Context& tl) {
      for (std::int64_t i = 0; i < 3; ++i) {
        auto scope = tl.scratch_scope();
        const auto x = tl.recv(Direction::west, {8, 16}, DType::f16);
        // Two slots of 4 KiB at the top of 1 MiB, used in turn; nothing is copied.
        EXPECT_EQ(x.address(), ScratchAddress((1 << 20) - 8192 + i % 2 * 4096));
        tl.store(at(1, 4096 * i), x);
      }
    };
    simulation.run_parts({{0, sender}, {1, receiver}}, from_west, policy);
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(testing::get(simulation, at(1, 4096 * i), {8, 16}, DType::f16), sent) << "message " << i;
    }
    EXPECT_EQ(simulation.pe(1).scratch().peak(), Bytes(8192));
    EXPECT_EQ(simulation.pe(0).ipcq().sends().operations, 3);
    EXPECT_EQ(simulation.pe(1).ipcq().receives(), 3);
  });
}

TEST(Messages, OfSeveralTensorsHoldThemOneAfterAnother) {
  in_child([] {
    Simulation simulation(cubes(2));
    const auto sender = [](tl::Context& tl) {
      tl.send(Direction::east, {tl.full({2, 3}, 1.0, DType::f32), tl.full({3}, 2.0, DType::f32)});
    };
    const auto receiver = [](tl::Context& tl) {
      const auto both = tl.recv(Direction::west, {9}, DType::f32);
      tl.store(at(1), tl.slice(both, 5, 8));
      tl.store(at(1, 64), tl.reshape(tl.slice(both, 0, 6), {3, 2}));
    };
    simulation.run_parts({{0, sender}, {1, receiver}}, from_west);
    EXPECT_EQ(simulation.read(at(1), DType::f32, 3), (std::vector<float>{1, 2, 2}));
    EXPECT_EQ(simulation.read(at(1, 64), DType::f32, 6), (std::vector<float>{1, 1, 1, 1, 1, 1}));
  });
}

TEST(Messages, SliceIsAViewThatCostsNothing) {
  in_child([] {
    Simulation simulation(cubes(1));
    simulation.run([](tl::Context& tl) {
      const auto x = tl.expand_dims(tl.arange(0, 6), 1);
      tl.store(at(0), tl.slice(x, 2, 5));
      EXPECT_EQ(tl.slice(x, 2, 5).shape(), (tl::Shape{3, 1}));
    });
    EXPECT_EQ(simulation.read(at(0), DType::int32, 3), (std::vector<float>{2, 3, 4}));
    EXPECT_EQ(simulation.rows().size(), 2U);
  });
}

TEST(Messages, ASendLetsTheReceiverSeeWhatWasStoredBefore) {
  // PE 1 is PE 0's southern neighbour in the same cube.
  in_child_for_each_policy([](tl::Policy policy) {
    SystemConfig config = cubes(1);
    config.pes_per_cube = 2;
    config.hbm.queue_depth = 1;  // a second store stays outside the memory until the first has ended
    Simulation simulation(config);
    testing::put(simulation, at(0), testing::tabulate({32, 64}, DType::f32, [](auto, auto) { return 7.0; }));
    const auto sender = [](tl::Context& tl) {
      const auto token = tl.buffer({1}, DType::f32);
      tl.store(at(0, 1 << 20), tl.full({512, 256}, 9.0, DType::f32));
      tl.store(at(0), tl.full({32, 64}, 8.0, DType::f32));
      tl.send(Direction::south, token);
    };
    const auto receiver = [](tl::Context& tl) {
      tl.recv(Direction::north, {1}, DType::f32);
      tl.store(at(0, 65536), tl.load(at(0), {32, 64}, DType::f32));
    };
    simulation.run_parts({{0, sender}, {1, receiver}}, {{Direction::north}, Bytes(64)}, policy);
    EXPECT_EQ(testing::get(simulation, at(0, 65536), {32, 64}, DType::f32),
              testing::tabulate({32, 64}, DType::f32, [](auto, auto) { return 8.0; }));
    EXPECT_EQ(simulation.time(TimeCause::memory_order) > Picoseconds(0), policy != tl::Policy::blocking);
  });
}

TEST(Messages, ASentTensorMayBeOverwrittenAtOnce) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(cubes(2));
    const auto sender = [](tl::Context& tl) {
      const auto x = tl.full({512}, 1.0, DType::f32);
      tl.send(Direction::east, x);
      tl.fill(x, 2.0);
    };
    const auto receiver = [](tl::Context& tl) { tl.store(at(1), tl.recv(Direction::west, {512}, DType::f32)); };
    simulation.run_parts({{0, sender}, {1, receiver}}, from_west, policy);
    EXPECT_EQ(simulation.read(at(1), DType::f32, 512), std::vector<float>(512, 1.0F));
    // It is the program that waits with the overwriting, until the message has landed.
    EXPECT_EQ(simulation.time(TimeCause::scratch) > Picoseconds(0), policy != tl::Policy::blocking);
  });
}

/// Every rank sends, then receives, around a ring.
[[nodiscard]] std::vector<Simulation::Part> ring(std::int64_t ranks, int sends_ahead) {
  std::vector<Simulation::Part> parts;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    parts.push_back({rank, [sends_ahead](tl::Context& tl) {
                       const auto x = tl.buffer({256}, DType::f32);
                       for (int i = 0; i < sends_ahead; ++i) tl.send(Direction::east, x);
                       for (int i = 0; i < sends_ahead; ++i) tl.recv(Direction::west, {256}, DType::f32);
                     }});
  }
  return parts;
}

TEST(Messages, ARingInWhichEverybodySendsFirstCompletesWithOneSlot) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(cubes(4, 1));
    simulation.run_parts(ring(4, 1), from_west, policy);
  });
}

/// Keeps events coming for ever, as a user's clock does.
void start_clock() {
  sc_core::sc_spawn([] {
    while (true) sc_core::wait(to_sc_time(Picoseconds(1000)));
  });
}

TEST(Deadlock, OfARingThatSendsMoreThanItMayNamesEveryPeAndItsSend) {
  for (const bool with_clock : {false, true}) {
    in_child([with_clock] {
      if (with_clock) start_clock();
      Simulation simulation(cubes(4, 1));
      const std::string report = simulation.run_deadlocked_parts(ring(4, 2), from_west);
      for (int pe = 0; pe < 4; ++pe) {
        const std::string line = "PE " + std::to_string(pe) + " waits for credit: send to the east at " + __FILE__;
        EXPECT_TRUE(contains(report, line)) << report;
      }
      EXPECT_TRUE(contains(report, "0 of 1 slots are free, 1 of 1 messages of the window are not received")) << report;
    });
  }
}

// A20
TEST(Deadlock, OfAReceiveThatNobodySendsNamesTheBlockedPeAndItsQueue) {
  for (const bool with_clock : {false, true}) {
    in_child([with_clock] {
      if (with_clock) start_clock();
      Simulation simulation(cubes(3));
      int line = 0;
      const auto waits = [&line](tl::Context& tl) {
        line = __LINE__ + 1;
        tl.recv(Direction::west, {2, 8}, DType::f16);
      };
      const auto ends = [](tl::Context& tl) { tl.zeros({64}, DType::f32); };
      const std::string report = simulation.run_deadlocked_parts({{1, waits}, {2, ends}}, from_west);
      EXPECT_EQ(report, "PE 1 waits for receive: comm/ipcq_recv of 2x8 f16 from PE 0 (west), issued at " +
                            std::string(__FILE__) + ":" + std::to_string(line) + "\n");
    });
  }
}

TEST(Deadlock, OfAnAsynchronousReceiveIsFoundWhereItsTensorIsUsed) {
  in_child([] {
    Simulation simulation(cubes(2));
    const auto waits = [](tl::Context& tl) {
      const auto x = tl.recv_async(Direction::west, {64}, DType::f32);
      tl.add(x, 1.0);
    };
    EXPECT_TRUE(contains(simulation.run_deadlocked_parts({{0, waits}}, from_west), "PE 0 waits for receive"));
  });
}

TEST(Deadlock, IsNotSeenWhileSomethingIsStillOnItsWay) {
  // The sender computes for long, then sends; meanwhile the receiver waits and nothing else happens.
  in_child([] {
    Simulation simulation(cubes(2));
    const auto sender = [](tl::Context& tl) {
      const auto x = tl.buffer({256, 512}, DType::f32);
      for (int i = 0; i < 5; ++i) tl.fill(x, 0.0);
      tl.send(Direction::east, tl.buffer({4}, DType::f32));
    };
    const auto receiver = [](tl::Context& tl) { tl.recv(Direction::west, {4}, DType::f32); };
    simulation.run_parts({{0, sender}, {1, receiver}}, from_west);
  });
}

TEST(Deadlock, IsNotSeenWhileSomebodyOutsideTheModelHoldsAnActivity) {
  in_child([] {
    Simulation simulation(cubes(2));
    RunLedger& ledger = simulation.system().ledger();
    ledger.activity_begins();
    Picoseconds released;
    sc_core::sc_spawn([&] {
      sc_core::wait(to_sc_time(Picoseconds(5'000'000)));
      released = now();
      ledger.activity_ends();
    });
    const auto waits = [](tl::Context& tl) { tl.recv(Direction::west, {4}, DType::f32); };
    EXPECT_TRUE(contains(simulation.run_deadlocked_parts({{0, waits}}, from_west), "PE 0 waits for receive"));
    EXPECT_EQ(released, Picoseconds(5'000'000));
  });
}

// ---- errors

[[nodiscard]] std::string error_of(const tl::Kernel& kernel, const tl::Queues& queues = from_west) {
  return testing::from_child([&] {
    Simulation simulation(cubes(2));
    const auto other = [](tl::Context& tl) { tl.zeros({4096, 16}, DType::f32); };
    return simulation.run_failing_parts({{0, kernel}, {1, other}}, queues);
  });
}

TEST(MessageErrors, NameWhatIsWrong) {
  using Context = tl::Context;
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.send(Direction::north, tl.buffer({4}, DType::f32)); }),
                       "there is no PE in the north"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.send(Direction::west, tl.buffer({4}, DType::f32)); }),
                       "the PE in the west does not receive from the east"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.send(Direction::east, tl.buffer({1025}, DType::f32)); }),
                       "a message of 4100 B does not fit into the 4096 B of a slot"));
  EXPECT_TRUE(contains(error_of([](Context& tl) {
                         tl.send(Direction::east, tl.trans(tl.buffer({4, 4}, DType::f32)));
                       }),
                       "the tensor must be dense; copy it first: 4x4 f32"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.send(Direction::east, std::vector<tl::Tensor>{}); }),
                       "a message is made of 1 to 4 tensors, not 0"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.recv(Direction::east, {4}, DType::f32); }),
                       "the launch declares no queue from the east"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.recv(Direction::south, {4}, DType::f32); }),
                       "there is no PE in the south"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { tl.recv(Direction::west, {2048}, DType::f32); }),
                       "2048 f32 needs 8192 B, a slot has 4096 B"));
  EXPECT_TRUE(contains(error_of([](Context& tl) { (void)tl.slice(tl.buffer({4}, DType::f32), 2, 5); }),
                       "2 to 5 does not lie inside 4"));
}

TEST(MessageErrors, OfAMessageOfAnotherSizeNameBoth) {
  const auto error_of_sizes = [](std::int64_t sent, const tl::Shape& received, DType dtype) {
    return testing::from_child([&] {
      Simulation simulation(cubes(2));
      const auto sender = [&](tl::Context& tl) { tl.send(Direction::east, tl.buffer({sent}, DType::f32)); };
      const auto receiver = [&](tl::Context& tl) { tl.recv(Direction::west, received, dtype); };
      return simulation.run_failing_parts({{0, sender}, {1, receiver}}, from_west);
    });
  };
  // Given a receive that is larger than its message
  const std::string larger = error_of_sizes(4, {8}, DType::f32);
  EXPECT_TRUE(contains(larger, "PE 1: comm/ipcq_recv of 1x8 f32 from PE 0 (west), issued at ")) << larger;
  EXPECT_TRUE(contains(larger, "the message that landed has 16 B, the receive 32 B")) << larger;
  // and one that is smaller, by half, by one element of its own, or by its type.
  const std::string half = error_of_sizes(8, {4}, DType::f32);
  EXPECT_TRUE(contains(half, "PE 1: comm/ipcq_recv of 1x4 f32 from PE 0 (west), issued at ")) << half;
  EXPECT_TRUE(contains(half, "the message that landed has 32 B, the receive 16 B")) << half;
  const std::string by_one = error_of_sizes(4, {7}, DType::f16);
  EXPECT_TRUE(contains(by_one, "the message that landed has 16 B, the receive 14 B")) << by_one;
  const std::string of_type = error_of_sizes(8, {2, 4}, DType::f16);
  EXPECT_TRUE(contains(of_type, "the message that landed has 32 B, the receive 16 B")) << of_type;
}

TEST(MessageErrors, AreToldThoughTheProgramWaitsForSomethingElse) {
  in_child([] {
    Simulation simulation(cubes(3));
    const auto sender = [](tl::Context& tl) { tl.send(Direction::east, tl.buffer({4}, DType::f32)); };
    const auto receiver = [](tl::Context& tl) {
      const auto wrong = tl.recv_async(Direction::west, {8}, DType::f32);
      tl.recv(Direction::east, {8}, DType::f32);  // nobody sends it
      tl.wait(wrong);
    };
    const std::string message =
        simulation.run_failing_parts({{0, sender}, {1, receiver}}, {{Direction::west, Direction::east}, Bytes(4096)});
    EXPECT_TRUE(contains(message, "the message that landed has 16 B, the receive 32 B")) << message;
  });
}

TEST(MessageErrors, SlotsThatDoNotFitAreRefusedAtTheLaunch) {
  in_child([] {
    Simulation simulation(cubes(2));
    try {
      tl::launch(simulation.pe(), [](tl::Context&) {}, tl::Policy::lazy, {{Direction::west}, Bytes(1 << 20)});
      ADD_FAILURE() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(contains(error.what(), "scratch overflow: on PE 0, 2 slots of 1048576 B")) << error.what();
    }
  });
}

TEST(MessageErrors, AScratchOverflowCountsTheSlots) {
  const std::string message = error_of([](tl::Context& tl) { (void)tl.buffer({1 << 18}, DType::f32); });
  EXPECT_TRUE(contains(message, "0 of 1040384 B are in use")) << message;
  EXPECT_TRUE(contains(message, "the slots of queues hold 8192 B")) << message;
}

}  // namespace
}  // namespace kernwave::messages_test
