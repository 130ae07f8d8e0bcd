#include "tests/support/test_files.h"

namespace kernwave::testing {

namespace fs = std::filesystem;

fs::path test_file(const fs::path& path) {
  const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  const fs::path installed = prefix / KERNWAVE_INSTALLED_FILES / path;
  return fs::exists(installed) ? installed : fs::path(KERNWAVE_SOURCE_FOLDER) / path;
}

}  // namespace kernwave::testing
