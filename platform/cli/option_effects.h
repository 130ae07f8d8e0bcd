// Options of `kernwave run` that a user has given and on which the run does not depend.
#pragma once

#include <string>
#include <vector>

#include "platform/cli/command_line.h"
#include "platform/json/json.h"

namespace kernwave::platform {

/// A sentence each. `shape` is that of the workload, every default resolved (`Workload::shape`).
[[nodiscard]] std::vector<std::string> options_without_effect(const RunCommand& run, const Json& shape);

}  // namespace kernwave::platform
