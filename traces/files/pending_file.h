// A file that is being written, and gets its own name only when it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "traces/files/open_file.h"
#include "traces/files/output_place.h"
#include "traces/files/temporary_file.h"

namespace kernwave::traces {

/// A file that is written over a long time. Until `commit()` the final path keeps its old contents. Without `commit()`
/// the written data are removed with the object, and with the process however it ends. A device, a pipe or an open
/// descriptor (see OutputPlace) is written in place, from where it stands.
///
/// Errors are WriteErrors: the reason alone.
class PendingFile {
 public:
  /// The kinds of places that the writer can use.
  enum class Kind : std::uint8_t {
    any,
    regular,  ///< it seeks: no device, pipe or descriptor
  };

  /// Throws WriteError for all reasons of `output_place`, for a place that is not of the kind, and for a FIFO that
  /// nobody reads. Removes the files that killed processes have left in the folder.
  explicit PendingFile(const std::string& path, Kind kind = Kind::any,
                       TemporaryFile::Naming naming = TemporaryFile::Naming::where_needed);

  /// The path as the user named it.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Where to write.
  [[nodiscard]] int descriptor() const noexcept { return file().get(); }
  /// Writes all of `text`. Throws WriteError.
  void write(std::string_view text) const;

  /// Flushes it to the disk and puts it in its place, with the permissions of the file that it replaces; a symbolic
  /// link stays one. Throws WriteError, and the final path is as it was before.
  void commit();

 private:
  [[nodiscard]] const OpenFile& file() const noexcept { return temporary_ ? temporary_->file() : in_place_; }

  std::string path_;
  OutputPlace place_;
  std::unique_ptr<TemporaryFile> temporary_;  // of a file
  OpenFile in_place_;                         // of anything else
};

}  // namespace kernwave::traces
