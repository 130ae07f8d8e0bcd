// Who is still running: how a simulation knows its end instead of guessing it from silence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/address.h"
#include "models/base/systemc.h"

namespace kernwave {

/// Counts kernels and tells the end of a run from a failed one. `finished()` is raised when the last kernel has drained
/// or when one has failed, whatever other events are pending.
class RunLedger {
 public:
  enum class State : std::uint8_t { running, finished, failed };

  /// A kernel that stopped with an error.
  struct Failure {
    PeId pe;
    std::string message;
  };

  void kernel_added() noexcept { ++running_; }
  void kernel_drained(Picoseconds at);
  void kernel_failed(PeId pe, const std::string& message);

  [[nodiscard]] const sc_core::sc_event& finished() const noexcept { return finished_; }
  [[nodiscard]] State state() const noexcept;
  [[nodiscard]] const std::vector<Failure>& failures() const noexcept { return failures_; }
  /// When the last kernel had drained.
  [[nodiscard]] Picoseconds end() const noexcept { return end_; }

 private:
  std::int64_t running_ = 0;
  Picoseconds end_;
  std::vector<Failure> failures_;
  sc_core::sc_event finished_;
};

}  // namespace kernwave
