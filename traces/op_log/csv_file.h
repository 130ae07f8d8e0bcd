// A file of comma-separated values.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace kernwave::traces {

/// As a field stands in a file: quoted where RFC 4180 asks for it.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Collects text and writes it in large pieces. Whatever fails throws WriteError.
class CsvFile {
 public:
  explicit CsvFile(const std::string& path);

  /// To append to; call `write_if_large` now and then.
  [[nodiscard]] fmt::memory_buffer& text() noexcept { return text_; }
  void write_if_large();
  void close();

 private:
  void write();

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  fmt::memory_buffer text_;
};

}  // namespace kernwave::traces
