// The machine that a run simulates: a plain System, or one that a user's function builds.
#pragma once

#include <functional>
#include <memory>

#include "models/system/system.h"

namespace kernwave::platform {

/// A System, and everything that a user has bound to it: engines, monitors, modules around it. Taken down after the
/// run.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  [[nodiscard]] virtual System& system() = 0;
};

/// Builds a machine of that configuration and data mode, in the process that simulates it. Called once a run: a
/// prediction that is put to the test runs on a machine of its own, with another configuration.
using MachineBuilder = std::function<std::unique_ptr<Machine>(const SystemConfig& config, DataMode data)>;

}  // namespace kernwave::platform
