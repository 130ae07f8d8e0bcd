#include "models/system/run.h"

#include <memory>

namespace kernwave {

namespace {

/// Simulates until `over`, until nothing is left to happen, or until there was no progress for the ledger's limit.
/// Returns whether it was the latter. Time is cut into stretches rather than watched by an event: a run of which
/// nothing is left ends where it ends, not at a watchdog's next look.
[[nodiscard]] bool simulate_until_stalled(const RunLedger& ledger, const bool& over) {
  const Picoseconds limit = ledger.no_progress_limit();
  if (limit == Picoseconds(0)) {
    sc_core::sc_start();
    return false;
  }
  constexpr Picoseconds instant(1);  // what happens in the last instant of the limit still counts
  do {
    const Picoseconds deadline = ledger.moved_at() + limit + instant;
    if (now() >= deadline) return true;
    const sc_core::sc_time left = to_sc_time(deadline - now());
    // With a next event beyond the deadline SystemC would, asked to stop for want of events, not move at all.
    const bool is_beyond = sc_core::sc_pending_activity() && sc_core::sc_time_to_pending_activity() > left;
    sc_core::sc_start(left, is_beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
  } while (!over && sc_core::sc_pending_activity() && sc_core::sc_get_status() != sc_core::SC_STOPPED);
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
  const bool stalled = simulate_until_stalled(ledger, *over);
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
  return stalled ? RunEnd::stalled : RunEnd::stuck;
}

}  // namespace kernwave
