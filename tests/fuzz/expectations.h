// What targets of the fuzzer share: a file of the input, and what holds whatever the input.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernwave::testing {

/// A rule of the project that an input broke.
class FuzzError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws FuzzError unless the rule holds.
void require(bool holds, const std::string& rule);

/// A message for people: it says something on each of its lines, and moves no terminal's cursor.
void require_message(std::string_view message);

/// Without the characters that end them; one more than there are newlines.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// A temporary file, as long as this lives.
class InputFile {
 public:
  /// `ending`: of its name, the dot included.
  InputFile(std::string_view text, std::string_view ending);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace kernwave::testing
