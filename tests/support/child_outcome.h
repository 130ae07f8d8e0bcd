// A simulation in a child process that may fail without failing the test.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kernwave::testing {

struct ChildOutcome {
  std::string problem;  ///< empty: the body has returned, and no expectation has failed in it
  std::string result;   ///< what the body has returned
  std::string output;   ///< what the child has printed
};

/// Runs `body` in a child process, for so long at the most.
[[nodiscard]] ChildOutcome run_child_process(const std::function<std::string()>& body, std::chrono::seconds limit);

}  // namespace kernwave::testing
