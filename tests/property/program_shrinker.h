// From a program that fails to a small one that does.
#pragma once

#include <functional>

#include "tests/property/program.h"

namespace kernwave::testing {

/// Whether a valid program still shows what it is to show.
using StillFails = std::function<bool(const Program&)>;

/// Leaves out steps, halves of them first; makes extents smaller; sets the machine back to what is usual. Every program
/// that `still_fails` is asked about is valid, and it is asked `most` times at the most.
[[nodiscard]] Program shrink(const Program& program, const StillFails& still_fails, int most);

}  // namespace kernwave::testing
