// What one operation of a kernel costs the host.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/policy.h"
#include "models/system/system.h"

namespace kernwave::bench {

/// The inner loop of a flash decode on the machine of preset ahbm: 16 KiB of K and of V a tile, issue cost, dispatch,
/// `bandwidth` memory, time accounting; data mode `none`.
struct DecodeLoop {
  std::int64_t cubes = 1;
  std::int64_t pes_per_cube = 1;
  std::int64_t operations = 400'000;  ///< about, over all PEs
  tl::Policy policy = tl::Policy::lazy;
  kernels::KvSource kv = kernels::KvSource::load;  ///< loads two tiles ahead, or composites that stream the tiles
};

/// May set observers; what it returns completes their files, which counts.
using Attach = std::function<std::function<void()>(System&)>;

/// Host nanoseconds of one operation that a program issues.
[[nodiscard]] double decode_operation_nanoseconds(const DecodeLoop& loop, const Attach& attach);
[[nodiscard]] inline double decode_operation_nanoseconds(const DecodeLoop& loop) {
  return decode_operation_nanoseconds(loop, [](System&) { return [] {}; });
}

}  // namespace kernwave::bench
