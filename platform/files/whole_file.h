// Reading and writing of whole files, with error messages for users.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "traces/files/output.h"

namespace kernwave::platform {

/// A file that cannot be read or written. what() names the action, the path and the reason.
class FileError : public std::runtime_error {
 public:
  FileError(std::string_view action, std::string path, std::string reason);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The reason alone ("it does not exist"), for a caller that has already named the file.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string path_;
  std::string reason_;
};

[[nodiscard]] FileError cannot_read(const std::string& path, std::string reason);
[[nodiscard]] FileError cannot_write(const std::string& path, std::string reason);

/// Calls `action`, which writes the output at `path`. A traces::WriteError of `action`, which holds the reason alone,
/// becomes a FileError with the name.
template <typename Action>
decltype(auto) writing(const std::string& path, Action&& action) {
  try {
    return action();
  } catch (const traces::WriteError& error) {
    throw cannot_write(path, error.what());
  }
}

/// The bytes of a file. Throws FileError if it does not exist, is a folder, may not be read, or is larger than
/// `limit_bytes`.
[[nodiscard]] std::string read_file(const std::string& path, std::int64_t limit_bytes = std::int64_t{1} << 30);

/// Writes `text` so that `path` holds either all of it or its old contents (traces::PendingFile): a file without a name
/// is written, flushed to the disk, and put in its place. A symbolic link stays a link: the file that it names is
/// replaced. The permissions of an existing file are kept. A device, a pipe and standard output ("-", /dev/stdout) are
/// written in place. Throws FileError, and leaves no temporary file, if any step fails, a full disk included.
void write_file_atomically(const std::string& path, std::string_view text);

/// Whether write_file_atomically(path) can be expected to succeed, asked before long work: throws FileError for all
/// that traces::output_place refuses. Creates nothing.
void check_writable(const std::string& path);

}  // namespace kernwave::platform
