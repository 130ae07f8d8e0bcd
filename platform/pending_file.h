// A file that is being written: under its own name only when it is whole.
#pragma once

#include <cstdint>
#include <string>

namespace kernwave::platform {

/// The place of a file for a writer that wants a path and time. Until `commit()` the final path holds what it held
/// before: the writer has a temporary file in the same folder, which goes away with an object that was not committed.
/// A device or pipe (/dev/stdout) as final path is itself what the writer gets.
class PendingFile {
 public:
  /// What the writer can do with.
  enum class Kind : std::uint8_t {
    any,
    regular,  ///< it seeks: no device or pipe
  };

  /// Makes the temporary file, empty. Throws FileError, for all reasons of check_writable and for a final path that is
  /// not of the kind.
  explicit PendingFile(const std::string& path, Kind kind = Kind::any);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  /// As it was asked for.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// What the writer is to write. It may replace the contents, not the file.
  [[nodiscard]] const std::string& temporary_path() const noexcept { return temporary_; }

  /// The writer has closed its file: flushes it to the disk and puts it in its place, with the permissions of the file
  /// that it replaces; a symbolic link stays one. Throws FileError, and the final path is as it was before.
  void commit();

 private:
  [[nodiscard]] bool in_place() const noexcept { return temporary_ == target_; }
  /// 0 or an errno value.
  [[nodiscard]] int put_in_place() const;

  std::string path_;
  std::string target_;  // links resolved
  std::string temporary_;
  bool pending_ = false;  // there is a temporary file
};

}  // namespace kernwave::platform
