// Functions of time, given by the configuration, that replace the model's formulas for engines and links.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "models/base/quantity.h"

namespace kernwave {

struct Descriptor;

/// Thrown by a given timing that has no time for a command, such as one outside its table. what() names the command and
/// the reason.
class TimingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The instant at which the service of a command begins.
struct ServiceStart {
  Picoseconds at;
  bool back_to_back = false;  ///< in the instant in which that of the command before it ended
};

/// The time for which a command occupies its engine, and the least such time in any circumstances, for lower bounds.
struct ServiceTime {
  ServiceTime(Picoseconds time) noexcept : taken(time), least(time) {}  // NOLINT(google-explicit-constructor)
  ServiceTime(Picoseconds time, Picoseconds least_time) noexcept : taken(time), least(least_time) {}

  Picoseconds taken;
  Picoseconds least;
};

/// The setup time of a DMA command, and the time for which its data occupy the port of the channel if they come without
/// a gap.
struct TransferTime {
  Picoseconds setup;
  Picoseconds port;
};

/// A function that gives times, and its name in documents and messages: that of a file, or any other. The model calls
/// the function once for each command (on a link, for each message), in the order of service. Its result must depend
/// only on its arguments and its own state. Each engine, channel and link calls its own copy. The function may throw
/// TimingError.
template <typename Function>
struct GivenTiming {
  std::string name;
  Function function;
  /// Whether the function may use the model's own formula, so that the keys of the formula still have an effect.
  bool uses_formula = false;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function); }
};

/// The timing of the matrix or the vector engine.
using ServiceTiming = GivenTiming<std::function<ServiceTime(const Descriptor& command, ServiceStart start)>>;
/// The timing of a DMA channel, for a command whose setup begins at `start`.
using TransferTiming = GivenTiming<std::function<TransferTime(const Descriptor& command, Picoseconds start)>>;
/// The timing of a link: the time for which a message of that many bytes occupies the link, from `start` on.
using LinkTiming = GivenTiming<std::function<Picoseconds(Bytes bytes, Picoseconds start)>>;

}  // namespace kernwave
