// References of a matrix product: in float64 with an error bound, and bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/dtype.h"
#include "platform/workload/numeric_error.h"

namespace kernwave::platform {

/// a (m x k) times b (k x n), row-major.
struct MatrixProblem {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  DType dtype = DType::f32;  ///< of a and b, and of the product
};

/// The product in float64, each element with the bound (k + 1) u sum|a||b| for f32 accumulators, u = 2^-24; without
/// `bits`.
///
/// A sum of k products, each rounded, in any order, errs by at most k u sum|a||b| without underflow: gamma_k to the
/// first order, and without its limit k u < 1 (Jeannerod and Rump, "Improved error bounds for inner products in
/// floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013). A product that underflows adds at most 2^-150;
/// sums of f32 do not underflow. One u more covers the float64 reference and bound themselves (k 2^-53 and k^2 2^-77:
/// below 2^-24 for k up to 2^26). Sums that overflow f32 on the way are not covered.
[[nodiscard]] ExpectedOutput matrix_reference(const MatrixProblem& problem, const std::vector<float>& a,
                                              const std::vector<float>& b);

/// The product as kernwave pins it (docs/architecture.md, "Numbers"): each element is the chain ((0 + a0 b0) + a1 b1) +
/// ... in f32, k ascending, product and sum rounded each, and rounded once to the type. Steps over tiles of k continue
/// the chain in their f32 accumulators, and zeros that pad the last tile add nothing, so tiles do not matter.
///
/// Independent of the model's arithmetic: its own loop, and the rounding of `FloatFormat`.
[[nodiscard]] std::vector<float> pinned_product(const MatrixProblem& problem, const std::vector<float>& a,
                                                const std::vector<float>& b);

}  // namespace kernwave::platform
