#include "tests/golden_support/golden_folder.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

// The first from the folder of the executable, the second absolute.
#if !defined(KERNWAVE_INSTALLED_GOLDENS) || !defined(KERNWAVE_SOURCE_GOLDENS)
#error "tests/CMakeLists.txt says where the goldens are"
#endif

namespace kernwave::testing {

namespace fs = std::filesystem;

fs::path golden_folder() {
  if (const char* const chosen = std::getenv("KERNWAVE_GOLDEN_DIR"); chosen != nullptr && *chosen != '\0') {
    if (fs::is_directory(chosen)) return chosen;
    throw std::runtime_error("KERNWAVE_GOLDEN_DIR is " + std::string(chosen) + ", which is no folder");
  }
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  std::string places;
  for (const char* const place : {KERNWAVE_INSTALLED_GOLDENS, KERNWAVE_SOURCE_GOLDENS}) {
    const fs::path folder = (here / place).lexically_normal();
    if (fs::is_directory(folder)) return folder;
    places += (places.empty() ? "" : " and ") + folder.string();
  }
  throw std::runtime_error("there are no goldens in " + places + "; KERNWAVE_GOLDEN_DIR can name their folder");
}

}  // namespace kernwave::testing
