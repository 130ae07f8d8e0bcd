// The interface of observers of the channels of a memory.
#pragma once

#include <cstdint>

#include "models/base/address.h"
#include "models/base/quantity.h"

namespace kernwave {

/// One stream of bytes on one channel.
struct ChannelService {
  CubeId cube;
  std::int64_t channel = 0;
  bool reads = true;
  Bytes bytes;
  Picoseconds eligible;  ///< the stream waits for the channel from here on
  Picoseconds start;
  Picoseconds end;
};

class ChannelObserver {
 public:
  ChannelObserver() = default;
  ChannelObserver(const ChannelObserver&) = delete;
  ChannelObserver& operator=(const ChannelObserver&) = delete;
  virtual ~ChannelObserver() = default;

  /// Called at `service.eligible`, when the channel is reserved: ahead of its start.
  virtual void served(const ChannelService& service) = 0;
};

}  // namespace kernwave
