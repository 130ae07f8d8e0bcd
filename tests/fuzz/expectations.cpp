#include "tests/fuzz/expectations.h"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkstemps is POSIX's
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "platform/text/message_text.h"

namespace kernwave::testing {

void require(bool holds, const std::string& rule) {
  if (!holds) throw FuzzError(rule);
}

void require_message(std::string_view message) {
  for (const std::string_view line : lines_of(message)) {
    require(!line.empty(), fmt::format("a message with an empty line: {}", platform::in_quotes(message)));
    const bool is_plain = std::none_of(line.begin(), line.end(), [](char c) {
      const auto code = static_cast<unsigned char>(c);
      return code < 0x20 || code == 0x7f;
    });
    require(is_plain, fmt::format("a message with control characters: {}", platform::in_quotes(message)));
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

InputFile::InputFile(std::string_view text, std::string_view ending)
    : path_((std::filesystem::temp_directory_path() / fmt::format("kernwave_fuzz_XXXXXX{}", ending)).string()) {
  const int file = ::mkstemps(path_.data(), static_cast<int>(ending.size()));
  if (file < 0) throw std::runtime_error("no temporary file could be made");
  const ssize_t written = ::write(file, text.data(), text.size());
  ::close(file);
  if (written != static_cast<ssize_t>(text.size())) throw std::runtime_error("a temporary file could not be written");
}

InputFile::~InputFile() { ::unlink(path_.c_str()); }

}  // namespace kernwave::testing
