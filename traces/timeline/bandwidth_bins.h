// The bytes that a memory moves in each of equal intervals of time.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"
#include "models/base/ring_queue.h"

namespace kernwave::traces {

/// Bytes are spread evenly over the time in which they move, and rounded so that they sum to what was added. Sums do
/// not depend on the order of additions.
class BandwidthBins {
 public:
  explicit BandwidthBins(Picoseconds width) noexcept : width_(width) {}

  [[nodiscard]] Picoseconds width() const noexcept { return width_; }
  /// Known at `now`, at or before `start`; calls come in the order of `now`.
  void add(Picoseconds now, Picoseconds start, Picoseconds end, Bytes bytes);
  [[nodiscard]] bool empty() const noexcept { return bins_.empty(); }
  /// There is a first bin and it ends at or before `time`.
  [[nodiscard]] bool ready(Picoseconds time) const { return !empty() && (first_ + 1) * width_ <= time; }
  struct Bin {
    Picoseconds start;
    Bytes bytes;
  };
  /// Removes the first bin; nothing may be added to it any more.
  Bin take();

 private:
  [[nodiscard]] Bytes& bin(std::int64_t number);

  Picoseconds width_;
  std::int64_t first_ = 0;  // number of the first bin that is kept
  RingQueue<Bytes> bins_;
};

}  // namespace kernwave::traces
