// The map from the bytes of a cube's HBM to its channels.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/quantity.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Consecutive blocks of `interleave` bytes go to consecutive channels.
class ChannelMap {
 public:
  ChannelMap(std::int64_t channels, Bytes interleave);

  /// Adds to `per_channel` the bytes that each channel contributes to the region.
  void add_bytes(const HbmRegion& region, std::vector<std::int64_t>& per_channel) const;

 private:
  void add_range(std::int64_t offset, std::int64_t count, std::vector<std::int64_t>& per_channel) const;

  std::int64_t channels_;
  std::int64_t interleave_;
};

}  // namespace kernwave
