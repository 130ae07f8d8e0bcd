// Hazards in scratch and in HBM: results are those of program order, and the waits are booked on their cause.
//
// Memory is poisoned (or overwritten) the moment it is given to somebody else, so a wait that is missing shows in the
// result. Where a single wait is expected its length is known: the operation that is waited for was issued just before.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::hazards_test {
namespace {

using testing::get;
using testing::in_child_for_each_policy;
using testing::isolated_transfer;
using testing::one_cube;
using testing::put;
using testing::Simulation;
using testing::tabulate;
using testing::Values;

/// 4 KiB: one interleave block on each of the 16 channels, so `isolated_transfer` applies.
const tl::Shape tile{32, 32};
constexpr std::int64_t tile_bytes = 4096;

[[nodiscard]] HbmAddress tile_at(std::int64_t index) { return HbmAddress(CubeId(0), Bytes(index * tile_bytes)); }

[[nodiscard]] Values all(double value) {
  return tabulate(tile, DType::f32, [value](std::int64_t, std::int64_t) { return value; });
}

[[nodiscard]] Values tile_in(Simulation& simulation, std::int64_t index) {
  return get(simulation, tile_at(index), tile, DType::f32);
}

/// From the end of a transfer's issue to its end: 2 cycles of dispatch at 1 GHz, then the isolated transfer.
[[nodiscard]] Picoseconds transfer_after_issue() {
  return Picoseconds(2000) + isolated_transfer(one_cube(), Bytes(tile_bytes));
}

[[nodiscard]] bool waits_for_transfers(tl::Policy policy) { return policy == tl::Policy::blocking; }

/// Stores and loads leave their wait to the hazard, except under `blocking`, where it is paid at issue.
void expect_one_transfer_wait(Simulation& simulation, tl::Policy policy, TimeCause hazard, TimeCause at_issue) {
  const bool at_once = waits_for_transfers(policy);
  EXPECT_EQ(simulation.time(hazard), at_once ? Picoseconds(0) : transfer_after_issue()) << name_of(hazard);
  if (at_once) {
    EXPECT_GE(simulation.time(at_issue), transfer_after_issue()) << name_of(at_issue);
  }
}

/// Computations leave their wait to the hazard only under `stall_on_use`.
void expect_compute_hazard(Simulation& simulation, tl::Policy policy) {
  if (policy == tl::Policy::stall_on_use) {
    EXPECT_GT(simulation.time(TimeCause::scratch), Picoseconds(0));
  } else {
    EXPECT_EQ(simulation.time(TimeCause::scratch), Picoseconds(0));
  }
}

// ---- scratch: overwriting what is still read

TEST(ScratchHazards, CopyToOverTheSourceOfAStore) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto source = tl.full(tile, 1.0, DType::f32);
          const auto other = tl.full(tile, 2.0, DType::f32);
          tl.wait(other);
          tl.store(tile_at(0), source);
          tl.copy_to(source, other);  // a copy takes 4 ns, the store reads its source after 20 ns of setup
          tl.store(tile_at(1), source);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(1.0));
    EXPECT_EQ(tile_in(simulation, 1), all(2.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, OutOverTheSourceOfAStore) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full(tile, 3.0, DType::f32);
          tl.wait(x);
          tl.store(tile_at(0), x);
          tl.mul(x, 2.0F, tl::out(x));
          tl.store(tile_at(1), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(3.0));
    EXPECT_EQ(tile_in(simulation, 1), all(6.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, AnAccumulatorThatIsStillBeingStored) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto ones = tl.full({32, 1}, 1.0, DType::f32);
          const auto acc = tl.full(tile, 5.0, DType::f32);
          tl.wait(acc);
          tl.store(tile_at(0), acc);
          tl.dot(ones, tl.trans(ones), acc);  // 1 more everywhere
          tl.store(tile_at(1), acc);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(5.0));
    EXPECT_EQ(tile_in(simulation, 1), all(6.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, FillOverTheSourceOfAStoreThatGoesThroughAView) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full(tile, 4.0, DType::f32);
          tl.wait(x);
          tl.store(tile_at(0), tl.trans(x));
          tl.fill(tl.reshape(x, {1024}), -1.0);  // another view: the bytes share one record
          tl.store(tile_at(1), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(4.0));
    EXPECT_EQ(tile_in(simulation, 1), all(-1.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, LoadIntoTheSourceOfAStore) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(2), all(8.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full(tile, 7.0, DType::f32);
          tl.wait(x);
          tl.store(tile_at(0), x);
          tl.load(tile_at(2), tile, DType::f32, tl::into(x));
          tl.store(tile_at(1), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(7.0));
    EXPECT_EQ(tile_in(simulation, 1), all(8.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, LoadIntoAFactorOfADotThatStillRuns) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(2), all(-3.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.full(tile, 2.0, DType::f32);
          const auto b = tl.full(tile, 1.0, DType::f32);
          const auto product = tl.dot(a, b);  // 32 x 2 x 1 = 64 everywhere
          tl.load(tile_at(2), tile, DType::f32, tl::into(a));
          tl.store(tile_at(0), product);
          tl.store(tile_at(1), a);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(64.0));
    EXPECT_EQ(tile_in(simulation, 1), all(-3.0));
    expect_compute_hazard(simulation, policy);
  });
}

TEST(ScratchHazards, CopyToOverTheOperandOfAReductionThatStillRuns) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full(tile, 2.0, DType::f32);
          const auto y = tl.full(tile, 9.0, DType::f32);
          const auto sums = tl.sum(x, 1);  // 64
          tl.copy_to(x, y);
          tl.store(tile_at(0), tl.broadcast_to(tl.expand_dims(sums, 1), tile));
          tl.store(tile_at(1), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(64.0));
    EXPECT_EQ(tile_in(simulation, 1), all(9.0));
    expect_compute_hazard(simulation, policy);
  });
}

