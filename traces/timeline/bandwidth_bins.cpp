#include "traces/timeline/bandwidth_bins.h"

#include <algorithm>

#include "models/base/exact_time.h"

namespace kernwave::traces {

void BandwidthBins::add(Picoseconds now, Picoseconds start, Picoseconds end, Bytes bytes) {
  const std::int64_t width = width_.count();
  std::int64_t number = start.count() / width;
  if (bins_.empty()) first_ = now.count() / width;
  if (end.count() <= (number + 1) * width) {
    bin(number) += bytes;
    return;
  }
  const std::int64_t length = (end - start).count();
  Bytes before;
  for (; before != bytes; ++number) {
    const std::int64_t moved = std::min(end.count(), (number + 1) * width) - start.count();
    const Bytes until(static_cast<std::int64_t>(Int128{bytes.count()} * moved / length));
    bin(number) += until - before;
    before = until;
  }
}

Bytes& BandwidthBins::bin(std::int64_t number) {
  const auto position = static_cast<std::size_t>(number - first_);
  while (bins_.size() <= position) bins_.push_back(Bytes(0));
  return bins_[position];
}

BandwidthBins::Bin BandwidthBins::take() {
  const Bin taken{first_ * width_, bins_.front()};
  bins_.pop_front();
  ++first_;
  return taken;
}

}  // namespace kernwave::traces
