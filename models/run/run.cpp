#include "models/run/run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace kernwave {

namespace {

/// How a run has ended of which the ledger does not say so.
[[nodiscard]] RunEnd cut_of(bool over) {
  if (over) return RunEnd::deadlocked;
  if (sc_core::sc_get_status() == sc_core::SC_STOPPED) return RunEnd::stopped;
  return sc_core::sc_pending_activity() ? RunEnd::paused : RunEnd::deadlocked;
}

/// Simulates until `over`, until nothing is left to happen, until there was no progress for the ledger's limit, or
/// until somebody stops or pauses the simulation. Time is cut into intervals rather than watched by an event: a run of
/// which nothing is left ends where it ends, not at a watchdog's next look.
[[nodiscard]] RunEnd simulate_while_progressing(const RunLedger& ledger, const bool& over) {
  const Picoseconds limit = ledger.no_progress_limit();
  if (limit == Picoseconds(0)) {
    sc_core::sc_start();
    return cut_of(over);
  }
  constexpr Picoseconds instant(1);  // what happens in the last instant of the limit still counts
  constexpr Picoseconds end_of_time(std::numeric_limits<std::int64_t>::max());
  do {
    const Picoseconds left_after = end_of_time - ledger.moved_at() - instant;
    const Picoseconds deadline = ledger.moved_at() + instant + std::min(limit, left_after);
    if (now() >= deadline) return RunEnd::no_progress;
    const sc_core::sc_time left = to_sc_time(deadline - now());
    // With a next event beyond the deadline SystemC would, asked to stop for want of events, not move at all.
    const bool is_beyond = sc_core::sc_pending_activity() && sc_core::sc_time_to_pending_activity() > left;
    sc_core::sc_start(left, is_beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
    // It has gone on as far as it was asked to, unless something is left to happen by then.
    const bool may_go_on = sc_core::sc_pending_activity() && sc_core::sc_get_status() != sc_core::SC_STOPPED;
    const bool is_cut = !may_go_on || now() + to_picoseconds(sc_core::sc_time_to_pending_activity()) <= deadline;
    if (is_cut) return cut_of(over);
  } while (!over);
  return cut_of(over);
}

/// The same. An exception that leaves a process of the model comes out of SystemC as a report of its message: a time
/// that does not fit is a failure of the run, the host's memory is the caller's concern, the rest is as it was.
[[nodiscard]] RunEnd simulate_to_failure(RunLedger& ledger, const bool& over) {
  try {
    return simulate_while_progressing(ledger, over);
  } catch (const sc_core::sc_report& report) {
    const std::string_view message = report.get_msg();
    if (message == std::bad_alloc().what()) throw std::bad_alloc();
    if (message != TimeOverflow::message) throw;
    ledger.model_failed(std::string(report.get_process_name()) + ": " + TimeOverflow::message);
  }
  return RunEnd::failed;
}

/// While it lives, its owner says how the run ends.
class WatchedLedger {
 public:
  explicit WatchedLedger(RunLedger& ledger) : ledger_(ledger), before_(ledger.watched()) { ledger.set_watched(true); }
  WatchedLedger(const WatchedLedger&) = delete;
  WatchedLedger& operator=(const WatchedLedger&) = delete;
  ~WatchedLedger() { ledger_.set_watched(before_); }

 private:
  RunLedger& ledger_;
  bool before_;
};

}  // namespace

RunEnd run_to_end(RunLedger& ledger) {
  const auto over = std::make_shared<bool>(false);  // the process outlives this call
  spawn_method("end_of_run", ledger.finished(), [over] {
    *over = true;
    sc_core::sc_pause();
  });
  const WatchedLedger watched(ledger);
  const RunEnd cut = simulate_to_failure(ledger, *over);
  switch (ledger.state()) {
    case RunLedger::State::finished:
      return RunEnd::finished;
    case RunLedger::State::failed:
      return RunEnd::failed;
    case RunLedger::State::interrupted:
      return RunEnd::interrupted;
    case RunLedger::State::deadlocked:
    case RunLedger::State::running:
      break;
  }
  return cut;
}

}  // namespace kernwave