// ---- scratch: overwriting what is still written

TEST(ScratchHazards, ASecondLoadIntoTheSameTensor) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(2), all(1.0));
    put(simulation, tile_at(3), all(2.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.buffer(tile, DType::f32);
          tl.load(tile_at(2), tile, DType::f32, tl::into(x));
          tl.load(tile_at(3), {16, 32}, DType::f32, tl::into(tl.buffer({16, 32}, DType::f32)));
          tl.load(tile_at(3), tile, DType::f32, tl::into(x));
          tl.store(tile_at(0), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(2.0));
    EXPECT_EQ(simulation.time(TimeCause::scratch) > Picoseconds(0), !waits_for_transfers(policy));
  });
}

TEST(ScratchHazards, FillOverALoadInFlight) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(2), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.load(tile_at(2), tile, DType::f32);
          tl.fill(x, 6.0);  // without a wait the load would land on top
          tl.store(tile_at(0), x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(6.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::load);
  });
}

// ---- scratch: bytes that a scope has given back

TEST(ScratchHazards, AnAllocationOverALoadWhoseScopeHasEnded) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(2), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          {
            const auto scope = tl.scratch_scope();
            tl.load(tile_at(2), tile, DType::f32);
          }
          const auto y = tl.full(tile, 7.0, DType::f32);  // the load would land on it 100 ns later
          tl.store(tile_at(0), y);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(7.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::load);
  });
}

TEST(ScratchHazards, AnAllocationOverTheSourceOfAStoreWhoseScopeHasEnded) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          {
            const auto scope = tl.scratch_scope();
            const auto x = tl.full(tile, 3.0, DType::f32);
            tl.wait(x);
            tl.store(tile_at(0), x);
          }
          tl.store(tile_at(1), tl.full({8, 8}, 9.0, DType::f32));  // poisons its part when it is made
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(3.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::scratch, TimeCause::store);
  });
}

TEST(ScratchHazards, AnAllocationOverAFactorOfADotWhoseScopeHasEnded) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto product = tl.buffer(tile, DType::f32);
          {
            const auto scope = tl.scratch_scope();
            const auto a = tl.full(tile, 1.0, DType::f32);
            tl.dot(a, a, tl::out(product));  // 32
          }
          tl.full(tile, 5.0, DType::f32);
          tl.store(tile_at(0), product);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(32.0));
    expect_compute_hazard(simulation, policy);
  });
}

