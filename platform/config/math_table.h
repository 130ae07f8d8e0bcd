// The MATH operations as a user sees them: by the keys that set their cycles, and as a table.
#pragma once

#include <string>
#include <vector>

#include "models/protocol/math_operation.h"
#include "platform/config/key.h"

namespace kernwave::platform {

/// The operations whose cycles the key sets; none for another key.
[[nodiscard]] std::vector<MathOp> operations_costed_by(const Key& key);

/// The meaning of a key; for a key of MATH cycles, with the names of the operations.
[[nodiscard]] std::string description_of(const Key& key);

/// Every operation with its operands, their types, that of its result, the key of its cycles, and whether it may be a
/// step of a composite: a table in Markdown.
[[nodiscard]] std::string operations_as_markdown();

}  // namespace kernwave::platform
