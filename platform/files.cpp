#include "platform/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "models/base/quantity.h"
#include "platform/config/units.h"
#include "platform/file_system.h"
#include "platform/message_text.h"
#include "platform/pending_file.h"

namespace kernwave::platform {

FileError::FileError(std::string_view action, std::string path, std::string reason)
    : std::runtime_error(fmt::format("cannot {} {}: {}", action, in_quotes(path), reason)),
      path_(std::move(path)),
      reason_(std::move(reason)) {}

std::string read_file(const std::string& path, std::int64_t limit_bytes) {
  const OpenFile file(open_file(path, O_RDONLY));
  if (!file.is_open()) throw cannot_read(path, reason_of(errno));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_read(path, reason_of(errno));
    if (count == 0) return text;
    // Counted while reading: a device or a growing file does not tell its size beforehand.
    if (static_cast<std::int64_t>(text.size()) + count > limit_bytes) {
      throw cannot_read(path, fmt::format("it is larger than {}", format_quantity(Bytes(limit_bytes))));
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void write_file_atomically(const std::string& path, std::string_view text) {
  PendingFile pending(path);
  OpenFile file(open_file(pending.temporary_path(), O_WRONLY));
  if (!file.is_open()) throw cannot_write(path, reason_of(errno));
  if (const int error = file.write_all(text)) throw cannot_write(path, reason_of(error));
  if (const int error = file.close()) throw cannot_write(path, reason_of(error));
  pending.commit();
}

void check_writable(const std::string& path) {
  if (path.empty()) throw cannot_write(path, "the name is empty");
  if (path.find('\0') != std::string::npos) throw cannot_write(path, "the name holds a zero byte");
  const std::string target = resolve_links(path);
  const std::optional<struct stat> existing = status_of(target);
  if (existing && S_ISDIR(existing->st_mode)) throw cannot_write(path, "it is a folder");
  if (existing && !S_ISREG(existing->st_mode)) {
    if (::access(target.c_str(), W_OK) != 0) throw cannot_write(path, reason_of(errno));
    return;
  }
  const std::filesystem::path whole(target);
  if (!whole.has_filename()) throw cannot_write(path, "it names a folder, not a file");
  const std::string parent = whole.has_parent_path() ? whole.parent_path().string() : ".";
  const std::optional<struct stat> folder = status_of(parent);
  if (!folder) throw cannot_write(path, fmt::format("its folder {} does not exist", in_quotes(parent)));
  if (!S_ISDIR(folder->st_mode)) throw cannot_write(path, fmt::format("{} is not a folder", in_quotes(parent)));
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    throw cannot_write(path, fmt::format("its folder {} may not be written ({})", in_quotes(parent), reason_of(errno)));
  }
}

}  // namespace kernwave::platform
