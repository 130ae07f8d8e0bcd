// The files that tests read: of the source tree, or as they were installed beside this executable.
#pragma once

#include <filesystem>

namespace kernwave::testing {

/// `path` is that in the source tree. An installed regression finds them all below <prefix>/share/kernwave.
[[nodiscard]] std::filesystem::path test_file(const std::filesystem::path& path);

}  // namespace kernwave::testing
