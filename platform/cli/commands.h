// The commands of `kernwave`.
#pragma once

#include <string>
#include <vector>

#include "platform/request/machine.h"

namespace kernwave::platform {

/// Carries out a command line (without the program's name): results to standard output, errors to standard error.
/// Returns the exit code: 0 good, 1 the simulation failed or an output could not be written, 2 usage or configuration,
/// 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP. If standard output cannot be written, a good end becomes 1. `build`
/// makes the machine that `kernwave run` simulates; empty: a plain one. With a builder, this function is the command
/// line of `kernwave` for a user's machine.
[[nodiscard]] int run_command_line(const std::vector<std::string>& arguments, const MachineBuilder& build = {});

}  // namespace kernwave::platform
