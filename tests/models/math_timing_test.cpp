// Cycles of the vector engine, by hand.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/pe/math_timing.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::math_timing_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

[[nodiscard]] ScratchOperand dense(std::int32_t rows, std::int32_t cols) {
  return {ScratchAddress(0), rows, cols, cols, 1, DType::f32};
}

[[nodiscard]] MathDescriptor elementwise(MathOp op, std::int32_t rows, std::int32_t cols) {
  MathDescriptor math;
  math.op = op;
  math.inputs = 1;
  math.in[0].tensor = dense(rows, cols);
  math.out = dense(rows, cols);
  return math;
}

[[nodiscard]] MathDescriptor reduction(MathOp op, std::uint8_t axis, std::int32_t rows, std::int32_t cols) {
  MathDescriptor math = elementwise(op, rows, cols);
  math.axis = axis;
  math.out = axis == 0 ? dense(1, cols) : dense(rows, 1);
  return math;
}

/// A different number for every group, so that no operation can hide in another's.
[[nodiscard]] MathConfig distinct() {
  MathConfig config;
  config.lanes = 256;
  config.cycles.add = Cycles(101);
  config.cycles.mul = Cycles(102);
  config.cycles.max = Cycles(103);
  config.cycles.compare = Cycles(104);
  config.cycles.where = Cycles(105);
  config.cycles.cast = Cycles(106);
  config.cycles.copy = Cycles(107);
  config.cycles.fma = Cycles(108);
  config.cycles.exp = Cycles(109);
  config.cycles.log = Cycles(110);
  config.cycles.div = Cycles(111);
  config.cycles.rsqrt = Cycles(112);
  return config;
}

TEST(MathTiming, EveryOperationCostsItsGroup) {
  const std::vector<std::pair<std::int64_t, std::vector<MathOp>>> groups = {
      {101, {MathOp::add, MathOp::sub, MathOp::neg, MathOp::reduce_sum}},
      {102, {MathOp::mul}},
      {103, {MathOp::maximum, MathOp::minimum, MathOp::abs, MathOp::reduce_max, MathOp::reduce_min}},
      {104,
       {MathOp::less, MathOp::less_equal, MathOp::greater, MathOp::greater_equal, MathOp::equal, MathOp::not_equal,
        MathOp::logical_and, MathOp::logical_or, MathOp::logical_not}},
      {105, {MathOp::where}},
      {106, {MathOp::cast}},
      {107, {MathOp::copy, MathOp::fill, MathOp::arange}},
      {108, {MathOp::fma}},
      {109, {MathOp::exp, MathOp::exp2}},
      {110, {MathOp::log, MathOp::log2}},
      {111, {MathOp::div, MathOp::floor_div}},
      {112, {MathOp::sqrt, MathOp::rsqrt}}};
  for (const auto& [cost, group] : groups) {
    for (const MathOp op : group) EXPECT_EQ(vector_cycles(distinct().cycles, op), Cycles(cost)) << name_of(op);
  }
}

TEST(MathTiming, AnElementwiseOperationTakesItsCyclesForEveryVectorBegun) {
  const MathConfig config = distinct();
  // 256 elements are one vector, 257 two; the shape does not matter.
  EXPECT_EQ(math_cycles(config, elementwise(MathOp::exp2, 1, 1)), Cycles(109));
  EXPECT_EQ(math_cycles(config, elementwise(MathOp::exp2, 1, 256)), Cycles(109));
  EXPECT_EQ(math_cycles(config, elementwise(MathOp::exp2, 1, 257)), Cycles(2 * 109));
  EXPECT_EQ(math_cycles(config, elementwise(MathOp::exp2, 64, 128)), Cycles(32 * 109));
  EXPECT_EQ(math_cycles(config, elementwise(MathOp::exp2, 128, 64)), Cycles(32 * 109));
}

TEST(MathTiming, ABroadcastOperandCountsAsWhatComesOut) {
  MathDescriptor math = elementwise(MathOp::add, 64, 128);
  math.in[0].tensor = {ScratchAddress(0), 64, 128, 1, 0, DType::f32};
  EXPECT_EQ(math_cycles(distinct(), math), Cycles(32 * 101));
}

TEST(MathTiming, AReductionRunsOverItsInputAndAddsTheDepthOfItsTree) {
  const MathConfig config = distinct();
  // 4 x 128 = 512 elements, 2 vectors; along the columns 128 become one: 7 levels; along the rows 4: 2.
  EXPECT_EQ(math_cycles(config, reduction(MathOp::reduce_sum, 1, 4, 128)), Cycles(2 * 101 + 7));
  EXPECT_EQ(math_cycles(config, reduction(MathOp::reduce_sum, 0, 4, 128)), Cycles(2 * 101 + 2));
  // 100 become one in ceil(log2 100) = 7 levels; 600 elements are 3 vectors.
  EXPECT_EQ(math_cycles(config, reduction(MathOp::reduce_max, 1, 6, 100)), Cycles(3 * 103 + 7));
  // One element needs no tree.
  EXPECT_EQ(math_cycles(config, reduction(MathOp::reduce_min, 0, 1, 100)), Cycles(103));
  // A tree is never wider than the lanes: 1024 become one in log2 256 levels; 4 vectors.
  EXPECT_EQ(math_cycles(config, reduction(MathOp::reduce_sum, 1, 1, 1024)), Cycles(4 * 101 + 8));
}

TEST(MathTiming, InAKernelAnOperationTakesIssueDispatchAndItsCycles) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.math = distinct();
    Simulation simulation(config);
    // Given three operations one after another.
    simulation.run([](tl::Context& tl) {
      const auto x = tl.zeros({64, 128}, DType::f32);
      const auto y = tl.exp2(x);
      tl.sum(y, 1);
    });
    // Then each costs 2 cycles of issue, 2 of dispatch, and 32 vectors; the sum over 128 columns 7 levels more.
    const std::int64_t cycles = (4 + 32 * 107) + (4 + 32 * 109) + (4 + 32 * 101 + 7);
    EXPECT_EQ(simulation.latency(), Picoseconds(cycles * 1000));
  });
}

}  // namespace
}  // namespace kernwave::math_timing_test
