#include "traces/activity/activity_series.h"

#include <algorithm>

#include "models/base/exact_time.h"

namespace kernwave::traces {

namespace {

/// Bin 2 i and bin 2 i + 1 become bin i.
void merge_pairs(ActivitySeries::Bins& bins) {
  if (bins.empty()) return;
  const std::size_t half = bins.size() / 2;
  for (std::size_t i = 0; i < half; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + static_cast<std::ptrdiff_t>(half), bins.end(), 0);
}

/// The part of `amount`, carried evenly over `whole` picoseconds, that is through after the first `elapsed` of them.
[[nodiscard]] std::int64_t share(std::int64_t amount, std::int64_t elapsed, std::int64_t whole) {
  if (amount == whole) return elapsed;
  return static_cast<std::int64_t>(Int128{amount} * elapsed / whole);
}

}  // namespace

void ActivitySeries::completed(const CompletedOperation& operation) {
  const Engine engine = operation.descriptor.engine;
  if (engine == Engine::composite) return;  // its parts are told of one by one
  if (engine == Engine::ipcq && operation.descriptor.ipcq().action == IpcqAction::receive) return;
  const auto index = static_cast<std::size_t>(engine);
  if (busy_.size() <= index) busy_.resize(index + 1);
  spread(busy_[index], operation.start, operation.end, (operation.end - operation.start).count());
}

const ActivitySeries::Bins& ActivitySeries::busy(Engine engine) const noexcept {
  static const Bins never;
  const auto index = static_cast<std::size_t>(engine);
  return index < busy_.size() ? busy_[index] : never;
}

void ActivitySeries::served(const ChannelService& service) {
  const auto cube = static_cast<std::size_t>(service.cube.count());
  if (traffic_.size() <= cube) traffic_.resize(cube + 1);
  Traffic& traffic = traffic_[cube];
  spread(service.reads ? traffic.read : traffic.written, service.start, service.end, service.bytes.count());
}

void ActivitySeries::cover(Picoseconds end) {
  last_end_ = std::max(last_end_, end);
  while (end > max_bins * width_) {
    for (Bins& bins : busy_) merge_pairs(bins);
    for (Traffic& traffic : traffic_) {
      merge_pairs(traffic.read);
      merge_pairs(traffic.written);
    }
    width_ = 2 * width_;
  }
}

void ActivitySeries::spread(Bins& bins, Picoseconds start, Picoseconds end, std::int64_t amount) {
  cover(std::max(end, start + Picoseconds(1)));  // what takes no time falls into the bin of its instant
  if (bins.empty()) bins.resize(max_bins);
  const std::int64_t width = width_.count();
  const std::int64_t whole = (end - start).count();
  std::int64_t through = 0;
  for (std::int64_t bin = start.count() / width;; ++bin) {
    const std::int64_t elapsed = (bin + 1) * width - start.count();
    const bool last = elapsed >= whole;
    const std::int64_t until_here = last ? amount : share(amount, elapsed, whole);
    bins[static_cast<std::size_t>(bin)] += until_here - through;
    if (last) return;
    through = until_here;
  }
}

}  // namespace kernwave::traces
