#include "tests/golden_support/golden_folder.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tests/support/test_files.h"

namespace kernwave::testing {

namespace fs = std::filesystem;

fs::path golden_folder() {
  if (const char* const chosen = std::getenv("KERNWAVE_GOLDEN_DIR"); chosen != nullptr && *chosen != '\0') {
    if (fs::is_directory(chosen)) return chosen;
    throw std::runtime_error("KERNWAVE_GOLDEN_DIR is " + std::string(chosen) + ", which is no folder");
  }
  const fs::path folder = test_file("tests/golden");
  if (fs::is_directory(folder)) return folder;
  throw std::runtime_error("there are no goldens in " + folder.string() +
                           "; KERNWAVE_GOLDEN_DIR can name their folder");
}

}  // namespace kernwave::testing