TEST(ScratchHazards, AnAllocationBesideBytesInFlightDoesNotWait) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          {
            const auto scope = tl.scratch_scope();
            static_cast<void>(tl.buffer(tile, DType::f32));
            tl.load(tile_at(2), tile, DType::f32);
          }
          tl.store(tile_at(0), tl.full(tile, 1.0, DType::f32));  // the bytes of the buffer, which nobody uses
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(1.0));
    EXPECT_EQ(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(ScratchHazards, TwoReadersOfOneTensorDoNotWaitForEachOther) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full(tile, 2.0, DType::f32);
          tl.store(tile_at(0), x);
          tl.store(tile_at(1), x);
          tl.store(tile_at(2), x + x);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(2.0));
    EXPECT_EQ(tile_in(simulation, 1), all(2.0));
    EXPECT_EQ(tile_in(simulation, 2), all(4.0));
    EXPECT_EQ(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(ScratchHazards, OfSeveralReadersAllAreWaitedFor) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [&](tl::Context& tl) {
          const PeCpu& cpu = simulation.pe().cpu();
          const auto x = tl.full(tile, 2.0, DType::f32);
          tl.wait(x);
          const Picoseconds end_of_store = cpu.local_time() + Picoseconds(8000) + transfer_after_issue();
          tl.store(tile_at(0), x);
          const auto y = x + x;  // reads x too, and is done long before
          tl.fill(x, 9.0);
          EXPECT_GE(cpu.local_time(), end_of_store);
          tl.store(tile_at(1), y);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(2.0));
    EXPECT_EQ(tile_in(simulation, 1), all(4.0));
  });
}

// ---- HBM

TEST(HbmOrder, ALoadThenAStoreToItsBytesThenItsUseIsTheOldValue) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(0), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto fresh = tl.full(tile, 2.0, DType::f32);
          tl.wait(fresh);
          const auto old = tl.load(tile_at(0), tile, DType::f32);
          tl.store(tile_at(0), fresh);
          tl.store(tile_at(1), old);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(2.0));
    EXPECT_EQ(tile_in(simulation, 1), all(1.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::memory_order, TimeCause::load);
  });
}

TEST(HbmOrder, AStoreThenALoadOfItsBytesIsTheNewValue) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(0), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto fresh = tl.full(tile, 2.0, DType::f32);
          tl.wait(fresh);
          tl.store(tile_at(0), fresh);
          tl.store(tile_at(1), tl.load(tile_at(0), tile, DType::f32));
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 1), all(2.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::memory_order, TimeCause::store);
  });
}

TEST(HbmOrder, AStoreThenALoadOfItsBytesThroughAFullWriteChannel) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(0), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto filler = tl.full(tile, 5.0, DType::f32);
          const auto fresh = tl.full(tile, 2.0, DType::f32);
          // 16 in the channel, 16 with the scheduler: the 33rd waits for a place.
          for (std::int64_t i = 0; i < 40; ++i) tl.store(tile_at(10 + i), filler);
          tl.store(tile_at(0), fresh);
          tl.store(tile_at(1), tl.load(tile_at(0), tile, DType::f32));
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 1), all(2.0));
    for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(tile_in(simulation, 10 + i), all(5.0)) << i;
    const bool at_once = waits_for_transfers(policy);
    EXPECT_EQ(simulation.time(TimeCause::queue) > Picoseconds(0), !at_once);
    EXPECT_EQ(simulation.time(TimeCause::memory_order) > Picoseconds(0), !at_once);
  });
}

TEST(HbmOrder, TheLaterOfTwoStoresToTheSameBytesWins) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto first = tl.full(tile, 1.0, DType::f32);
          const auto second = tl.full(tile, 2.0, DType::f32);
          tl.wait(second);
          tl.store(tile_at(0), first);
          tl.store(tile_at(0), second);
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(2.0));
    expect_one_transfer_wait(simulation, policy, TimeCause::memory_order, TimeCause::store);
  });
}

TEST(HbmOrder, OneSharedByteIsEnough) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto fresh = tl.full(tile, 2.0, DType::f32);
          tl.wait(fresh);
          tl.store(tile_at(0), fresh);
          // The last element of the store is the first one of the load.
          const HbmAddress last = HbmAddress(CubeId(0), Bytes(tile_bytes - 4));
          tl.store(tile_at(2), tl.load(last, {2}, DType::f32));
        },
        policy);
    EXPECT_EQ(get(simulation, tile_at(2), {2}, DType::f32), testing::vector_of(DType::f32, {2.0, 0.0}));
    expect_one_transfer_wait(simulation, policy, TimeCause::memory_order, TimeCause::store);
  });
}

TEST(HbmOrder, NeighboursAndReadersOfTheSameBytesDoNotWait) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.full({32, 16}, 1.0, DType::f32);
          const auto left = tl::StoreOptions().strides(32);
          tl.store(tile_at(0), x, left);                                            // columns 0 to 15
          tl.store(tile_at(0) + Bytes(64), x, left);                                // columns 16 to 31
          tl.load(tile_at(1), tile, DType::f32);                                    // the next bytes
          tl.load(tile_at(1), tile, DType::f32);                                    // and again
          tl.load(tile_at(0), tile, DType::f32, tl::LoadOptions().valid({0, 32}));  // no byte at all
        },
        policy);
    EXPECT_EQ(tile_in(simulation, 0), all(1.0));
    EXPECT_EQ(simulation.time(TimeCause::memory_order), Picoseconds(0));
  });
}

