// Standard output and standard error, with their errors as values.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace kernwave::platform {

/// What a command says goes here. Text that cannot be written stops nothing, files least of all: it is known at the
/// end.
class TextStream {
 public:
  /// stdout, stderr.
  explicit TextStream(std::FILE* file) noexcept : file_(file) {}

  void print(std::string_view text) noexcept;
  /// What was printed is there to be read.
  void flush() noexcept;
  /// Everything has been printed: 0, or the errno value of the first thing that failed.
  [[nodiscard]] int finish() noexcept;

 private:
  void note_failure() noexcept;

  std::FILE* file_;
  int error_ = 0;
};

/// "kernwave: " and a line of the message, for each, to standard error.
void complain(const std::string& message) noexcept;

/// Gives a process that was started without standard input, output or error a place for each, which cannot be used: the
/// next file that is opened would be taken for it.
void keep_standard_descriptors() noexcept;

}  // namespace kernwave::platform
