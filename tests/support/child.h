// One simulation a process: SystemC elaborates once in the life of a process.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kernwave::testing {

/// Ends a hang and nothing else: many times what the longest child takes on a machine that has ten things to do. The
/// longest needs a minute of processor time, ten where its code is instrumented.
#if defined(__SANITIZE_ADDRESS__) || defined(KERNWAVE_COVERAGE)
constexpr std::chrono::minutes usual_time_limit(120);
#else
constexpr std::chrono::minutes usual_time_limit(30);
#endif

/// Runs `body` in a child process. A failed expectation there, an exception, a signal, a non-zero exit, an end before
/// `body` has returned, no end in time, or under AddressSanitizer a leak, each fail the calling test, with the child's
/// output. What the child covers counts in builds that measure coverage.
void in_child(const std::function<void()>& body, std::chrono::seconds limit = usual_time_limit);

/// The same; returns what `body` returns, empty when it failed.
[[nodiscard]] std::string from_child(const std::function<std::string()>& body,
                                     std::chrono::seconds limit = usual_time_limit);

}  // namespace kernwave::testing
