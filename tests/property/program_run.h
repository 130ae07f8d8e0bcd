// Programs on the simulator: each under three policies and in both data modes, and what must hold of these six runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "tests/property/program.h"

namespace kernwave::testing {

/// What the runs of one program have shown.
struct ProgramReport {
  std::vector<std::string> failures;        ///< a sentence each
  std::array<std::int64_t, 3> latencies{};  ///< in ps, of blocking, lazy, stall_on_use
};

/// Runs the programs in one process, all of them at once. A report for each; where the process died, all of them fail.
[[nodiscard]] std::vector<ProgramReport> run_together(const std::vector<Program>& programs);

/// A program alone: what fails, empty where nothing does.
[[nodiscard]] std::string failure_of(const Program& program);

}  // namespace kernwave::testing
