// The MATH operations as a user sees them: by the keys that set their cycles, and as a table.
#pragma once

#include <string>
#include <vector>

#include "models/protocol/math_operation.h"
#include "platform/config/key.h"

namespace kernwave::platform {

/// Those whose cycles the key sets; none of a key that sets something else.
[[nodiscard]] std::vector<MathOp> operations_costed_by(const Key& key);

/// What a key means; of one that sets cycles of MATH operations with their names.
[[nodiscard]] std::string description_of(const Key& key);

/// Every operation with its operands, their types, that of its result, the key of its cycles, and whether it may be a
/// step of a composite: a table in Markdown.
[[nodiscard]] std::string operations_as_markdown();

}  // namespace kernwave::platform
