// Where the goldens are.
#pragma once

#include <filesystem>

namespace kernwave::testing {

/// KERNWAVE_GOLDEN_DIR if it is set; else the data folder that was installed with this executable; else, of one that
/// was not installed, the source tree. Throws std::runtime_error if there is no such folder.
[[nodiscard]] std::filesystem::path golden_folder();

}  // namespace kernwave::testing
