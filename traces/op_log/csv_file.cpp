#include "traces/op_log/csv_file.h"

#include <cerrno>

#include "traces/output.h"

namespace kernwave::traces {

namespace {

constexpr std::size_t large = std::size_t{1} << 18;

[[noreturn]] void fail() { throw write_error(errno); }

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

CsvFile::CsvFile(const std::string& path) : file_(std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr) fail();
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
}

void CsvFile::write_if_large() {
  if (text_.size() >= large) write();
}

void CsvFile::write() {
  if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
  text_.clear();
}

void CsvFile::close() {
  write();
  if (std::fclose(file_.release()) != 0) fail();
}

}  // namespace kernwave::traces
