// Texts that a signal handler may write.
#pragma once

#include <unistd.h>

#include <string_view>

namespace kernwave::platform {

/// To standard error, in one write and without memory of its own; a failure is passed over.
inline void say_from_handler(std::string_view text) noexcept {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace kernwave::platform
