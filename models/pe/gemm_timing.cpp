#include "models/pe/gemm_timing.h"

#include <algorithm>

namespace kernwave {

namespace {

std::int64_t cycles_per_mac(const GemmConfig& config, DType input) {
  switch (input) {
    case DType::f16:
      return config.f16_cycles;
    case DType::bf16:
      return config.bf16_cycles;
    default:
      return config.f32_cycles;
  }
}

std::int64_t weight_stationary(const GemmConfig& config, GemmShape shape, GemmStart start) {
  const std::int64_t rows = config.rows;
  const std::int64_t cols = config.cols;
  const std::int64_t folds = ceil_div(shape.k, rows) * ceil_div(shape.n, cols);
  if (config.folds == FoldOverlap::serial) return folds * (2 * rows + cols + shape.m - 2);
  const std::int64_t first_weights = start == GemmStart::back_to_back ? 0 : rows;
  return first_weights + (folds - 1) * std::max(rows, shape.m) + shape.m + rows + cols - 2;
}

std::int64_t output_stationary(const GemmConfig& config, GemmShape shape) {
  const std::int64_t rows = config.rows;
  const std::int64_t cols = config.cols;
  const std::int64_t folds = ceil_div(shape.m, rows) * ceil_div(shape.n, cols);
  if (config.folds == FoldOverlap::serial) return folds * (2 * rows + cols + shape.k - 2);
  return (folds - 1) * std::max(shape.k, rows) + shape.k + 2 * rows + cols - 2;
}

}  // namespace

Cycles dataflow_cycles(const GemmConfig& config, GemmShape shape, DType input, GemmStart start) {
  if (shape.m == 0 || shape.k == 0 || shape.n == 0) return Cycles(0);
  const std::int64_t rate = cycles_per_mac(config, input);
  switch (config.dataflow) {
    case GemmDataflow::ideal:
      return Cycles(ceil_div(shape.m * shape.k * shape.n * rate, config.rows * config.cols));
    case GemmDataflow::weight_stationary:
      return Cycles(weight_stationary(config, shape, start) * rate);
    case GemmDataflow::output_stationary:
      return Cycles(output_stationary(config, shape) * rate);
  }
  return Cycles(0);
}

Cycles scratch_cycles(const ScratchConfig& scratch, const GemmDescriptor& gemm) {
  const std::int64_t passes_over_out = gemm.accumulate ? 2 : 1;
  const Bytes moved = gemm.a.bytes() + gemm.b.bytes() + gemm.out.bytes() * passes_over_out;
  return Cycles(ceil_div(moved.count(), scratch.bytes_per_cycle));
}

Cycles gemm_cycles(const GemmConfig& config, const ScratchConfig& scratch, const GemmDescriptor& gemm,
                   GemmStart start) {
  return std::max(dataflow_cycles(config, shape_of(gemm), gemm.a.dtype, start), scratch_cycles(scratch, gemm));
}

}  // namespace kernwave
