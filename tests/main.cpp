// The regression's own main: libsystemc.so exports one that would run instead.
#include <gtest/gtest.h>

#include "models/base/systemc.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
