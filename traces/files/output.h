// Common to all writers of files: the end of a run, and the errors of a file.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// The end of the run that a file records.
struct RunNote {
  bool complete = true;  ///< every kernel has drained
  std::string reason;    ///< why not: "deadlock", "interrupted", ...
  Picoseconds end;       ///< simulated time at which the run ended
};

/// The last instant that a run has reached. Events after it, of which observers were told ahead of simulated time, have
/// not happened. In a complete run all events have happened.
[[nodiscard]] inline Picoseconds last_instant(const RunNote& note) noexcept {
  constexpr Picoseconds end_of_time(std::int64_t{1} << 62U);
  return note.complete ? end_of_time : note.end;
}

/// A file that could not be written: what() is the reason alone, the caller knows the path.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// For an errno value.
[[nodiscard]] WriteError write_error(int error);

}  // namespace kernwave::traces
