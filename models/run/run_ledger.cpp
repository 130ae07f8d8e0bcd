#include "models/run/run_ledger.h"

#include <algorithm>

namespace kernwave {

RunLedger::RunLedger() {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&quiet_);
  sc_core::sc_spawn([this] { look_for_deadlock(); }, sc_core::sc_gen_unique_name("look_for_deadlock"), &options);
  sc_core::sc_spawn_options of_failures;
  of_failures.spawn_method();
  of_failures.dont_initialize();
  of_failures.set_sensitivity(&failed_);
  sc_core::sc_spawn([this] { report_failure(); }, sc_core::sc_gen_unique_name("report_failure"), &of_failures);
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

bool RunLedger::in_kernel() const noexcept {
  return std::find(kernel_processes_.begin(), kernel_processes_.end(), current_process_()) != kernel_processes_.end();
}

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
