// How far an output is from its float64 reference, and how far it may be.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/dtype.h"

namespace kernwave::platform {

/// The largest differences over all elements that are not NaN.
struct NumericError {
  double max_abs = 0.0;  ///< of |x - ref|
  /// Of |x - ref| / max(|ref|, rms of the reference's row): relative, but an element that happens to be near 0 is
  /// measured against the size of its row. Where the whole row is 0, anything else is infinitely wrong.
  double max_rel = 0.0;
  bool has_nan = false;

  /// Both outputs taken together.
  void merge(const NumericError& other) noexcept;
  /// No NaN, and max_rel at most `tolerance`.
  [[nodiscard]] bool within(double tolerance) const noexcept { return !has_nan && max_rel <= tolerance; }
};

/// Compares rows of `row` elements. Throws std::invalid_argument when the lengths differ or are not whole rows.
[[nodiscard]] NumericError numeric_error(const std::vector<float>& output, const std::vector<double>& reference,
                                         std::int64_t row);

/// The unit roundoff u: the largest relative error of rounding to nearest. 2^-11 (f16), 2^-8 (bf16), 2^-24 (f32).
[[nodiscard]] double unit_roundoff(DType dtype) noexcept;

/// The max_rel that a right attention kernel keeps to, for independent values of mean 0 and variance 1 (RandomTensor).
///
/// Rounding a value to nearest has a relative error of at most u and of 0.42 u root-mean-square (uniform within the
/// last place, logarithmic mantissas: u sqrt(1/3 . 3/(8 ln 2))). With e = 2^-24 for f32 and u for the storage type:
/// - Rounding the output: at most u.
/// - Rounding each probability to the storage type (f16, bf16): an element sum(p v) / sum(p) and its error
///   sum(p d v) / sum(p) are random sums with the same weights, so the error is 0.42 u of the row's rms.
/// - The score: a chain of d products drifts by 0.42 e sqrt(sum i) = 0.3 e d, that is 0.3 e sqrt(d) after scaling, and
///   its exponent, of magnitude up to about 8, is rounded three times: 2^2 e each. A relative error of each
///   probability.
/// - P V: a chain of n terms, whose partial sums grow as sqrt(i): 0.42 e sqrt(n / 2) of the result. The sum of p, all
///   positive, drifts by 0.42 e sqrt(n / 3).
/// The rms parts add in squares. The largest of 10^4 to 10^7 elements lies within 5.5 of their standard deviations.
[[nodiscard]] double attention_tolerance(DType dtype, std::int64_t head_dim, std::int64_t s_kv) noexcept;

/// The same for a matrix product of depth k: u for the output, and a chain of k terms in f32.
[[nodiscard]] double gemm_tolerance(DType dtype, std::int64_t k) noexcept;

}  // namespace kernwave::platform
