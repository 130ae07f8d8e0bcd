#include "traces/files/pending_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "traces/files/output.h"

namespace kernwave::traces {

namespace {

constexpr mode_t permission_bits = 07777;

/// Opening a FIFO that nobody reads would wait, and the user would not know for what.
[[nodiscard]] OpenFile open_stream(const std::string& path) {
  OpenFile file(open_file(path, O_WRONLY | O_NOCTTY | O_NONBLOCK));
  if (!file.is_open() && errno == ENXIO) throw WriteError("nobody reads it");
  if (!file.is_open()) throw write_error(errno);
  // From now on a writer may be held up by a slow reader.
  if (::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK) != 0) throw write_error(errno);
  return file;
}

[[nodiscard]] OpenFile open_in_place(const OutputPlace& place) {
  if (place.kind == OutputPlace::Kind::stream) return open_stream(place.path);
  OpenFile file(::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 0));
  if (!file.is_open()) throw write_error(errno);
  return file;
}

}  // namespace

PendingFile::PendingFile(const std::string& path, Kind kind, TemporaryFile::Naming naming)
    : path_(path), place_(output_place(path)) {
  if (place_.kind != OutputPlace::Kind::file) {
    if (kind == Kind::regular) throw WriteError("it is not a regular file");
    in_place_ = open_in_place(place_);
    return;
  }
  const std::filesystem::path parent = std::filesystem::path(place_.path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  remove_dead_files(folder);
  // What replaces a private file is private from the start; who cleans up has to be able to open it.
  const mode_t mode =
      place_.status ? (place_.status->st_mode & mode_t{0777}) | mode_t{S_IRUSR | S_IWUSR} : mode_t{0666};
  temporary_ = std::make_unique<TemporaryFile>(folder, mode, naming);
}

void PendingFile::write(std::string_view text) const {
  if (const int error = write_all(file().get(), text)) throw write_error(error);
}

void PendingFile::commit() {
  if (!temporary_) {
    if (const int error = in_place_.close()) throw write_error(error);
    return;
  }
  // Not being allowed to keep the permissions is no reason to lose the contents.
  if (const auto existing = status_of(place_.path)) {
    (void)!::fchmod(temporary_->file().get(), existing->st_mode & permission_bits);
  }
  temporary_->put_in_place(place_.path);
}

}  // namespace kernwave::traces
