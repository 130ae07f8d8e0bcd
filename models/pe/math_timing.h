// Cycles of the vector engine, as plain functions of an operation's shape. docs/timing.md works them by hand.
#pragma once

#include "models/base/quantity.h"
#include "models/config/system_config.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Cycles that one vector of `lanes` elements takes.
[[nodiscard]] constexpr Cycles vector_cycles(const MathCycles& cycles, MathOp op) noexcept {
  return cycles.*math_operation(op).cycles;
}

/// ceil(elements / lanes) x cycles of the operation; a reduction runs over the elements of its input and adds
/// ceil(log2(min(n, lanes))), the depth of the tree over the n elements that it reduces to one.
[[nodiscard]] Cycles math_cycles(const MathConfig& config, const MathDescriptor& math);

}  // namespace kernwave
