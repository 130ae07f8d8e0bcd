// The places of a queue that is served in order, computed ahead of simulated time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave {

/// A queue of `depth` places, which are taken and left in the same order: the n-th arrival gets the place of the (n -
/// depth)-th. The instant at which a place is left is noted as soon as it is known, now or ahead of time.
class QueuePlaces {
 public:
  explicit QueuePlaces(std::int64_t depth) : left_at_(static_cast<std::size_t>(depth)) {}

  /// Whether the instant is known at which the next arrival gets a place.
  [[nodiscard]] bool is_next_known() const noexcept { return inside_ < left_at_.size(); }
  /// Takes a place for an arrival at `presented`. Returns the instant at which the arrival has its place, which must be
  /// known.
  [[nodiscard]] Picoseconds take(Picoseconds presented) noexcept {
    ++inside_;
    const Picoseconds free = left_at_[next_];
    next_ = after(next_);
    return std::max(presented, free);
  }
  /// Frees the oldest taken place at that instant.
  void leave(Picoseconds at) noexcept {
    left_at_[first_] = at;
    first_ = after(first_);
    --inside_;
  }

 private:
  [[nodiscard]] std::size_t after(std::size_t place) const noexcept {
    return place + 1 == left_at_.size() ? 0 : place + 1;
  }

  std::vector<Picoseconds> left_at_;  // by place
  std::size_t next_ = 0;
  std::size_t first_ = 0;
  std::size_t inside_ = 0;  // have come and are not known to leave
};

}  // namespace kernwave
