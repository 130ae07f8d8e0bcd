// The rule by which an interval of bytes is cut into requests.
#pragma once

#include "models/base/address.h"
#include "models/base/quantity.h"

namespace kernwave {

/// The length of the next request at `address` with `left` bytes to go: the longest power of two that is naturally
/// aligned, fits and is at most `longest` (itself a power of two). Every TLM-2.0 memory takes such requests.
[[nodiscard]] constexpr Bytes next_burst(HbmAddress address, Bytes left, Bytes longest) noexcept {
  std::int64_t length = longest.count();
  while (length > left.count() || address.value() % static_cast<std::uint64_t>(length) != 0) length /= 2;
  return Bytes(length);
}

}  // namespace kernwave
