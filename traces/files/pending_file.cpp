#include "traces/files/pending_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "traces/output.h"

namespace kernwave::traces {

namespace {

constexpr mode_t permission_bits = 07777;

[[nodiscard]] OpenFile open_in_place(const OutputPlace& place) {
  const bool is_open = place.kind == OutputPlace::Kind::descriptor;
  OpenFile file(is_open ? ::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 0)
                        : open_file(place.path, O_WRONLY | O_NOCTTY));
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
  if (const int error = file().write_all(text)) throw write_error(error);
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
