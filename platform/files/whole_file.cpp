#include "platform/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "models/base/quantity.h"
#include "platform/text/message_text.h"
#include "platform/text/units.h"
#include "traces/files/open_file.h"
#include "traces/files/output_place.h"
#include "traces/files/pending_file.h"

namespace kernwave::platform {

FileError::FileError(std::string_view action, std::string path, std::string reason)
    : std::runtime_error(fmt::format("cannot {} {}: {}", action, in_quotes(path), in_one_line(reason))),
      path_(std::move(path)),
      reason_(std::move(reason)) {}

FileError cannot_read(const std::string& path, std::string reason) {
  return FileError("read", path, std::move(reason));
}

FileError cannot_write(const std::string& path, std::string reason) {
  return FileError("write", path, std::move(reason));
}

std::string read_file(const std::string& path, std::int64_t limit_bytes) {
  const traces::OpenFile file(traces::open_file(path, O_RDONLY));
  if (!file.is_open()) throw cannot_read(path, traces::reason_of(errno));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_read(path, traces::reason_of(errno));
    if (count == 0) return text;
    // Counted while reading: a device or a growing file does not tell its size beforehand.
    if (static_cast<std::int64_t>(text.size()) + count > limit_bytes) {
      throw cannot_read(path, fmt::format("it is larger than {}", format_quantity(Bytes(limit_bytes))));
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void write_file_atomically(const std::string& path, std::string_view text) {
  writing(path, [&] {
    traces::PendingFile pending(path);
    pending.write(text);
    pending.commit();
  });
}

void check_writable(const std::string& path) {
  writing(path, [&] { (void)traces::output_place(path); });
}

}  // namespace kernwave::platform
