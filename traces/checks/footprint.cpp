#include "traces/checks/footprint.h"

namespace kernwave::traces {

HbmRegion stored_region(const CompositeFactor& factor, std::int32_t rows, std::int32_t cols) noexcept {
  HbmRegion region;
  region.base = factor.hbm();
  region.rows = factor.stored_rows;
  region.row_bytes = Bytes(std::int64_t{factor.transposed ? rows : cols} * size_of(factor.dtype));
  region.stride = Bytes(std::int64_t{factor.row_stride} * size_of(factor.dtype));
  return region;
}

}  // namespace kernwave::traces
