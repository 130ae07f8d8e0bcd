// The files that a command reads and writes, and the check of their names before any work.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kernwave::platform {

/// Outputs that contradict one another or an input, or a name that does not fit what is to be written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file, and what asks for it.
struct NamedFile {
  std::string option;  ///< "--json"; "A" of `compare`
  std::string path;
  std::string beside = {};  ///< the output with which it comes, if it is not named itself
};

/// Throws FileError for an output that cannot be written (check_writable), OutputError for one that is also an input,
/// another output, or where standard output or standard error go, under whatever names. Creates nothing.
void check_names(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// The path names standard output: "-", "/dev/stdout".
[[nodiscard]] bool is_standard_output(const std::string& path);

}  // namespace kernwave::platform
