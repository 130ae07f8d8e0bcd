// A file of comma-separated values.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "traces/files/pending_file.h"

namespace kernwave::traces {

/// As a field stands in a file: quoted where RFC 4180 asks for it.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Collects text and writes it in large pieces; the file gets its name when it is closed. Whatever fails throws
/// WriteError.
class CsvFile {
 public:
  explicit CsvFile(const std::string& path) : file_(path) {}

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  /// To append to; call `write_if_large` now and then.
  [[nodiscard]] fmt::memory_buffer& text() noexcept { return text_; }
  void write_if_large();
  void close();

 private:
  void write();

  PendingFile file_;
  fmt::memory_buffer text_;
};

}  // namespace kernwave::traces
