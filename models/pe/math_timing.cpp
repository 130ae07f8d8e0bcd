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

Cycles math_cycles(const MathConfig& config, const MathDescriptor& math) {
  const Cycles per_vector = vector_cycles(config.cycles, math.op);
  if (!is_reduction(math.op)) return per_vector * ceil_div(math.out.elements(), config.lanes);
  const ScratchOperand& in = math.in[0].tensor;
  const std::int64_t reduced = math.axis == 0 ? in.rows : in.cols;
  return per_vector * ceil_div(in.elements(), config.lanes) + Cycles(ceil_log2(std::min(reduced, config.lanes)));
}

}  // namespace kernwave
