// Calls of the operating system on files, with their errors as values.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernwave::traces {

/// An errno value in words for people.
[[nodiscard]] std::string reason_of(int error);

/// Writes all of `text`; 0, or an errno value.
[[nodiscard]] int write_all(int descriptor, std::string_view text) noexcept;
/// The same from a place in the file on.
[[nodiscard]] int write_all_at(int descriptor, std::string_view text, std::int64_t place) noexcept;

/// Owns a file descriptor. Every call that can fail returns 0 or an errno value.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  /// To the disk.
  [[nodiscard]] int flush() const noexcept;
  /// Some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept;

 private:
  int descriptor_;
};

/// The descriptor, or -1 with errno set. `mode` is that of a file that is created, before the user's mask.
[[nodiscard]] int open_file(const std::string& path, int flags, mode_t mode = 0666) noexcept;

/// What the path names, links followed; nothing, with errno set, if it cannot be asked.
[[nodiscard]] std::optional<struct stat> status_of(const std::string& path) noexcept;

}  // namespace kernwave::traces
