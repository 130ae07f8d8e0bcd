#include "models/pe/math_timing.h"

#include <algorithm>

namespace kernwave {

namespace {

constexpr std::int64_t ceil_log2(std::int64_t n) {
  std::int64_t depth = 0;
  while ((std::int64_t{1} << depth) < n) ++depth;
  return depth;
}

}  // namespace

Cycles vector_cycles(const MathCycles& cycles, MathOp op) {
  switch (op) {
    case MathOp::add:
    case MathOp::sub:
    case MathOp::neg:
    case MathOp::reduce_sum:
      return cycles.add;
    case MathOp::mul:
      return cycles.mul;
    case MathOp::div:
    case MathOp::floor_div:
      return cycles.div;
    case MathOp::fma:
      return cycles.fma;
    case MathOp::maximum:
    case MathOp::minimum:
    case MathOp::abs:
    case MathOp::reduce_max:
    case MathOp::reduce_min:
      return cycles.max;
    case MathOp::exp:
    case MathOp::exp2:
      return cycles.exp;
    case MathOp::log:
    case MathOp::log2:
      return cycles.log;
    case MathOp::sqrt:
    case MathOp::rsqrt:
      return cycles.rsqrt;
    case MathOp::less:
    case MathOp::less_equal:
    case MathOp::greater:
    case MathOp::greater_equal:
    case MathOp::equal:
    case MathOp::not_equal:
    case MathOp::logical_and:
    case MathOp::logical_or:
    case MathOp::logical_not:
      return cycles.compare;
    case MathOp::where:
      return cycles.where;
    case MathOp::cast:
      return cycles.cast;
    case MathOp::copy:
    case MathOp::fill:
    case MathOp::arange:
      return cycles.copy;
  }
  return Cycles(0);
}

Cycles math_cycles(const MathConfig& config, const MathDescriptor& math) {
  const Cycles per_vector = vector_cycles(config.cycles, math.op);
  if (!is_reduction(math.op)) return per_vector * ceil_div(math.out.elements(), config.lanes);
  const ScratchOperand& in = math.in[0].tensor;
  const std::int64_t reduced = math.axis == 0 ? in.rows : in.cols;
  return per_vector * ceil_div(in.elements(), config.lanes) + Cycles(ceil_log2(std::min(reduced, config.lanes)));
}

}  // namespace kernwave
