#include "tests/support/kernel_errors.h"

#include <gtest/gtest.h>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::testing {

void expect_kernel_error(const std::string& operation, const std::vector<std::string>& words,
                         const std::function<void(tl::Context& tl, int& line)>& kernel, SourceLocation where) {
  const ::testing::ScopedTrace trace(where.file, where.line, "the kernel that must fail");
  in_child([&] {
    Simulation simulation;
    int line = 0;
    const std::string message = simulation.run_failing([&](tl::Context& tl) { kernel(tl, line); });
    const std::string start = "PE 0, " + operation + " at " + where.file + ":" + std::to_string(line) + ": ";
    EXPECT_EQ(message.substr(0, start.size()), start) << message;
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word, std::min(message.size(), start.size())), std::string::npos)
          << "'" << word << "' is missing in: " << message;
    }
  });
}

}  // namespace kernwave::testing
