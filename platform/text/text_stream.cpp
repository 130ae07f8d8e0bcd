#include "platform/text/text_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace kernwave::platform {

void TextStream::note_failure() noexcept {
  if (error_ == 0) error_ = errno != 0 ? errno : EIO;
}

void TextStream::print(std::string_view text) noexcept {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) note_failure();
}

void TextStream::flush() noexcept {
  errno = 0;
  if (std::fflush(file_) != 0) note_failure();
}

int TextStream::finish() noexcept {
  flush();
  // Some file systems report a full disk only when a file is closed; nothing was printed through one that is not open.
  const int copy = error_ == 0 ? ::dup(::fileno(file_)) : -1;
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) note_failure();
  return error_;
}

void complain(const std::string& message) noexcept {
  TextStream errors(stderr);
  std::size_t begin = 0;
  while (begin < message.size()) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    errors.print("kernwave: ");
    errors.print(std::string_view(message).substr(begin, end - begin));
    errors.print("\n");
    begin = end + 1;
  }
}

void keep_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest that is free: this one. Not for what it is there for, so that using it fails.
    (void)!::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace kernwave::platform
