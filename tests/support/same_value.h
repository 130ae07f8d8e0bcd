// When two numbers of a result are the same.
#pragma once

#include <cmath>

namespace kernwave::testing {

/// Bit for bit, but for the payload of a NaN: 0 and -0 differ, NaN equals NaN.
[[nodiscard]] inline bool same_value(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace kernwave::testing
