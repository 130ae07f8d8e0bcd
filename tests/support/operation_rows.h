// The operations of a run as text, to compare runs.
#pragma once

#include <string>
#include <vector>

#include "traces/op_log/op_log.h"

namespace kernwave::testing {

/// A line an operation: what it is, and when it was issued, started and ended. Source lines are left out: they alone
/// may differ between compilers.
[[nodiscard]] std::string operations_text(const std::vector<traces::OperationRow>& rows);

}  // namespace kernwave::testing
