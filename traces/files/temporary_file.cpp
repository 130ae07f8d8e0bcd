#include "traces/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "traces/files/output.h"

namespace kernwave::traces {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".kernwave-";
constexpr std::string_view suffix = ".tmp";
constexpr int attempts = 1000;

[[nodiscard]] bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes a number off the front.
[[nodiscard]] bool skip_number(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(digits);
  return digits > 0;
}

[[nodiscard]] bool skip(std::string_view& text, std::string_view part) {
  if (text.substr(0, part.size()) != part) return false;
  text.remove_prefix(part.size());
  return true;
}

/// ".kernwave-host-4711-0.tmp" with the host of this process.
[[nodiscard]] bool is_of_this_host(std::string_view name) {
  return skip(name, prefix) && skip(name, host_name()) && skip(name, "-") && skip_number(name) && skip(name, "-") &&
         skip_number(name) && name == suffix;
}

/// By which a file without a name gets one, under Linux.
[[nodiscard]] std::string link_to_descriptor(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

/// Whoever has the file open otherwise does not hold its lock, and cannot get it from now on.
[[nodiscard]] bool lock(int file) noexcept { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

/// A lock needs a file that is open for writing on some file systems, and reading is all that may be allowed on others.
[[nodiscard]] OpenFile open_left_behind(const std::string& path) {
  constexpr int flags = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
  OpenFile file(open_file(path, O_RDWR | flags));
  if (!file.is_open()) file = OpenFile(open_file(path, O_RDONLY | flags));
  return file;
}

void remove_if_dead(const std::string& path) {
  const OpenFile file = open_left_behind(path);
  struct stat mine {};
  if (!file.is_open() || ::fstat(file.get(), &mine) != 0 || !S_ISREG(mine.st_mode) || !lock(file.get())) return;
  // It may have got its final name, and another file this one, before it was locked here.
  const std::optional<struct stat> named = status_of(path);
  if (named && named->st_ino == mine.st_ino && named->st_dev == mine.st_dev) ::unlink(path.c_str());
}

}  // namespace

std::string host_name() {
  std::array<char, 256> text{};
  if (::gethostname(text.data(), text.size() - 1) != 0) return "unknown";
  std::string name(text.data());
  constexpr std::size_t longest = 64;  // of a host's name; the file's name stays short with any other
  name.resize(std::min(name.size(), longest));
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string temporary_name(std::string_view host, pid_t process, int number) {
  return fmt::format("{}{}-{}-{}{}", prefix, host, process, number, suffix);
}

TemporaryFile::TemporaryFile(std::string folder, mode_t mode, Naming naming) : folder_(std::move(folder)) {
  if (naming == Naming::always || !open_unnamed(mode)) open_named(mode);
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

bool TemporaryFile::open_unnamed([[maybe_unused]] mode_t mode) {
#ifdef O_TMPFILE
  file_ = OpenFile(open_file(folder_, O_TMPFILE | O_RDWR, mode));
  // Its name will come from there.
  if (file_.is_open() && ::access(link_to_descriptor(file_.get()).c_str(), F_OK) == 0) return true;
  file_ = OpenFile();
#endif
  return false;
}

void TemporaryFile::open_named(mode_t mode) {
  // O_EXCL makes the name unique; the process only keeps the search short. The name of the final file is not part of
  // it, since a name of maximal length would become too long.
  for (int number = 0; number < attempts; ++number) {
    const std::string name = (fs::path(folder_) / temporary_name(host_name(), ::getpid(), number)).string();
    OpenFile file(open_file(name, O_RDWR | O_CREAT | O_EXCL, mode));
    if (!file.is_open() && errno == EEXIST) continue;
    if (!file.is_open()) throw write_error(errno);
    const bool taken = !lock(file.get()) && errno == EWOULDBLOCK;
    struct stat status {};
    // Somebody who cleans up has found it before it was locked.
    if (taken || (::fstat(file.get(), &status) == 0 && status.st_nlink == 0)) continue;
    file_ = std::move(file);
    name_ = name;
    return;
  }
  throw write_error(EEXIST);
}

void TemporaryFile::put_in_place(const std::string& path) {
  if (const int error = file_.flush()) throw write_error(error);
  if (name_.empty()) {
    if (const int error = link_over(path)) throw write_error(error);
  } else {
    if (::rename(name_.c_str(), path.c_str()) != 0) throw write_error(errno);
    name_.clear();
  }
  if (const int error = file_.close()) throw write_error(error);
}

/// A link does not replace what is there, a rename does: where there is something, the file has a hidden name for the
/// moment between the two.
int TemporaryFile::link_over(const std::string& path) {
  const std::string unnamed = link_to_descriptor(file_.get());
  const auto link_to = [&unnamed](const std::string& name) {
    return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  int error = link_to(path);
  (void)lock(file_.get());
  for (int number = 0; error == EEXIST && number < attempts; ++number) {
    const std::string name = (fs::path(folder_) / temporary_name(host_name(), ::getpid(), number)).string();
    error = link_to(name);
    if (error != 0) continue;
    if (::rename(name.c_str(), path.c_str()) == 0) return 0;
    error = errno;
    ::unlink(name.c_str());
    return error;
  }
  return error;
}

void remove_dead_files(const std::string& folder) noexcept {
  try {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (is_of_this_host(entry->path().filename().string())) remove_if_dead(entry->path().string());
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory; they stay
  }
}

}  // namespace kernwave::traces
