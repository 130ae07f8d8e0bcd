// The regression's own main: libsystemc.so exports one that would run instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "tests/golden_support/golden_update.h"
#include "tests/support/planted_faults.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (kernwave::testing::asks_for_golden_update(arguments)) {
    return kernwave::testing::carry_out_golden_update(arguments);
  }
  testing::InitGoogleTest(&argc, argv);
  if (std::find(arguments.begin(), arguments.end(), "--with-planted-faults") != arguments.end()) {
    kernwave::testing::register_planted_faults();
  }
  return RUN_ALL_TESTS();
}
