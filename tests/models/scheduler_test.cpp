// Commands on their way from the CPU to their engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::scheduler_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr std::int64_t operations = 12;
constexpr std::int64_t issue = 2;      // cycles of a MATH operation
constexpr std::int64_t dispatch = 20;  // slow, so that it shows

/// What the rule says of independent MATH operations of one cycle each, in cycles.
struct Schedule {
  std::vector<std::int64_t> accepted;    // by the scheduler
  std::vector<std::int64_t> dispatched;  // to the engine
  std::int64_t waited = 0;               // by the CPU, for a place in the queue
};

/// The n-th command is presented `issue` after the one before it was accepted; it is accepted when it is presented or
/// when the (n - depth)-th is dispatched, and dispatched `dispatch` later, in order.
[[nodiscard]] Schedule schedule_by_hand(std::int64_t depth) {
  Schedule schedule;
  for (std::int64_t n = 0; n < operations; ++n) {
    const std::int64_t presented = (n == 0 ? 0 : schedule.accepted.back()) + issue;
    const std::int64_t place = n < depth ? 0 : schedule.dispatched[static_cast<std::size_t>(n - depth)];
    schedule.accepted.push_back(std::max(presented, place));
    schedule.waited += schedule.accepted.back() - presented;
    schedule.dispatched.push_back(schedule.accepted.back() + dispatch);
  }
  return schedule;
}

TEST(Scheduler, TakesAsManyCommandsAsItsQueueHoldsAndNoMore) {
  for (const std::int64_t depth : {1, 2, 3, 16}) {
    in_child([depth] {
      SystemConfig config = one_cube();
      config.pe.scheduler.queue_depth = depth;
      config.pe.scheduler.dispatch_latency = Cycles(dispatch);
      Simulation simulation(config);
      simulation.run(
          [](tl::Context& tl) {
            for (std::int64_t n = 0; n < operations; ++n) tl.full({256}, 1.0, DType::f32);
          },
          tl::Policy::stall_on_use);
      const Schedule expected = schedule_by_hand(depth);
      const auto rows = simulation.rows();
      ASSERT_EQ(rows.size(), static_cast<std::size_t>(operations));
      for (std::size_t n = 0; n < rows.size(); ++n) {
        EXPECT_EQ(rows[n].start, Picoseconds(1000 * expected.dispatched[n]))
            << "depth " << depth << ", operation " << n;
      }
      EXPECT_EQ(simulation.latency(), Picoseconds(1000 * (expected.dispatched.back() + 1)));
      EXPECT_EQ(simulation.time(TimeCause::queue), Picoseconds(1000 * expected.waited));
    });
  }
}

TEST(Scheduler, DispatchIsALatencyNotAnOccupation) {
  // By hand: with room for all, an operation starts every 2 cycles, the first after 2 + 20.
  const Schedule schedule = schedule_by_hand(16);
  EXPECT_EQ(schedule.dispatched.front(), issue + dispatch);
  EXPECT_EQ(schedule.dispatched.back(), operations * issue + dispatch);
  EXPECT_EQ(schedule.waited, 0);
  // With room for one, every 20.
  EXPECT_EQ(schedule_by_hand(1).dispatched.back(), issue + operations * dispatch);
}

[[nodiscard]] SystemConfig with_math_queue(std::int64_t depth) {
  SystemConfig config = one_cube();
  config.pe.math.queue_depth = depth;
  return config;
}

/// Three MATH operations of 32 cycles each, then a product.
void product_behind_math(tl::Context& tl) {
  const auto a = tl.buffer({64, 64}, DType::f16);
  for (int n = 0; n < 3; ++n) tl.full({64, 128}, 1.0, DType::f32);
  tl.dot(a, a);
}

/// When the product starts.
[[nodiscard]] Picoseconds start_of_a_product_behind_math(std::int64_t math_queue_depth) {
  Simulation simulation(with_math_queue(math_queue_depth));
  simulation.run(product_behind_math, tl::Policy::stall_on_use);
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.descriptor.engine == Engine::gemm) return row.start;
  }
  return Picoseconds(-1);
}

TEST(Scheduler, CommandsLeaveInOrderSoThatAFullEngineHoldsUpTheOthers) {
  // Room for all: issue of three MATH operations and of the dot, then dispatch.
  in_child([] { EXPECT_EQ(start_of_a_product_behind_math(16), Picoseconds(1000 * (3 * 2 + 6 + 2))); });
  // Room for one: the first runs from 2 + 2 for 32 cycles, the second is presented and withheld, the third waits for it
  // in the scheduler, and the product behind the third, though its engine is idle.
  in_child([] { EXPECT_EQ(start_of_a_product_behind_math(1), Picoseconds(1000 * (2 + 2 + 32))); });
}

class HandOver : public PeObserver {
 public:
  void dispatched(const Descriptor& /*operation*/, Picoseconds at) override { times_.push_back(at); }
  [[nodiscard]] const std::vector<Picoseconds>& times() const noexcept { return times_; }

 private:
  std::vector<Picoseconds> times_;
};

TEST(Scheduler, ACommandIsDispatchedNoEarlierThanTheOneBeforeIt) {
  in_child([] {
    HandOver observer;
    Simulation simulation(with_math_queue(1));
    simulation.observe(observer);
    simulation.run(product_behind_math, tl::Policy::stall_on_use);
    // As above: the third leaves when the second is accepted, and the product in the same instant.
    EXPECT_EQ(observer.times(), (std::vector<Picoseconds>{Picoseconds(4'000), Picoseconds(6'000), Picoseconds(36'000),
                                                          Picoseconds(36'000)}));
  });
}

}  // namespace
}  // namespace kernwave::scheduler_test
