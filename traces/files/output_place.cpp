#include "traces/files/output_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "traces/files/open_file.h"
#include "traces/files/output.h"

namespace kernwave::traces {

namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;

/// Where a symbolic link leads; the path itself if it is none.
[[nodiscard]] fs::path one_link_further(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::read_symlink(path, error);
  if (error) return path;
  return target.is_absolute() ? target : path.parent_path() / target;
}

[[nodiscard]] std::string resolve_links(const std::string& path) {
  fs::path resolved = path;
  for (int links = 0; links < most_links; ++links) {
    fs::path next = one_link_further(resolved);
    if (next == resolved) break;
    resolved = std::move(next);
  }
  return resolved.string();
}

[[nodiscard]] fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

[[nodiscard]] bool is_number(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  return !text.empty() && text.size() <= most_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// /dev/stdout and /dev/fd/3 lead to entries of /proc/self/fd, which are links in their turn: to the file, which would
/// then be replaced behind the back of whoever has opened it.
[[nodiscard]] std::optional<int> descriptor_named(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  std::error_code error;
  const fs::path descriptors = fs::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  fs::path link = path;
  for (int links = 0; links < most_links; ++links) {
    const std::string name = link.filename().string();
    if (is_number(name) && fs::canonical(folder_of(link), error) == descriptors) return std::stoi(name);
    fs::path next = one_link_further(link);
    if (next == link) break;
    link = std::move(next);
  }
  return std::nullopt;
}

[[nodiscard]] OutputPlace place_of_descriptor(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) throw WriteError("it is not open");
  if ((flags & O_ACCMODE) == O_RDONLY) throw WriteError("it is not open for writing");
  OutputPlace place{OutputPlace::Kind::descriptor, {}, descriptor, {}};
  struct stat status {};
  if (::fstat(descriptor, &status) == 0) place.status = status;
  return place;
}

/// A file that does not exist is made in its folder, and one that exists is replaced there.
void check_folder(const fs::path& file) {
  if (!file.has_filename()) throw WriteError("it names a folder, not a file");
  const std::string folder = folder_of(file).string();
  const std::optional<struct stat> status = status_of(folder);
  if (!status && errno == ENOENT) throw WriteError(fmt::format("its folder \"{}\" does not exist", folder));
  if (!status && errno != ENOTDIR) throw write_error(errno);
  if (!status || !S_ISDIR(status->st_mode)) throw WriteError(fmt::format("\"{}\" is not a folder", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw WriteError(fmt::format("its folder \"{}\" may not be written ({})", folder, reason_of(errno)));
  }
  const long most = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  const std::size_t length = file.filename().string().size();
  if (most > 0 && length > static_cast<std::size_t>(most)) {
    throw WriteError(fmt::format("the name is too long: {} bytes, of which its folder takes {}", length, most));
  }
}

[[nodiscard]] std::optional<std::string> identity_of_status(const struct stat& status) {
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return std::nullopt;
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

}  // namespace

OutputPlace output_place(const std::string& path) {
  if (path.empty()) throw WriteError("the name is empty");
  if (path.find('\0') != std::string::npos) throw WriteError("the name holds a zero byte");
  if (const auto descriptor = descriptor_named(path)) return place_of_descriptor(*descriptor);
  OutputPlace place{OutputPlace::Kind::file, resolve_links(path), -1, {}};
  place.status = status_of(place.path);
  if (!place.status && errno == ELOOP) throw write_error(ELOOP);
  if (place.status && S_ISDIR(place.status->st_mode)) throw WriteError("it is a folder");
  if (!place.status || S_ISREG(place.status->st_mode)) {
    check_folder(place.path);
    return place;
  }
  if (::access(place.path.c_str(), W_OK) != 0) throw write_error(errno);
  place.kind = OutputPlace::Kind::stream;
  return place;
}

std::optional<std::string> identity_of(const OutputPlace& place) {
  if (place.status) return identity_of_status(*place.status);
  std::error_code error;
  const fs::path file(place.path);
  return (fs::canonical(folder_of(file), error) / file.filename()).string();
}

std::optional<std::string> identity_of_existing(const std::string& path) {
  const std::optional<struct stat> status = status_of(path);
  return status ? identity_of_status(*status) : std::nullopt;
}

std::optional<std::string> identity_of_descriptor(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return identity_of_status(status);
}

}  // namespace kernwave::traces
