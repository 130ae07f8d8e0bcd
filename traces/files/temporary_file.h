// A temporary file, without a name where the system allows it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/files/open_file.h"

namespace kernwave::traces {

/// A new file in a folder, open for reading and writing. The file is removed with this object, and with the process
/// however that ends, unless it has got a final name.
///
/// Where the system allows it (O_TMPFILE), the file has no name until then. Otherwise the file has a hidden name that
/// holds the host and the process, ".kernwave-host-4711-0.tmp", and is locked as long as its process lives. By this
/// lock `remove_dead_files` distinguishes it from a file that was left behind.
class TemporaryFile {
 public:
  enum class Naming : std::uint8_t { where_needed, always };

  /// Throws WriteError. `mode` is before the user's mask.
  TemporaryFile(std::string folder, mode_t mode, Naming naming = Naming::where_needed);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const OpenFile& file() const noexcept { return file_; }

  /// Flushes it to the disk, gives it its name and closes it; what stands under the name is replaced. Throws
  /// WriteError, and the name is as it was before.
  void put_in_place(const std::string& path);

 private:
  [[nodiscard]] bool open_unnamed(mode_t mode);
  void open_named(mode_t mode);
  [[nodiscard]] int link_over(const std::string& path);

  std::string folder_;
  std::string name_;  // empty: none
  OpenFile file_;
};

/// Removes the files of TemporaryFile that processes of this host have left in the folder when they were killed. Those
/// of processes that live stay, and so do those of other hosts and those on file systems without locks. What cannot be
/// removed stays.
void remove_dead_files(const std::string& folder) noexcept;

/// The name of the `number`-th file of a process.
[[nodiscard]] std::string temporary_name(std::string_view host, pid_t process, int number);

/// Of this machine, as names of files hold it.
[[nodiscard]] std::string host_name();

}  // namespace kernwave::traces
