// The layout of tensors in the HBM of each cube.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/address.h"
#include "models/config/system_config.h"

namespace kernwave::platform {

/// Hands out HBM of each cube from the bottom up, every piece at a multiple of `alignment`.
class HbmLayout {
 public:
  /// A multiple of all channels' interleave in every shipped preset, so that pieces start on the first channel.
  static constexpr std::int64_t alignment = 4096;

  explicit HbmLayout(const SystemConfig& config);

  /// Throws WorkloadError, which names `what`, when the cube is full.
  [[nodiscard]] HbmAddress allocate(CubeId cube, Bytes size, const char* what);

 private:
  Bytes capacity_;
  std::vector<Bytes> used_;
};

}  // namespace kernwave::platform
