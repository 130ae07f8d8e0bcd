// The request of a run: configuration, kernel, policy, data mode, checks.
#pragma once

#include <string>
#include <vector>

#include "kernels/tl/policy.h"
#include "models/config/system_config.h"
#include "platform/config/configuration.h"
#include "platform/request/machine.h"

namespace kernwave::platform {

/// The checks of a run while it goes on, besides that of its result.
struct CheckRequest {
  bool strict = false;    ///< warnings are errors, and data mode `none` is checked for races too
  bool trap_nan = false;  ///< the first NaN ends the run; data mode `full`
};

struct RunRequest {
  Configuration configuration;
  std::string kernel;
  tl::Policy policy = tl::Policy::lazy;
  DataMode data = DataMode::full;
  std::string command;  ///< as the user typed it, for the record
  CheckRequest checks = {};
  MachineBuilder build = {};            ///< of the machine to simulate; empty: a plain one
  std::vector<std::string> notes = {};  ///< of the command line, for the document; those of keys come behind
};

}  // namespace kernwave::platform
