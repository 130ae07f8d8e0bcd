// A child process that does one piece of work and returns its result.
#pragma once

#include <sys/types.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernwave::platform {

/// A child that died, or ended before it had answered.
class ChildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends this forked process at once, without destroying objects or writing buffers that its parent has too. In builds
/// that measure coverage, the coverage of this process is recorded.
[[noreturn]] void end_child(int code);

/// fork() for a child that ends with its parent, however that ends, and silently with Ctrl-C and its like
/// (interrupt.h). Throws ChildError.
[[nodiscard]] pid_t fork_dependent();

/// Runs `work` in a forked child and returns its text. An exception of `work` becomes a ChildError with its message.
[[nodiscard]] std::string text_from_child(const std::function<std::string()>& work);

/// Runs all of `work`, up to `at_once` children at a time, and returns their texts in order. Throws ChildError for the
/// first that failed, after all have ended.
[[nodiscard]] std::vector<std::string> texts_from_children(const std::vector<std::function<std::string()>>& work,
                                                           unsigned at_once);

}  // namespace kernwave::platform
