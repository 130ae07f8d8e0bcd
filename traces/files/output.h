// Common to all writers of files: the end of a run, and the errors of a file.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// How the run ended that a file tells of.
struct RunNote {
  bool complete = true;  ///< every kernel has drained
  std::string reason;    ///< why not: "deadlock", "interrupted", ...
  Picoseconds end;       ///< simulated time at which the run ended
};

/// The last instant that a run has reached: what observers were told of later ones, ahead of simulated time, has not
/// happened. All that was told of a complete run has.
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
