#include "platform/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/quantity.h"
#include "platform/config/units.h"

namespace kernwave::platform {
namespace {

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

/// Owns a file descriptor. Every call that can fail returns 0 or an errno value.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  [[nodiscard]] int write_all(std::string_view text) const noexcept {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return errno;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  [[nodiscard]] int flush() const noexcept {
    if (::fsync(descriptor_) == 0) return 0;
    // Pipes, terminals and some network file systems have nothing to flush.
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
  }

  /// Some file systems report a full disk only here.
  [[nodiscard]] int close() noexcept {
    const int result = ::close(std::exchange(descriptor_, -1));
    // After EINTR the descriptor is closed all the same, on Linux.
    return result == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int descriptor_;
};

[[nodiscard]] int open_file(const std::string& path, int flags) noexcept {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// What the path names, links followed; nothing if it cannot be asked.
std::optional<struct stat> status_of(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// The path with symbolic links resolved, so that a rename replaces the file and not the link to it.
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

/// Opens a new file in `folder`; `path` receives its name.
int open_unique(const fs::path& folder, std::string& path) {
  // O_EXCL makes the name unique; the process id only keeps the search short. The name of the final file is not part
  // of it, since a name of maximal length would become too long.
  constexpr int attempts = 1000;
  for (int n = 0; n < attempts; ++n) {
    path = (folder / fmt::format(".kernwave-{}-{}.tmp", ::getpid(), n)).string();
    const int descriptor = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// A new file next to its final place, removed again unless it was renamed into it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& final_path)
      : final_path_(final_path), file_(open_unique(final_path.parent_path(), path_)), exists_(file_.is_open()) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (exists_) ::unlink(path_.c_str());
  }

  [[nodiscard]] Descriptor& file() noexcept { return file_; }

  [[nodiscard]] int rename() noexcept {
    if (::rename(path_.c_str(), final_path_.c_str()) != 0) return errno;
    exists_ = false;
    return 0;
  }

 private:
  fs::path final_path_;
  std::string path_;
  Descriptor file_;
  bool exists_;
};

int write_and_close(Descriptor& file, std::string_view text) noexcept {
  if (const int error = file.write_all(text)) return error;
  if (const int error = file.flush()) return error;
  return file.close();
}

int replace_file(const std::string& path, const struct stat* existing, std::string_view text) {
  TemporaryFile temporary{fs::path(path)};
  if (!temporary.file().is_open()) return errno;
  // Not being allowed to keep the permissions is no reason to lose the contents.
  if (existing != nullptr) (void)!::fchmod(temporary.file().get(), existing->st_mode & mode_t{07777});
  if (const int error = write_and_close(temporary.file(), text)) return error;
  return temporary.rename();
}

int write_in_place(const std::string& path, std::string_view text) noexcept {
  Descriptor file(open_file(path, O_WRONLY));
  return file.is_open() ? write_and_close(file, text) : errno;
}

}  // namespace

FileError::FileError(std::string_view action, std::string path, std::string reason)
    : std::runtime_error(fmt::format("cannot {} {}: {}", action, in_quotes(path), reason)),
      path_(std::move(path)),
      reason_(std::move(reason)) {}

std::string read_file(const std::string& path, std::int64_t limit_bytes) {
  const Descriptor file(open_file(path, O_RDONLY));
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
  check_writable(path);
  const std::string target = resolve_links(path);
  const std::optional<struct stat> existing = status_of(target);
  const bool in_place = existing && !S_ISREG(existing->st_mode);
  const int error =
      in_place ? write_in_place(target, text) : replace_file(target, existing ? &*existing : nullptr, text);
  if (error != 0) throw cannot_write(path, reason_of(error));
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
  const fs::path whole(target);
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
