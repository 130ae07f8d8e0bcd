// Reading and writing whole files, with errors for people.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// The bytes of a file. Throws FileError if it does not exist, is a folder, may not be read, or is larger than
/// `limit_bytes`.
[[nodiscard]] std::string read_file(const std::string& path, std::int64_t limit_bytes = std::int64_t{1} << 30);

/// Writes `text` so that `path` holds either all of it or what it held before: a temporary file in the same folder is
/// written, flushed to the disk, closed and renamed. A symbolic link stays one: the file that it names is replaced.
/// The permissions of an existing file are kept. A device or pipe (/dev/stdout) is written in place.
/// Throws FileError, and leaves no temporary file, if any step fails, a full disk included.
void write_file_atomically(const std::string& path, std::string_view text);

/// Whether write_file_atomically(path) can be expected to succeed, asked before long work: throws FileError if the
/// parent folder does not exist or may not be written, or if the path is a folder. Creates nothing.
void check_writable(const std::string& path);

}  // namespace kernwave::platform
