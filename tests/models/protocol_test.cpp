// The base protocol on every socket of a machine at work, and the payloads that carry it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::protocol_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

/// Payloads that a PE's pools own.
struct PoolSizes {
  std::size_t commands = 0;
  std::size_t reads = 0;
  std::size_t writes = 0;

  explicit PoolSizes(Pe& pe)
      : commands(pe.cpu().command_pool().size()),
        reads(pe.dma().read().request_pool().size()),
        writes(pe.dma().write().request_pool().size()) {}
  friend bool operator==(const PoolSizes& a, const PoolSizes& b) {
    return a.commands == b.commands && a.reads == b.reads && a.writes == b.writes;
  }
};

/// One turn: two loads, a product, two MATH operations and a store, on buffers that are used again.
void turn(tl::Context& tl, std::int64_t number) {
  auto scope = tl.scratch_scope();
  const Bytes place(number % 64 * 4096);
  const auto a = tl.load(HbmAddress(0) + place, {16, 32}, DType::f16);
  const auto b = tl.load(HbmAddress(0x100000) + place, {32, 16}, DType::f16);
  const auto product = tl.dot(a, b);
  tl.store(HbmAddress(CubeId(0), Bytes(0x200000 + tl.pe_id().count() * 0x100000)) + place, (product * 2.0F) + 1.0F);
}

/// On its way from the CPU to its engine an operation crosses two links; a load or a store crosses a third, to memory.
constexpr std::int64_t transactions_per_turn = 2 * 3 + 3 * 2 + 1 * 3;

// A1: the monitors, of which one stands on every link, also report every BEGIN_REQ whose status is not
// TLM_INCOMPLETE_RESPONSE. A2: the pools.
void run_turns(const SystemConfig& config, tl::Policy policy) {
  constexpr std::int64_t pes = 4;
  constexpr std::int64_t wanted = 100'000;
  constexpr std::int64_t turns = wanted / (transactions_per_turn * pes) + 1;
  Simulation simulation(config);
  // When a tenth of the work is done, all pools have their final size.
  std::vector<PoolSizes> warm(pes, PoolSizes(simulation.pe(0)));
  simulation.run_grid(
      {pes, 1, 1},
      [&](tl::Context& tl) {
        for (std::int64_t i = 0; i < turns; ++i) {
          turn(tl, i);
          if (i == turns / 10) {
            warm[static_cast<std::size_t>(tl.pe_id().count())] = PoolSizes(simulation.pe(tl.pe_id().count()));
          }
        }
      },
      policy);
  EXPECT_EQ(simulation.monitor().links(), static_cast<std::size_t>(pes * 8 + 2 * (pes - 1) * 2));
  EXPECT_GE(simulation.monitor().transactions(), wanted);
  if (config.pe.dma.burst == Bytes(0)) {
    EXPECT_EQ(simulation.monitor().transactions(), turns * pes * transactions_per_turn);
  }
  EXPECT_EQ(simulation.monitor().violations(), std::vector<std::string>());
  EXPECT_EQ(simulation.monitor().in_flight(), 0U);
  for (std::int64_t id = 0; id < pes; ++id) {
    EXPECT_TRUE(warm[static_cast<std::size_t>(id)] == PoolSizes(simulation.pe(id))) << "PE " << id;
    EXPECT_GT(PoolSizes(simulation.pe(id)).commands, 0U);
    EXPECT_EQ(simulation.pe(id).cpu().command_pool().in_use(), 0U);
    EXPECT_EQ(simulation.pe(id).dma().read().request_pool().in_use(), 0U);
    EXPECT_EQ(simulation.pe(id).dma().write().request_pool().in_use(), 0U);
  }
}

TEST(Protocol, AHundredThousandTransactionsBreakNoRule) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    in_child([policy] { run_turns(one_cube(4), policy); });
  }
}

TEST(Protocol, NorWhereEveryQueueHoldsOne) {
  in_child([] {
    SystemConfig config = one_cube(4);
    config.pe.scheduler.queue_depth = 1;
    config.pe.gemm.queue_depth = 1;
    config.pe.math.queue_depth = 1;
    config.pe.dma.queue_depth = 1;
    config.pe.dma.max_outstanding = 1;
    config.hbm.queue_depth = 1;
    run_turns(config, tl::Policy::stall_on_use);
  });
}

TEST(Protocol, NorInBursts) {
  in_child([] {
    SystemConfig config = one_cube(4);
    config.pe.dma.burst = Bytes(64);
    config.hbm.queue_depth = 3;
    run_turns(config, tl::Policy::lazy);
  });
}

TEST(Protocol, NorWithoutData) {
  in_child([] {
    Simulation simulation(one_cube(2), DataMode::none);
    simulation.run_grid({2, 1, 1}, [](tl::Context& tl) {
      for (std::int64_t i = 0; i < 100; ++i) turn(tl, i);
    });
    EXPECT_EQ(simulation.monitor().transactions(), 2 * 100 * transactions_per_turn);
  });
}

}  // namespace
}  // namespace kernwave::protocol_test
