// Requests that wait for their responses, some of which have arrived ahead of their time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave {

/// Counts requests from BEGIN_REQ to the instant of the response, in whatever order responses come.
class OutstandingRequests {
 public:
  void begin() noexcept { ++unanswered_; }
  void end() noexcept { --unanswered_; }
  /// Records a response that takes effect at `at`, later than now.
  void end_at(Picoseconds at) {
    --unanswered_;
    ending_.push_back(at);
  }

  /// The number of requests whose end is not known.
  [[nodiscard]] std::int64_t unanswered() const noexcept { return unanswered_; }

  /// The first instant, not before `earliest` (now or later), at which fewer than `limit` are outstanding as far as
  /// ends are known. There must be fewer than `limit` unanswered ones.
  [[nodiscard]] Picoseconds first_below(std::int64_t limit, Picoseconds earliest, Picoseconds now) {
    const auto has_ended = [now](Picoseconds end) { return end <= now; };
    ending_.erase(std::remove_if(ending_.begin(), ending_.end(), has_ended), ending_.end());
    const auto places = static_cast<std::size_t>(limit - unanswered_);
    if (ending_.size() < places) return earliest;
    std::sort(ending_.begin(), ending_.end());
    return std::max(earliest, ending_[ending_.size() - places]);
  }

 private:
  std::int64_t unanswered_ = 0;
  std::vector<Picoseconds> ending_;
};

}  // namespace kernwave
