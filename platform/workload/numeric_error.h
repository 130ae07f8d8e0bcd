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
/// Rounding to nearest has a relative error of at most u and of 0.42 u root-mean-square (uniform within the last place,
/// logarithmic mantissas: u sqrt(1/3 . 3/(8 ln 2))). With u for the storage type, e = 2^-24 for f32, d = head_dim and
/// n = s_kv, the error of an output element is made of
/// - its own rounding: at most u;
/// - the probabilities' rounding to the storage type (f16, bf16): the element sum(p v) / sum(p) and its error
///   sum(p delta v) / sum(p) are random sums with the same weights, so the error is 0.42 u of the row's rms;
/// - the scores': the partial sums of a score that stands z deviations out grow linearly, with a random part on top, so
///   that a chain of d products drifts by 0.42 e sqrt(z^2 / 3 + 1 / 6) sqrt(d) after scaling. The keys that carry a
///   row's weight have z up to about 4: e sqrt(d). It is a relative error of each probability, as are the three
///   roundings of the exponent, whose magnitude is up to 8: 4 . 0.42 e each;
/// - the sums' over keys: the partial sums of P V grow as sqrt(i): 0.42 e sqrt(n / 2) of the row's rms; those of p, all
///   positive, as i: 0.42 e sqrt(n / 3).
/// The rms parts add in squares. The largest of 10^7 normal values lies within 5.5 deviations; 7 allow for the longer
/// tails of rows in which a few keys carry all weight.
[[nodiscard]] double attention_tolerance(DType dtype, std::int64_t head_dim, std::int64_t s_kv) noexcept;

/// The same for a matrix product of depth k: u for the output, and a chain of k terms in f32.
[[nodiscard]] double gemm_tolerance(DType dtype, std::int64_t k) noexcept;

}  // namespace kernwave::platform
