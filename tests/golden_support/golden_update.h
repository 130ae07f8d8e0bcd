// `kernwave_regression --update-goldens`: the goldens become what the runs give now.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernwave::testing {

/// Whether the command line asks for an update.
[[nodiscard]] bool asks_for_golden_update(const std::vector<std::string>& arguments);

/// Runs everything, each run in a process of its own; then writes the files that are different, each whole or not at
/// all, and returns what changed, by how much and why, or "nothing changed". A run that fails changes no file. Throws
/// std::exception.
[[nodiscard]] std::string update_goldens(const std::filesystem::path& folder, const std::vector<std::string>& kernels);

/// `--update-goldens`, or `--update-goldens=gemm,...` for some kernels: prints what changed. Returns an exit code.
[[nodiscard]] int carry_out_golden_update(const std::vector<std::string>& arguments);

}  // namespace kernwave::testing
