#include "kernels/tl/memory_order.h"

#include <algorithm>

namespace kernwave::tl {

namespace {

[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

[[nodiscard]] HbmRegion dense(const HbmRegion& region) noexcept {
  if (region.rows > 1 && region.stride == Bytes(0)) {
    return HbmRegion{region.base, 1, region.row_bytes, region.row_bytes};
  }
  return region.coalesced();
}

[[nodiscard]] std::int64_t span(const HbmRegion& region) noexcept {
  return region.stride.count() * (region.rows - 1) + region.row_bytes.count();
}

}  // namespace

bool overlap(const HbmRegion& first, const HbmRegion& second) noexcept {
  if (first.base.cube() != second.base.cube() || first.bytes() == Bytes(0) || second.bytes() == Bytes(0)) return false;
  const HbmRegion a = dense(first);
  const HbmRegion b = dense(second);
  const std::int64_t distance = b.base.offset().count() - a.base.offset().count();
  if (distance >= span(a) || -distance >= span(b)) return false;
  if (a.rows > 1 && b.rows > 1 && a.stride != b.stride) return true;  // the bounding intervals meet
  const std::int64_t stride = a.rows > 1 ? a.stride.count() : b.stride.count();
  // Row i of a meets row j of b when -b.row_bytes < distance + m stride < a.row_bytes, m = j - i.
  const std::int64_t smallest = std::max(-(a.rows - 1), floor_div(-b.row_bytes.count() - distance, stride) + 1);
  const std::int64_t largest = std::min(b.rows - 1, floor_div(a.row_bytes.count() - 1 - distance, stride));
  return smallest <= largest;
}

}  // namespace kernwave::tl
