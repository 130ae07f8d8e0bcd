// The bandwidth of a link: by its rate, or by a timing that is given.
#pragma once

#include <algorithm>
#include <utility>

#include "models/base/bandwidth_server.h"
#include "models/config/given_timing.h"

namespace kernwave {

/// Carries messages one after another.
class TimedLink {
 public:
  TimedLink(Bandwidth bandwidth, LinkTiming timing) : server_(bandwidth), timing_(std::move(timing)) {}

  /// A message, from `earliest` or from the end of the one before it, whichever is later.
  void carry(Picoseconds earliest, Bytes bytes) {
    if (timing_) {
      server_.occupy(earliest, timing_.function(bytes, std::max(earliest, free_at())));
    } else {
      server_.stream(earliest, bytes);
    }
  }
  /// The end of the last message.
  [[nodiscard]] Picoseconds free_at() const { return server_.free_at(); }

 private:
  BandwidthServer server_;
  LinkTiming timing_;
};

}  // namespace kernwave
