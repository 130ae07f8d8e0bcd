// The command line of kernwave, on a machine whose matrix engines are Verilated.
#include <kernwave/platform/cli/commands.h>

#include "array_machine.h"

int main(int argc, char** argv) {
  return kernwave::platform::run_command_line({argv + 1, argv + argc}, verilated::build_array_machine);
}

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }  // SystemC's library asks for it
