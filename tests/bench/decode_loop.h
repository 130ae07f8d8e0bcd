// What one operation of a kernel costs the host.
#pragma once

#include <cstdint>
#include <functional>

#include "models/system/system.h"

namespace kernwave::bench {

/// Host nanoseconds of one operation of a flash-decode inner loop, on the machine of preset ahbm with `cubes` cubes of
/// `pes_per_cube` PEs: 16 KiB loads of K and V two tiles ahead, issue cost, dispatch, `bandwidth` memory, time
/// accounting; data mode `none`, policy `lazy`. About `operations` operations over all PEs. `attach` may set observers;
/// what it returns completes their files, which counts.
using Attach = std::function<std::function<void()>(System&)>;
[[nodiscard]] double decode_operation_nanoseconds(std::int64_t cubes, std::int64_t pes_per_cube,
                                                  std::int64_t operations, const Attach& attach);
[[nodiscard]] inline double decode_operation_nanoseconds(std::int64_t cubes, std::int64_t pes_per_cube,
                                                         std::int64_t operations) {
  return decode_operation_nanoseconds(cubes, pes_per_cube, operations, [](System&) { return [] {}; });
}

}  // namespace kernwave::bench
