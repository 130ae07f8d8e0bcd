// Which runs have goldens, and what they give.
#pragma once

#include <string>
#include <vector>

#include "kernels/tl/policy.h"
#include "tests/golden_support/golden_document.h"

namespace kernwave::testing {

/// One run without data.
struct GoldenRun {
  std::string kernel;
  tl::Policy policy;
  std::string options;  ///< machine and shape, as on the command line
};

/// Every kernel that can be run.
[[nodiscard]] std::vector<std::string> golden_kernels();

/// Of all policies, those of a policy in a row.
[[nodiscard]] std::vector<GoldenRun> golden_runs(const std::string& kernel);
[[nodiscard]] std::vector<GoldenRun> golden_runs(const std::string& kernel, tl::Policy policy);

/// "kernwave run gemm --policy lazy ...", to look into the run.
[[nodiscard]] std::string command_of(const GoldenRun& run);

/// Simulates in this process, in which nothing was simulated before. Throws std::runtime_error with the command if the
/// run cannot be made or fails.
[[nodiscard]] GoldenFigures simulate(const GoldenRun& run);

}  // namespace kernwave::testing
