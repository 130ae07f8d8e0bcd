#include "models/run/run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace kernwave {

namespace {

/// Simulates until `over`, until nothing is left to happen, or until there was no progress for the ledger's limit.
/// Returns whether it was the latter. Time is cut into intervals rather than watched by an event: a run of which
/// nothing is left ends where it ends, not at a watchdog's next look.
[[nodiscard]] bool simulate_while_progressing(const RunLedger& ledger, const bool& over) {
  const Picoseconds limit = ledger.no_progress_limit();
  if (limit == Picoseconds(0)) {
    sc_core::sc_start();
    return false;
  }
  constexpr Picoseconds instant(1);  // what happens in the last instant of the limit still counts
  constexpr Picoseconds end_of_time(std::numeric_limits<std::int64_t>::max());
  do {
    const Picoseconds left_after = end_of_time - ledger.moved_at() - instant;
    const Picoseconds deadline = ledger.moved_at() + instant + std::min(limit, left_after);
    if (now() >= deadline) return true;
    const sc_core::sc_time left = to_sc_time(deadline - now());
    // With a next event beyond the deadline SystemC would, asked to stop for want of events, not move at all.
    const bool is_beyond = sc_core::sc_pending_activity() && sc_core::sc_time_to_pending_activity() > left;
    sc_core::sc_start(left, is_beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
  } while (!over && sc_core::sc_pending_activity() && sc_core::sc_get_status() != sc_core::SC_STOPPED);
  return false;
}

/// The same. An exception that leaves a process of the model comes out of SystemC as a report of its message: a time
/// that does not fit is a failure of the run, the host's memory is the caller's concern, the rest is as it was.
[[nodiscard]] bool simulate_to_failure(RunLedger& ledger, const bool& over) {
  try {
    return simulate_while_progressing(ledger, over);
  } catch (const sc_core::sc_report& report) {
    const std::string_view message = report.get_msg();
    if (message == std::bad_alloc().what()) throw std::bad_alloc();
    if (message != TimeOverflow::message) throw;
    ledger.model_failed(std::string(report.get_process_name()) + ": " + TimeOverflow::message);
  }
  return false;
}

}  // namespace

RunEnd run_to_end(RunLedger& ledger) {
  const auto over = std::make_shared<bool>(false);  // the process outlives this call
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&ledger.finished());
  const auto end = [over] {
    *over = true;
    sc_core::sc_pause();
  };
  sc_core::sc_spawn(end, sc_core::sc_gen_unique_name("end_of_run"), &options);
  const bool no_progress = simulate_to_failure(ledger, *over);
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
  return no_progress ? RunEnd::no_progress : RunEnd::deadlocked;
}

}  // namespace kernwave
