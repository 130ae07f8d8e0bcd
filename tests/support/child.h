// One simulation a process: SystemC elaborates once in the life of a process.
#pragma once

#include <functional>
#include <string>

namespace kernwave::testing {

/// Runs `body` in a child process. A failed expectation there, an exception, a signal, a non-zero exit, an end before
/// `body` has returned or two minutes without an end each fail the calling test, with the child's output.
void in_child(const std::function<void()>& body);

/// The same; returns what `body` returns, empty when it failed.
[[nodiscard]] std::string from_child(const std::function<std::string()>& body);

}  // namespace kernwave::testing
