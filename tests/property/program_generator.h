// Random programs.
#pragma once

#include <cstdint>

#include "tests/property/program.h"

namespace kernwave::testing {

/// A valid program on a random machine; the same for the same seed.
[[nodiscard]] Program generate(std::uint64_t seed);

}  // namespace kernwave::testing
