// The simulation of one run: a workload on a machine, and its outputs.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/json/json.h"
#include "platform/outputs/outputs.h"
#include "platform/request/run_request.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// The simulation ended badly: a kernel error, a deadlock, no progress, a race, a result that is wrong.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The outputs of a run besides its result, and its interaction with the host.
struct RunOptions {
  OutputRequest outputs;
  bool interruptible = false;  ///< Ctrl-C and its like (interrupt.h) end the simulation, not the process
  bool progress = false;       ///< a line on standard error, a terminal
  /// For a process that ends soon: keeps the machine until the process ends, and saves the time to destroy it.
  bool keeps_machine = false;
  /// Puts the predictions of a critical path to the test, before documents are written; may be empty.
  std::function<void(Json& critical_path)> verify;
};

/// The outcome of a run that did not fail.
struct RunOutcome {
  Json document;
  int interrupted_by = 0;             ///< the signal; 0: it was not interrupted
  Picoseconds end;                    ///< simulated time
  std::vector<std::string> problems;  ///< outputs that could not be written, a sentence each
  std::vector<std::string> warnings;  ///< findings of the checks, a sentence each
  std::vector<std::string> notes;     ///< options and keys without effect, a sentence each
};

/// Simulates in this process, in which nothing was simulated before (SystemC elaborates once a process), and writes the
/// outputs. The outputs of a run that fails or is interrupted hold all events up to that instant and are marked as
/// incomplete; a run that fails has no result document. Throws SimulationError, and FileError or OutputError before
/// anything is simulated.
[[nodiscard]] RunOutcome simulate(const RunRequest& request, const Workload& workload, const RunOptions& options);

/// The same without outputs; returns the result document (docs/results.md). Throws SimulationError.
[[nodiscard]] Json simulate(const RunRequest& request, const Workload& workload);

/// The same in a process of its own.
[[nodiscard]] Json simulate_isolated(const RunRequest& request, const Workload& workload);

/// Throws SimulationError, which names the first wrong element, when the arithmetic cannot explain a result's error.
void require_right_result(const Json& result);

}  // namespace kernwave::platform
