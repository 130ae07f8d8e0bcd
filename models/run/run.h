// The loop that simulates a run to its end and tells how it ended.
#pragma once

#include <cstdint>

#include "models/run/run_ledger.h"

namespace kernwave {

enum class RunEnd : std::uint8_t {
  finished,  ///< every kernel has drained
  failed,    ///< a kernel has stopped with an error
  interrupted,
  deadlocked,   ///< a kernel has not ended, and nothing that could let it go on can happen any more
  stopped,      ///< somebody has called sc_stop before
  paused,       ///< somebody has called sc_pause before: `run_to_end` may be called again
  no_progress,  ///< a kernel has not ended, and nothing has moved for the ledger's no_progress_limit()
};

/// Starts the simulation and returns when the ledger says that the run is over, when no event is left, or when no
/// operation has completed and no program has issued anything for the ledger's `no_progress_limit()`. It returns even
/// if other events, such as those of a user's clock, keep coming. A user's `sc_stop` or `sc_pause` ends it too. Call it
/// after elaboration, and again after `paused`, or when more has been launched.
[[nodiscard]] RunEnd run_to_end(RunLedger& ledger);

}  // namespace kernwave
