// The executable `kernwave`.
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "platform/cli/commands.h"

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // the library asks for the symbol; nothing calls it

int main(int argc, char** argv) {
  return kernwave::platform::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
