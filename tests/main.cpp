// The regression's own main: libsystemc.so exports one that would run instead.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "tests/golden_support/golden_update.h"
#include "tests/support/planted_faults.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

namespace {

[[nodiscard]] int refuse(const std::string& argument) {
  std::fprintf(stderr,
               "kernwave_regression: unknown argument: %s (besides what --help lists there is --update-goldens)\n",
               argument.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (kernwave::testing::asks_for_golden_update(arguments)) {
    return kernwave::testing::carry_out_golden_update(arguments);
  }
  testing::InitGoogleTest(&argc, argv);  // which takes out what it knows
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--with-planted-faults") {
      kernwave::testing::register_planted_faults();
    } else if (argument != "--help") {
      return refuse(argument);
    }
  }
  return RUN_ALL_TESTS();
}
