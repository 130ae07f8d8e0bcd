#include "models/run/run_ledger.h"

#include <algorithm>

namespace kernwave {

RunLedger::RunLedger() {
  spawn_method("look_for_deadlock", quiet_, [this] { look_for_deadlock(); });
  spawn_method("report_failure", failed_, [this] { report_failure(); });
}

/// A delta cycle after the last activity ended: a kernel that it woke has become one by now. If a kernel was ahead of
/// simulated time when it began to wait, when that has come.
void RunLedger::look_for_deadlock() {
  if (activities_ > 0 || running_ == 0) return;
  deadlocked_ = true;
  finished_.notify(sc_core::SC_ZERO_TIME);
}

void RunLedger::kernel_drained(Picoseconds at) {
  end_ = std::max(end_, at);
  release();
}

bool RunLedger::in_kernel() const noexcept { return kernel_processes_.count(current_process_()) != 0; }

void RunLedger::release() {
  --running_;
  activity_ends();
  if (running_ == 0) finished_.notify(sc_core::SC_ZERO_TIME);
}

void RunLedger::kernel_failed(PeId pe, const std::string& message) {
  failures_.push_back({pe, message});
  if (!watched_) failed_.notify(sc_core::SC_ZERO_TIME);
  finished_.notify(sc_core::SC_ZERO_TIME);
}

void RunLedger::report_failure() {
  if (reported_) return;
  reported_ = true;
  SC_REPORT_ERROR(report_type::kernel, failures_.front().message.c_str());
}

void RunLedger::model_failed(const std::string& message) { failures_.push_back({std::nullopt, message}); }

RunLedger::State RunLedger::state() const noexcept {
  if (!failures_.empty()) return State::failed;
  if (deadlocked_) return State::deadlocked;
  if (running_ == 0) return State::finished;
  return interrupted_ ? State::interrupted : State::running;
}

}  // namespace kernwave
