// Standard output and standard error, with their errors as values.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace kernwave::platform {

/// A stream for the text of a command. An error of writing does not stop the command or its files; `finish` returns the
/// error.
class TextStream {
 public:
  /// stdout, stderr.
  explicit TextStream(std::FILE* file) noexcept : file_(file) {}

  void print(std::string_view text) noexcept;
  /// Makes the printed text available to readers.
  void flush() noexcept;
  /// Call after the last text: returns 0, or the errno value of the first error.
  [[nodiscard]] int finish() noexcept;

 private:
  void note_failure() noexcept;

  std::FILE* file_;
  int error_ = 0;
};

/// Prints each line of the message to standard error, after "kernwave: ".
void complain(const std::string& message) noexcept;

/// Opens an unusable placeholder for each of standard input, output and error with which the process was not started.
/// Otherwise the next opened file would take its place.
void keep_standard_descriptors() noexcept;

}  // namespace kernwave::platform
