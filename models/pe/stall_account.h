// The account of a PE's time, in picoseconds for each cause.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/base/quantity.h"

namespace kernwave {

/// The activity of a program, or the condition that it waits for.
enum class TimeCause : std::uint8_t {
  issue,         ///< issuing operations
  load,          ///< waiting for a load
  compute,       ///< waiting for a dot or a MATH operation
  store,         ///< waiting for a store
  composite,     ///< waiting for a composite
  receive,       ///< waiting for a message
  credit,        ///< waiting for room at the receiver, or for a message to land there
  queue,         ///< waiting for a place in the scheduler's queue
  scratch,       ///< waiting for bytes of scratch that are still in use
  memory_order,  ///< waiting for an earlier access to the same bytes of HBM
  drain,         ///< the program has ended; its last operations have not
  idle,          ///< drained, while other PEs still run
};
inline constexpr std::size_t time_cause_count = 12;

[[nodiscard]] std::string_view name_of(TimeCause cause) noexcept;

struct SpentTime {
  TimeCause cause = TimeCause::issue;
  Picoseconds time;
};

/// Picoseconds by cause. They sum to the lifetime exactly: time advances nowhere else.
class StallAccount {
 public:
  void add(TimeCause cause, Picoseconds time) { times_[static_cast<std::size_t>(cause)] += time; }
  StallAccount& operator+=(const SpentTime& spent) {
    add(spent.cause, spent.time);
    return *this;
  }
  [[nodiscard]] Picoseconds of(TimeCause cause) const noexcept { return times_[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] Picoseconds total() const;

 private:
  std::array<Picoseconds, time_cause_count> times_{};
};

}  // namespace kernwave
