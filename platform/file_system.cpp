#include "platform/file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kernwave::platform {

namespace fs = std::filesystem;

std::string reason_of(int error) {
  switch (error) {
    case ENOENT:
      return "it does not exist";
    case EISDIR:
      return "it is a folder";
    case EACCES:
    case EPERM:
      return "permission denied";
    case ENOSPC:
    case EDQUOT:
      return "the disk is full";
    default:
      return std::generic_category().message(error);
  }
}

FileError cannot_read(const std::string& path, std::string reason) {
  return FileError("read", path, std::move(reason));
}

FileError cannot_write(const std::string& path, std::string reason) {
  return FileError("write", path, std::move(reason));
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int OpenFile::write_all(std::string_view text) const noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int OpenFile::flush() const noexcept {
  if (::fsync(descriptor_) == 0) return 0;
  // Pipes, terminals and some network file systems have nothing to flush.
  return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

int OpenFile::close() noexcept {
  const int result = ::close(std::exchange(descriptor_, -1));
  // After EINTR the descriptor is closed all the same, on Linux.
  return result == 0 || errno == EINTR ? 0 : errno;
}

int open_file(const std::string& path, int flags, mode_t mode) noexcept {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

std::optional<struct stat> status_of(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::string resolve_links(const std::string& path) {
  std::error_code error;
  fs::path resolved = path;
  for (int hops = 0; hops < 40 && fs::is_symlink(resolved, error); ++hops) {
    const fs::path target = fs::read_symlink(resolved, error);
    if (error) break;
    resolved = target.is_absolute() ? target : resolved.parent_path() / target;
  }
  return resolved.string();
}

}  // namespace kernwave::platform
