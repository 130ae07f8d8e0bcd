// The ledger of a run: counts running kernels and activities, and so knows when the run ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "models/base/address.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"

namespace kernwave {

/// Counts kernels and activities. An activity is anything that can still make a kernel go on: a running kernel, or an
/// operation in flight, unless it waits for a message that nobody has sent. `finished()` is raised when the last kernel
/// has drained, when one has failed, when the run is interrupted, or in a deadlock: kernels that have not ended and no
/// activity, whatever other events (a clock, a refresh) keep coming. Construct during elaboration.
class RunLedger {
 public:
  enum class State : std::uint8_t { running, finished, failed, deadlocked, interrupted };

  /// A kernel, or a process of the model, that stopped with an error.
  struct Failure {
    std::optional<PeId> pe;  ///< of a kernel
    std::string message;
  };

  RunLedger();
  RunLedger(const RunLedger&) = delete;
  RunLedger& operator=(const RunLedger&) = delete;
  ~RunLedger() = default;

  void kernel_added() noexcept {
    ++running_;
    ++activities_;
  }
  void kernel_drained(Picoseconds at);
  /// Somebody may launch more kernels: the run is not over before as many calls of `release`.
  void hold() noexcept { kernel_added(); }
  void release();
  /// The process that runs now runs kernels.
  [[nodiscard]] bool in_kernel() const noexcept;
  void add_kernel_process(const sc_core::sc_process_b* process) { kernel_processes_.insert(process); }
  void kernel_failed(PeId pe, const std::string& message);
  void model_failed(const std::string& message);
  /// The caller of this says how the run has ended (`run_to_end`). Otherwise a kernel that fails is reported to SystemC
  /// as an error of type "kernwave/kernel", once, by a process of the ledger.
  void set_watched(bool is) noexcept { watched_ = is; }
  [[nodiscard]] bool watched() const noexcept { return watched_; }

  /// Ends the run at this instant, on request from outside the model.
  void interrupt() {
    interrupted_ = true;
    finished_.notify(sc_core::SC_ZERO_TIME);
  }

  /// Begins or ends an activity. A module that sends messages to a PE from outside the model holds one activity as long
  /// as it may send more.
  void activity_begins() noexcept {
    moved();
    ++activities_;
  }
  void activity_ends() {
    moved();
    if (--activities_ == 0) quiet_.notify(to_sc_time(moved_at_ - now()));
  }

  /// Records progress: an operation was issued or has completed. The begin and the end of an activity are progress too.
  void moved() noexcept { moved(now()); }
  /// Records progress at `at`, for a caller that is ahead of simulated time.
  void moved(Picoseconds at) noexcept { moved_at_ = std::max(moved_at_, at); }
  /// The last instant at which there was progress.
  [[nodiscard]] Picoseconds moved_at() const noexcept { return moved_at_; }
  /// Whether a run without progress between the two instants ends in between.
  [[nodiscard]] bool stalls(Picoseconds from, Picoseconds to) const {
    return no_progress_limit_ != Picoseconds(0) && to - from >= no_progress_limit_;
  }
  /// The simulated time for which `run_to_end` goes on without progress; 0: no limit.
  [[nodiscard]] Picoseconds no_progress_limit() const noexcept { return no_progress_limit_; }
  void set_no_progress_limit(Picoseconds limit) noexcept { no_progress_limit_ = limit; }

  [[nodiscard]] const sc_core::sc_event& finished() const noexcept { return finished_; }
  [[nodiscard]] State state() const noexcept;
  [[nodiscard]] const std::vector<Failure>& failures() const noexcept { return failures_; }
  /// The instant at which the last kernel had drained.
  [[nodiscard]] Picoseconds end() const noexcept { return end_; }

 private:
  void look_for_deadlock();
  void report_failure();

  SimulatedTime now;
  CurrentProcess current_process_;
  std::unordered_set<const sc_core::sc_process_b*> kernel_processes_;  // looked up, never iterated
  Picoseconds moved_at_;
  Picoseconds no_progress_limit_ = RunConfig{}.no_progress_limit;
  std::int64_t running_ = 0;
  std::int64_t activities_ = 0;
  bool watched_ = false;
  bool reported_ = false;
  bool deadlocked_ = false;
  bool interrupted_ = false;
  Picoseconds end_;
  std::vector<Failure> failures_;
  sc_core::sc_event finished_;
  sc_core::sc_event quiet_;
  sc_core::sc_event failed_;
};

}  // namespace kernwave
