// The place that the path of an output names: a file to be replaced, a device or pipe, or an open descriptor.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace kernwave::traces {

/// The place of an output.
struct OutputPlace {
  enum class Kind : std::uint8_t {
    file,        ///< a regular file, which need not exist yet: replaced as a whole
    stream,      ///< a device or a FIFO: written in place
    descriptor,  ///< open already (standard output, a pipe of the shell's): written where it stands
  };

  Kind kind = Kind::file;
  std::string path;                   ///< links resolved, so that a rename replaces the file and not the link to it
  int descriptor = -1;                ///< of Kind::descriptor
  std::optional<struct stat> status;  ///< of what is there
};

/// The place that `path` names: "-" is standard output, "/dev/stdout" and "/dev/fd/3" are descriptors of this process,
/// by whatever links they are reached. Throws WriteError if nothing can be written there: a folder, a name that is
/// empty or too long, a folder above it that does not exist or may not be written, a descriptor that is not open for
/// writing. Creates nothing.
[[nodiscard]] OutputPlace output_place(const std::string& path);

/// The same text for all names of one file (links, hard links, ./x and x), of one pipe, and of one name that is still
/// free; nothing for devices, which several may write.
[[nodiscard]] std::optional<std::string> identity_of(const OutputPlace& place);

/// The identity of an existing file, whether it can be written or not; nothing if it cannot be determined.
[[nodiscard]] std::optional<std::string> identity_of_existing(const std::string& path);

/// The identity of the file or pipe behind an open descriptor.
[[nodiscard]] std::optional<std::string> identity_of_descriptor(int descriptor);

}  // namespace kernwave::traces
