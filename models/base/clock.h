// A clock: converts cycles to picoseconds.
#pragma once

#include "models/base/exact_time.h"
#include "models/base/quantity.h"

namespace kernwave {

/// ceil(cycles / frequency). Periods of whole picoseconds, the usual ones, need no division.
class Clock {
 public:
  explicit constexpr Clock(Frequency frequency) noexcept
      : frequency_(frequency),
        period_(picoseconds_per_second % frequency.count() == 0 ? picoseconds_per_second / frequency.count() : 0) {}

  [[nodiscard]] constexpr Picoseconds operator()(Cycles cycles) const {
    return period_ != 0 ? Picoseconds(period_) * cycles.count() : duration(cycles, frequency_);
  }

 private:
  Frequency frequency_;
  std::int64_t period_;  // 0: not a whole number of picoseconds
};

}  // namespace kernwave
