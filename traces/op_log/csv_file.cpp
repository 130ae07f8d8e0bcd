#include "traces/op_log/csv_file.h"

namespace kernwave::traces {

namespace {

constexpr std::size_t large = std::size_t{1} << 18;

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

void CsvFile::write_if_large() {
  if (text_.size() >= large) write();
}

void CsvFile::write() {
  file_.write({text_.data(), text_.size()});
  text_.clear();
}

void CsvFile::close() {
  write();
  file_.commit();
}

}  // namespace kernwave::traces
