#include "models/memory/channel_map.h"

#include <algorithm>

namespace kernwave {

ChannelMap::ChannelMap(std::int64_t channels, Bytes interleave)
    : channels_(channels), interleave_(interleave.count()) {}

void ChannelMap::add_bytes(const HbmRegion& region, std::vector<std::int64_t>& per_channel) const {
  const std::int64_t offset = region.base.offset().count();
  if (region.stride == region.row_bytes) {
    add_range(offset, region.bytes().count(), per_channel);
    return;
  }
  for (std::int64_t row = 0; row < region.rows; ++row) {
    add_range(offset + row * region.stride.count(), region.row_bytes.count(), per_channel);
  }
}

void ChannelMap::add_range(std::int64_t offset, std::int64_t count, std::vector<std::int64_t>& per_channel) const {
  const std::int64_t rounds = count / (interleave_ * channels_);
  if (rounds > 0) {
    for (std::int64_t& bytes : per_channel) bytes += rounds * interleave_;
    count -= rounds * interleave_ * channels_;
  }
  while (count > 0) {
    const std::int64_t in_block = std::min(count, interleave_ - offset % interleave_);
    per_channel[static_cast<std::size_t>(offset / interleave_ % channels_)] += in_block;
    offset += in_block;
    count -= in_block;
  }
}

}  // namespace kernwave
