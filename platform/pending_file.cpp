#include "platform/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "platform/file_system.h"
#include "platform/files.h"

namespace kernwave::platform {

namespace {

namespace fs = std::filesystem;

constexpr mode_t permission_bits = 07777;

/// Opens a new file in `folder`; `path` receives its name. -1, with errno, if it cannot be made.
int open_unique(const fs::path& folder, mode_t mode, std::string& path) {
  // O_EXCL makes the name unique; the process id only keeps the search short. The name of the final file is not part
  // of it, since a name of maximal length would become too long.
  constexpr int attempts = 1000;
  for (int n = 0; n < attempts; ++n) {
    path = (folder / fmt::format(".kernwave-{}-{}.tmp", ::getpid(), n)).string();
    const int descriptor = open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

}  // namespace

PendingFile::PendingFile(const std::string& path, Kind kind) : path_(path) {
  check_writable(path);
  target_ = resolve_links(path);
  const std::optional<struct stat> existing = status_of(target_);
  if (existing && !S_ISREG(existing->st_mode)) {
    if (kind == Kind::regular) throw cannot_write(path, "it is not a regular file");
    temporary_ = target_;
    return;
  }
  // What replaces a private file is private from the start; the writer has to open it again.
  const mode_t mode = existing ? (existing->st_mode & mode_t{0777}) | mode_t{S_IRUSR | S_IWUSR} : mode_t{0666};
  OpenFile file(open_unique(fs::path(target_).parent_path(), mode, temporary_));
  if (!file.is_open()) throw cannot_write(path, reason_of(errno));
  pending_ = true;
}

PendingFile::~PendingFile() {
  if (pending_) ::unlink(temporary_.c_str());
}

void PendingFile::commit() {
  if (in_place()) return;
  if (const int error = put_in_place()) throw cannot_write(path_, reason_of(error));
  pending_ = false;
}

int PendingFile::put_in_place() const {
  OpenFile file(open_file(temporary_, O_RDONLY));
  if (!file.is_open()) return errno;
  // Not being allowed to keep the permissions is no reason to lose the contents.
  if (const auto existing = status_of(target_)) (void)!::fchmod(file.get(), existing->st_mode & permission_bits);
  if (const int error = file.flush()) return error;
  if (const int error = file.close()) return error;
  return ::rename(temporary_.c_str(), target_.c_str()) == 0 ? 0 : errno;
}

}  // namespace kernwave::platform
