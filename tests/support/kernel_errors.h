// Kernels that do something wrong, and what they are told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/tl/context.h"

namespace kernwave::testing {

/// Runs a kernel that must fail, in a process of its own. `line` is set by the kernel: the line of the wrong call.
/// Expects that the message names PE 0, the operation, the file of the caller with that line, and each of `words`.
void expect_kernel_error(const std::string& operation, const std::vector<std::string>& words,
                         const std::function<void(tl::Context& tl, int& line)>& kernel,
                         SourceLocation where = SourceLocation::current());

}  // namespace kernwave::testing
