// One run: a workload on a machine, and what it leaves.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/tl/policy.h"
#include "models/system/system_config.h"
#include "platform/config/configuration.h"
#include "platform/json/json.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// The simulation ended badly: a kernel error, a deadlock, a result that is wrong.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RunRequest {
  Configuration configuration;
  std::string kernel;
  tl::Policy policy = tl::Policy::lazy;
  DataMode data = DataMode::full;
  std::string command;  ///< as the user typed it, for the record
};

/// Simulates in this process, in which nothing was simulated before (SystemC elaborates once a process), and returns
/// the result document (docs/results.md). Throws SimulationError.
[[nodiscard]] Json simulate(const RunRequest& request, const Workload& workload);

/// The same in a process of its own.
[[nodiscard]] Json simulate_isolated(const RunRequest& request, const Workload& workload);

/// Throws SimulationError when the numeric error of a result lies beyond the workload's tolerance.
void require_right_result(const Json& result);

}  // namespace kernwave::platform
