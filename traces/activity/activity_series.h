// The activity of engines and memories over time, in a bounded number of bins.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"

namespace kernwave::traces {

/// Busy time of all PEs' engines, and bytes of every cube's memory, in bins of equal width. The bins cover any run:
/// they start narrow, and whenever the run grows beyond the last one, neighbours are merged and the width doubles. A
/// time interval across an edge is split there exactly, so that the sum over the bins is the run's total.
class ActivitySeries : public PeObserver, public ChannelObserver {
 public:
  static constexpr std::int64_t max_bins = 512;
  static constexpr Picoseconds first_width{1000};

  /// One number for each bin; empty for an engine that was never active.
  using Bins = std::vector<std::int64_t>;

  /// Bytes read from and written to the memory of one cube.
  struct Traffic {
    Bins read;
    Bins written;
  };

  void completed(const CompletedOperation& operation) override;
  void served(const ChannelService& service) override;

  [[nodiscard]] Picoseconds bin_width() const noexcept { return width_; }
  /// Bins up to the end of the last activity; the vectors below may have more.
  [[nodiscard]] std::int64_t bin_count() const noexcept { return ceil_div(last_end_.count(), width_.count()); }
  /// Picoseconds, summed over PEs. Of Engine::ipcq: the messages sent, from leaving to landing.
  [[nodiscard]] const Bins& busy(Engine engine) const noexcept;
  /// By cube; cubes behind the last one that carried anything are left out.
  [[nodiscard]] const std::vector<Traffic>& traffic() const noexcept { return traffic_; }

 private:
  void cover(Picoseconds end);
  void spread(Bins& bins, Picoseconds start, Picoseconds end, std::int64_t amount);

  Picoseconds width_ = first_width;
  Picoseconds last_end_;
  std::vector<Bins> busy_;  // by engine
  std::vector<Traffic> traffic_;
};

}  // namespace kernwave::traces