// ---- waits that the program asks for, and its end

TEST(Waits, AUseWaitsForTheLoadOnceAndOnlyOnce) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [&](tl::Context& tl) {
          const PeCpu& cpu = simulation.pe().cpu();
          const auto x = tl.load(tile_at(0), tile, DType::f32);
          tl.wait(x);
          const Picoseconds after = cpu.local_time();
          tl.wait(x);
          tl.wait(tl.trans(x));
          EXPECT_EQ(cpu.local_time(), after);
        },
        policy);
    EXPECT_EQ(simulation.time(TimeCause::load), transfer_after_issue());
    EXPECT_EQ(simulation.latency(), Picoseconds(8000) + transfer_after_issue());  // 8 cycles of issue
  });
}

TEST(Waits, AStoreMayBeWaitedForTwice) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [&](tl::Context& tl) {
          const PeCpu& cpu = simulation.pe().cpu();
          const auto stored = tl.store(tile_at(0), tl.full(tile, 1.0, DType::f32));
          tl.wait(stored);
          EXPECT_EQ(testing::get(simulation, tile_at(0), tile, DType::f32), all(1.0));  // visible from here on
          const Picoseconds after = cpu.local_time();
          tl.wait(stored);
          EXPECT_EQ(cpu.local_time(), after);
        },
        policy);
    EXPECT_EQ(simulation.time(TimeCause::store), transfer_after_issue());
    EXPECT_EQ(simulation.time(TimeCause::drain), Picoseconds(0));
  });
}

TEST(Waits, AComputationIsWaitedForAtIssueOrWhereItIsUsed) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run([](tl::Context& tl) { tl.store(tile_at(0), tl.full(tile, 1.0, DType::f32)); }, policy);
    // The fill: dispatch 2, then 1024 elements on 256 lanes, 4. In every policy the store cannot go before.
    EXPECT_EQ(simulation.time(TimeCause::compute), Picoseconds(6000));
  });
}

TEST(Waits, AnAccumulatorIsWaitedForAsAnOperand) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(0), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto x = tl.load(tile_at(0), tile, DType::f32);
          tl.wait(x);
          tl.dot(x, x, tl.full(tile, 1.0, DType::f32));
        },
        policy);
    // For the fill, as above, at least; it is not that somebody would still need what is overwritten.
    EXPECT_GE(simulation.time(TimeCause::compute), Picoseconds(6000));
    EXPECT_EQ(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(Waits, TheEndOfAKernelDrainsWhatIsInFlight) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run([](tl::Context& tl) { tl.store(tile_at(0), tl.full(tile, 1.0, DType::f32)); }, policy);
    EXPECT_EQ(tile_in(simulation, 0), all(1.0));
    const bool at_once = waits_for_transfers(policy);
    EXPECT_EQ(simulation.time(TimeCause::drain), at_once ? Picoseconds(0) : transfer_after_issue());
    EXPECT_EQ(simulation.time(TimeCause::store), at_once ? transfer_after_issue() : Picoseconds(0));
  });
}

TEST(Waits, EveryPicosecondHasACause) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, tile_at(0), all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          for (int i = 0; i < 4; ++i) {
            const auto scope = tl.scratch_scope();
            const auto x = tl.load(tile_at(0), tile, DType::f32);
            const auto y = tl.dot(x, x) + 1.0F;
            tl.store(tile_at(0), y);
            tl.copy_to(x, y);
          }
        },
        policy);
    // `Simulation` has compared the account's total with the program's time; here: nothing hides in an unknown cause.
    Picoseconds sum;
    for (const TimeCause cause : {TimeCause::issue, TimeCause::load, TimeCause::compute, TimeCause::store,
                                  TimeCause::queue, TimeCause::scratch, TimeCause::memory_order, TimeCause::drain}) {
      sum += simulation.time(cause);
    }
    EXPECT_EQ(sum, simulation.latency());
    // Four times load 8, dot 6, add 2, store 8, copy 2.
    EXPECT_EQ(simulation.time(TimeCause::issue), 4 * Picoseconds(26000));
  });
}

}  // namespace
}  // namespace kernwave::hazards_test
