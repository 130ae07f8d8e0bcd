#include "models/run/run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace kernwave {

namespace {

/// Why simulating has ended before the ledger said that the run is over.
enum class Cut : std::uint8_t { none, starved, no_progress, stopped, paused };

[[nodiscard]] Cut cut_of(bool over) {
  if (over) return Cut::none;
  if (sc_core::sc_get_status() == sc_core::SC_STOPPED) return Cut::stopped;
  return sc_core::sc_pending_activity() ? Cut::paused : Cut::starved;
}

/// Simulates until `over`, until nothing is left to happen, until there was no progress for the ledger's limit, or
/// until somebody stops or pauses the simulation. Time is cut into intervals rather than watched by an event: a run of
/// which nothing is left ends where it ends, not at a watchdog's next look.
[[nodiscard]] Cut simulate_while_progressing(const RunLedger& ledger, const bool& over) {
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
    if (now() >= deadline) return Cut::no_progress;
    const sc_core::sc_time left = to_sc_time(deadline - now());
    // With a next event beyond the deadline SystemC would, asked to stop for want of events, not move at all.
    const bool is_beyond = sc_core::sc_pending_activity() && sc_core::sc_time_to_pending_activity() > left;
    sc_core::sc_start(left, is_beyond ? sc_core::SC_RUN_TO_TIME : sc_core::SC_EXIT_ON_STARVATION);
    // It has gone on as far as it was asked to, unless something is left to happen by then.
    const bool may_go_on = sc_core::sc_pending_activity() && sc_core::sc_get_status() != sc_core::SC_STOPPED;
    const bool is_cut = !may_go_on || now() + to_picoseconds(sc_core::sc_time_to_pending_activity()) <= deadline;
    if (is_cut) return cut_of(over);
  } while (!over);
  return Cut::none;
}

/// The same. An exception that leaves a process of the model comes out of SystemC as a report of its message: a time
/// that does not fit is a failure of the run, the host's memory is the caller's concern, the rest is as it was.
[[nodiscard]] Cut simulate_to_failure(RunLedger& ledger, const bool& over) {
  try {
    return simulate_while_progressing(ledger, over);
  } catch (const sc_core::sc_report& report) {
    const std::string_view message = report.get_msg();
    if (message == std::bad_alloc().what()) throw std::bad_alloc();
    if (message != TimeOverflow::message) throw;
    ledger.model_failed(std::string(report.get_process_name()) + ": " + TimeOverflow::message);
  }
  return Cut::none;
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
  const bool was_watched = ledger.watched();
  ledger.set_watched(true);
  const Cut cut = simulate_to_failure(ledger, *over);
  ledger.set_watched(was_watched);
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
  switch (cut) {
    case Cut::no_progress:
      return RunEnd::no_progress;
    case Cut::stopped:
      return RunEnd::stopped;
    case Cut::paused:
      return RunEnd::paused;
    case Cut::none:
    case Cut::starved:
      break;
  }
  return RunEnd::deadlocked;
}

}  // namespace kernwave
