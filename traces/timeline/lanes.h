// Lanes of a track, on which overlapping slices are drawn side by side.
#pragma once

#include <cstddef>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// Finds a lane for each of several intervals of time, so that those of one lane do not overlap. They come in the order
/// in which they end.
class Lanes {
 public:
  /// The first lane whose last interval has ended at `start`, or a new one.
  [[nodiscard]] std::size_t place(Picoseconds start, Picoseconds end) {
    std::size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > start) ++lane;
    if (lane == ends_.size()) ends_.emplace_back();
    ends_[lane] = end;
    return lane;
  }

 private:
  std::vector<Picoseconds> ends_;
};

}  // namespace kernwave::traces
