#include "traces/files/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

namespace kernwave::traces {

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
    case ENAMETOOLONG:
      return "the name is too long";
    default:
      return std::generic_category().message(error);
  }
}

namespace {

/// `write_some` writes the beginning of a text and returns how much of it, or -1 with errno set.
template <typename WriteSome>
[[nodiscard]] int write_by_pieces(std::string_view text, WriteSome write_some) noexcept {
  while (!text.empty()) {
    const ssize_t written = write_some(text);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int write_all(int descriptor, std::string_view text) noexcept {
  return write_by_pieces(text,
                         [descriptor](std::string_view rest) { return ::write(descriptor, rest.data(), rest.size()); });
}

int write_all_at(int descriptor, std::string_view text, std::int64_t place) noexcept {
  const std::int64_t end = place + static_cast<std::int64_t>(text.size());
  return write_by_pieces(text, [descriptor, end](std::string_view rest) {
    return ::pwrite(descriptor, rest.data(), rest.size(), end - static_cast<std::int64_t>(rest.size()));
  });
}

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
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

}  // namespace kernwave::traces
