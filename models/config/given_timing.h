// Functions of time, given by the configuration, that replace the model's formulas for engines and links.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "models/base/quantity.h"

namespace kernwave {

struct Descriptor;

/// A given timing has no time for a command: one outside of its table, say. what() says which and why.
class TimingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// When the service of a command begins.
struct ServiceStart {
  Picoseconds at;
  bool back_to_back = false;  ///< in the instant in which that of the command before it ended
};

/// How long a command keeps its engine, and the least that it would keep it in any circumstances, for lower bounds.
struct ServiceTime {
  ServiceTime(Picoseconds time) noexcept : taken(time), least(time) {}  // NOLINT(google-explicit-constructor)
  ServiceTime(Picoseconds time, Picoseconds least_time) noexcept : taken(time), least(least_time) {}

  Picoseconds taken;
  Picoseconds least;
};

/// How long a DMA command is set up, and how long its data keep the port of the channel once they come without a gap.
struct TransferTime {
  Picoseconds setup;
  Picoseconds port;
};

/// A function that gives times, and the name under which documents and messages speak of it: that of a file, or any
/// other. It is called once for each command (a message, on a link), in the order of service, and depends on nothing
/// but its arguments and its own state. Each engine, channel and link calls a copy of its own. It may throw
/// TimingError.
template <typename Function>
struct GivenTiming {
  std::string name;
  Function function;
  /// It may ask the model's own formula, so that the configuration's keys still matter.
  bool uses_formula = false;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(function); }
};

/// Of the matrix or the vector engine.
using ServiceTiming = GivenTiming<std::function<ServiceTime(const Descriptor& command, ServiceStart start)>>;
/// Of a DMA channel: of a command whose setup begins at `start`.
using TransferTiming = GivenTiming<std::function<TransferTime(const Descriptor& command, Picoseconds start)>>;
/// Of a link: how long a message of that many bytes keeps it, from `start` on.
using LinkTiming = GivenTiming<std::function<Picoseconds(Bytes bytes, Picoseconds start)>>;

}  // namespace kernwave
