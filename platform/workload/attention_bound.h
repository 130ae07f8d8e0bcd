// The bound of the difference between attention in f32 arithmetic and in float64.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/dtype.h"

namespace kernwave::platform {

/// What the error of an attention kernel depends on besides the data.
struct AttentionArithmetic {
  DType storage = DType::f32;   ///< of Q, K, V, of the probabilities that are multiplied with V, and of the output
  std::int64_t chain = 1;       ///< most keys whose p v one sum takes up, one after another
  std::int64_t tile = 1;        ///< most keys of one row sum
  std::int64_t rescalings = 0;  ///< most times that a row's l and O are rescaled: by later tiles, and by merges
  /// The lengths of the chains whose keys follow one another, all keys of the sequence in order; empty where the order
  /// is another one, as in a ring.
  std::vector<std::int64_t> consecutive = {};
};

/// An analytic bound of the error of the kernels of kernels/attention, element by element, for every shape and all data
/// whose scores do not overflow. It follows the recurrence of `kernels::OnlineSoftmax`.
///
/// u = 2^-24 is the unit roundoff of f32, s that of the storage type (0 if it is f32), d = head_dim, sigma = 1 /
/// sqrt(d) the scale, z_j = sigma S_j the scaled score of key j, Z the largest |z_j| of the row, P_j the exact
/// probability, and o = sum P_j v_j the exact output. The kernel computes
///   S_j by d products; m, the largest score so far; p_j = exp2(c S_j - c m) with c = sigma log2(e);
///   l = sum p_j; O = sum fl(p_j) v_j, p_j rounded to the storage type; and for each later tile, and each merge with
///   another rank's (m, l, O) along a chain or a tree, m' = the larger m, alpha = exp2(c (m - m')), alpha l + ...,
///   alpha O + ...; at last O (1 / l), rounded to the storage type.
/// Whatever m is, it divides out of O / l, so only the roundings count.
///
/// 1. Weights. Key j enters O and l with the same weight, exact but for a relative error x_j, made of
///    - the score: element i, from 0, of the chain of d products is rounded d - i + 1 times at most (its product, and
///    the
///      sums from it on), so sigma sum_i g_i |q_i k_ij|, g_i = (d - i + 1) u / (1 - (d - i + 1) u), at most
///      sigma ||g q|| ||k_j|| by Cauchy and Schwarz;
///    - c: three roundings (sigma, log2(e), their product) times the distance from the maximum, 3 u (max z - z_j);
///    - the exponent: c S_j and c m rounded, u (|z_j| + Z), and their difference, u (max z - z_j);
///    - rescaling: the exponents of all alpha that the key meets, two roundings each. m only grows, along tiles, chain
///      and tree alike, so that their sum is at most max z - z_j: 2 u (max z - z_j);
///    - exp2 of the C library, for p_j and for each alpha: two units in the last place, 4 u, where those in use promise
///      one. For R rescalings 4 u (R + 1).
/// 2. The numerator alone: p_j's rounding to the storage type, s; the product with v, u; two roundings for each
///    rescaling (a product and a sum), 2 R u; 1 / l and the product with it, 2 u; and the sums of the chain. These err
///    by u times the sum of all partial sums' magnitudes. Where the order of the keys is not known, no partial sum is
///    larger than sum P_j |v_j|: chain u. Where it is, c keys between the partial sums S and S' err by at most
///    c u (|S| + |S'| + sum P_j |v_j| of these keys) / 2; intervals of c = 128 keys: 64 u, and the magnitudes of the
///    partial sums at their ends, which are much smaller than sum P_j |v_j|. Computed partial sums differ from exact
///    ones by the bound itself at most: a factor 1 / (1 - chain u). All but the magnitudes together N, so that key j's
///    term errs by a_j = x_j + N.
/// 3. The denominator alone: the row sum of a tile and 2 R u. Together D, b_j = x_j + D.
/// 4. f(x) = x / (1 - x) holds (1 + e1) (1 + e2) ... - 1, also of exponentials and quotients, for the sum x of the
///    |e_i|. From the numerator's sum P_j (1 + f(a_j)) v_j over the denominator's sum P_j (1 + f(b_j)), B = sum P_j
///    f(b_j):
///      |computed - o| <= (sum P_j f(a_j) |v_j| + M + B |o|) / ((1 - B) (1 - chain u))
///    with M of the magnitudes of partial sums.
/// 5. Underflow. A p_j below the storage type's normal numbers errs by half their spacing h (2^-25 in f16), where the
///    largest p is 1: h / L of the exact sum L of exp(z_j - max z), at least 1, for each key; exp2 itself and each
///    alpha by 2^-148. Products in the chain of O: 2^-150 each.
/// 6. The output's rounding to the storage type is not part of it: `numeric_error` adds it.
/// The log-sum-exp ln(2) (c m + log2(l)) errs by B / (1 - B) (its weights), 4 u Z for c m, 4 u ln(L) for log2 (two
/// units in the last place), and two roundings before the last one.
///
/// Each kind counts one rounding more than it needs (R + 2 for R + 1 exponentials ...): that is more than the float64
/// reference's own error and the products of errors that 1. leaves out.
///
/// A row without a key has the bound 0: its output is exactly 0.
class AttentionBound {
 public:
  AttentionBound(const AttentionArithmetic& arithmetic, std::int64_t head_dim, double scale);

