#include "models/system/run.h"

namespace kernwave {

RunEnd run_to_end(RunLedger& ledger) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&ledger.finished());
  sc_core::sc_spawn([] { sc_core::sc_pause(); }, sc_core::sc_gen_unique_name("end_of_run"), &options);
  sc_core::sc_start();
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
  return RunEnd::stuck;
}

}  // namespace kernwave
