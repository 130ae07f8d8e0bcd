// Cycles of the matrix engine, as plain functions of a product's shape. docs/timing.md works them by hand.
#pragma once

#include <cstdint>

#include "models/base/dtype.h"
#include "models/base/quantity.h"
#include "models/config/system_config.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// The shape of a product: an M x K matrix times a K x N matrix.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

/// Whether a command starts in the instant in which the one before it ended.
enum class GemmStart : std::uint8_t { after_idle, back_to_back };

[[nodiscard]] constexpr GemmShape shape_of(const GemmDescriptor& gemm) noexcept {
  return GemmShape{gemm.a.rows, gemm.a.cols, gemm.b.cols};
}

/// Cycles of one product on an array of R x C multiply-accumulators, by dataflow:
/// - `ideal`: ceil(M K N x cycles of a multiply-accumulate / (R C)).
/// - `weight_stationary`: F = ceil(K/R) ceil(N/C) folds. `serial`: F (2R + C + M - 2), R to load the weights and
///   M + R + C - 2 to stream (Samajdar et al., SCALE-Sim, ISPASS 2020, which reports one less a fold).
///   `overlapped`: R + (F - 1) max(R, M) + M + R + C - 2; back to back, the first R hides under the command before.
/// - `output_stationary`: F = ceil(M/R) ceil(N/C) folds. `serial`: F (2R + C + K - 2).
///   `overlapped` draining: (F - 1) max(K, R) + K + 2R + C - 2.
/// A fold takes that times the cycles of a multiply-accumulate of the input type. A product with an empty dimension: 0.
[[nodiscard]] Cycles dataflow_cycles(const GemmConfig& config, GemmShape shape, DType input, GemmStart start);

/// ceil((A + B + C in + D out bytes) / scratch bytes per cycle): no product is faster than its operands move.
[[nodiscard]] Cycles scratch_cycles(const ScratchConfig& scratch, const GemmDescriptor& gemm);

/// The larger of the two.
[[nodiscard]] Cycles gemm_cycles(const GemmConfig& config, const ScratchConfig& scratch, const GemmDescriptor& gemm,
                                 GemmStart start);

}  // namespace kernwave
