// The progress of a run, in one line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/system/system.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// The progress of a run.
struct ProgressState {
  Picoseconds simulated;
  std::int64_t operations = 0;     ///< issued so far
  double seconds = 0.0;            ///< of the host's time, so far
  std::optional<double> fraction;  ///< of the run that is over; unknown if nothing can be said
};

/// "simulated 1.234 ms   12.3 M operations   2.9 M/s   about 40 s left"
[[nodiscard]] std::string progress_text(const ProgressState& state);

/// The share of the compulsory work that is done: of the bytes read or of the multiply-accumulates, whichever is
/// smaller. A kernel that does more of one than is compulsory, for instance reads its keys again for every block of
/// queries, would otherwise seem complete before its end. Never above 0.99; nothing while no work is done.
[[nodiscard]] std::optional<double> done_fraction(const System& system, const std::vector<CompulsoryWork>& work);

[[nodiscard]] ProgressState progress_of(const System& system, const std::vector<CompulsoryWork>& work, double seconds);

/// One line of a terminal (standard error), which is overwritten on every update and removed with the object.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void show(const std::string& text);

 private:
  std::size_t shown_ = 0;  // characters on the terminal
};

}  // namespace kernwave::platform
