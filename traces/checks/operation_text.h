// The text of an operation in the messages of checks.
#pragma once

#include <string>

#include "models/protocol/descriptor.h"

namespace kernwave::traces {

/// "PE 3, math/add of 8x16 f32 at kernel.cpp:12"
[[nodiscard]] std::string operation_text(const Descriptor& descriptor, SourceLocation where);

}  // namespace kernwave::traces
