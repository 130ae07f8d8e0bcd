// A program as a kernel.
#pragma once

#include "kernels/tl/launch.h"
#include "models/system/system.h"
#include "tests/property/program.h"

namespace kernwave::testing {

/// The kernel of one PE: the steps of the program that are its own. `program` must outlive it.
[[nodiscard]] tl::Kernel kernel_of(const Program& program, int pe);

/// Launches a program on all PEs of a system.
void launch(const Program& program, System& system, tl::Policy policy);

}  // namespace kernwave::testing
