// The commands of `kernwave`.
#pragma once

#include <string>
#include <vector>

#include "platform/request/machine.h"

namespace kernwave::platform {

/// Carries out a command line (without the program's name): results to standard output, errors to standard error.
/// Returns the exit code: 0 good, 1 the simulation failed or an output could not be written, 2 usage or configuration,
/// 130, 143, 129 ended by Ctrl-C, SIGTERM, SIGHUP. Standard output that cannot be written makes a good end 1.
/// `build`: of the machine that `kernwave run` simulates; empty: a plain one. With a builder this is the `main` of a
/// `kernwave` for one's own machine.
[[nodiscard]] int run_command_line(const std::vector<std::string>& arguments, const MachineBuilder& build = {});

}  // namespace kernwave::platform
