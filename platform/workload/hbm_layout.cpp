#include "platform/workload/hbm_layout.h"

#include <fmt/format.h>

#include "platform/text/units.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

HbmLayout::HbmLayout(const SystemConfig& config)
    : capacity_(config.hbm.capacity), used_(static_cast<std::size_t>(config.cubes)) {}

HbmAddress HbmLayout::allocate(CubeId cube, Bytes size, const char* what) {
  Bytes& used = used_[static_cast<std::size_t>(cube.count())];
  const HbmAddress address(cube, used);
  const Bytes rounded = align_up(size, alignment);
  if (rounded > capacity_ - used) {
    throw WorkloadError(fmt::format("{} needs {} in cube {}, of whose {} (hbm.capacity) {} are taken", what,
                                    format_quantity(size), cube.count(), format_quantity(capacity_),
                                    format_quantity(used)));
  }
  used += rounded;
  return address;
}

}  // namespace kernwave::platform
