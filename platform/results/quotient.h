// Shares and factors whose divisor may be 0.
#pragma once

#include <cstdint>

namespace kernwave::platform {

/// a / b, or 0 where there is nothing to divide by.
[[nodiscard]] inline double quotient(std::int64_t a, std::int64_t b) noexcept {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace kernwave::platform