  /// Keys between two partial sums of a chain whose magnitudes count.
  static constexpr std::int64_t interval = 128;

  /// Whether they do.
  [[nodiscard]] bool knows_partial_sums() const noexcept { return knows_partial_sums_; }
  /// Of the magnitude of a partial sum at either end of `count` keys.
  [[nodiscard]] static constexpr double of_partial_sum(std::int64_t count) noexcept {
    return 0.5 * f32 * static_cast<double>(count);
  }

  /// The exact scores of one row, scaled.
  struct Row {
    double max = 0.0;      ///< the largest score
    double max_abs = 0.0;  ///< the largest magnitude
    double query = 0.0;    ///< `weighted_norm` of the query
  };

  /// ||g q||, over the row of Q.
  [[nodiscard]] double weighted_norm(const double* query) const noexcept;
  /// x_j, of a key with that score and norm.
  [[nodiscard]] double weight_error(const Row& row, double score, double key_norm) const noexcept {
    return scale_ * row.query * key_norm + f32 * (shift_roundings * (row.max - score) + std::abs(score) + row.max_abs) +
           exponentials_;
  }
  /// f(a_j) and f(b_j) of an x_j. Infinite where the arithmetic keeps nothing of the weight.
  [[nodiscard]] double numerator_error(double weight_error) const noexcept {
    return of_factors(weight_error + numerator_);
  }
  [[nodiscard]] double denominator_error(double weight_error) const noexcept {
    return of_factors(weight_error + denominator_);
  }
  /// Of each |v_j|, on top of P_j f(a_j), in a row whose exponentials sum up to that.
  [[nodiscard]] double underflow(double sum) const noexcept { return underflow_ / sum; }

  /// Of an element, from sum (P_j f(a_j) + underflow) |v_j| + M, B and |o|.
  [[nodiscard]] double of_output(double numerator, double denominator, double output) const noexcept;
  /// Of the row's log-sum-exp, from B.
  [[nodiscard]] double of_log_sum_exp(const Row& row, double denominator, double sum) const noexcept;

 private:
  static constexpr double f32 = 0x1p-24;
  static constexpr double shift_roundings = 7.0;  // 3 + 1 + 2, and one more

  /// f(x) or slightly more: x / (1 - x) <= x (1 + 2 x) up to 1/2.
  [[nodiscard]] static double of_factors(double x) noexcept {
    return x <= 0.5 ? x * (1.0 + 2.0 * x) : std::numeric_limits<double>::infinity();
  }

  std::vector<double> score_roundings_;  // g, of each element of a row of Q
  double scale_;
  double exponentials_;
  double numerator_;
  double denominator_;
  double underflow_;
  double output_underflow_;
  double chain_;  // in unit roundoffs: chain u
  bool knows_partial_sums_;
};

}  // namespace kernwave::platform
