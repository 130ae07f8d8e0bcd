// The error of a time that does not fit into 64 bits.
#pragma once

#include <stdexcept>

namespace kernwave {

/// A time or a duration of 2^63 ps or more.
class TimeOverflow : public std::overflow_error {
 public:
  static constexpr const char* message =
      "simulated time goes beyond 2^63 ps, which are 106 days: the machine is too slow for so much work";

  TimeOverflow() : std::overflow_error(message) {}
};

/// Throws TimeOverflow. Out of line, so that a check costs a comparison.
[[noreturn]] void fail_time_overflow();

}  // namespace kernwave
