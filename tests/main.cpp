// The regression's own main: libsystemc.so exports one that would run instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/base/systemc.h"
#include "tests/support/planted_faults.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool with_planted_faults = std::find(argv, argv + argc, std::string("--with-planted-faults")) != argv + argc;
  if (with_planted_faults) kernwave::testing::register_planted_faults();
  return RUN_ALL_TESTS();
}
