// A blocked matrix product: the smallest kernel that streams its operands from HBM.
#pragma once

#include <cstdint>

#include "kernels/tl/context.h"
#include "kernels/tl/launch.h"
#include "models/base/address.h"
#include "models/base/dtype.h"

namespace kernwave::kernels {

/// C = A B with A m x k, B k x n and C m x n, all row-major in HBM and of one storage type. Rows stand `stride`
/// elements apart. Extents need not be multiples of the blocks.
struct GemmArgs {
  HbmAddress a;
  HbmAddress b;
  HbmAddress c;
  std::int64_t a_stride = 1;  ///< at least k
  std::int64_t b_stride = 1;  ///< at least n
  std::int64_t c_stride = 1;  ///< at least n
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  DType dtype = DType::f16;  ///< f16, bf16 or f32; sums are kept in f32
  std::int64_t block_m = 128;
  std::int64_t block_n = 128;
  std::int64_t block_k = 128;
  std::int64_t buffers = 3;  ///< blocks of A and of B in scratch: one in use, the others on their way
};

/// One program for each block of C.
[[nodiscard]] tl::Grid gemm_grid(const GemmArgs& args);

/// Program (x, y) computes the block of C whose first element is (x block_m, y block_n).
void gemm(tl::Context& tl, const GemmArgs& args);

}  // namespace kernwave::kernels
