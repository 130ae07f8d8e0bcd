// What all writers of files have in common: how a run ended, and what can go wrong with a file.
#pragma once

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

/// A file that could not be written: what() is the reason alone, the caller knows the path.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// For an errno value.
[[nodiscard]] WriteError write_error(int error);

}  // namespace kernwave::traces
