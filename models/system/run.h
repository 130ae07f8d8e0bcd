// Runs a simulation to its end and tells how it ended.
#pragma once

#include <string>
#include <vector>

#include "models/pe/pe_cpu.h"
#include "models/system/run_ledger.h"

namespace kernwave {

enum class RunEnd : std::uint8_t {
  finished,  ///< every kernel has drained
  failed,    ///< a kernel has stopped with an error
  stuck,     ///< nothing can happen any more and a kernel has not ended
};

/// Starts the simulation and returns when the ledger says that the run is over, or when no event is left. Events that
/// keep coming (a clock of the user's) do not keep it from returning. Call once, after elaboration.
[[nodiscard]] RunEnd run_to_end(RunLedger& ledger);

/// What a PE that has not ended is waiting for: its last operation, source line and cause.
[[nodiscard]] std::string describe_wait(const PeCpu& cpu);

}  // namespace kernwave
