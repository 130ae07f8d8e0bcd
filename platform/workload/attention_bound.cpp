#include "platform/workload/attention_bound.h"

#include <algorithm>

#include "platform/workload/float_format.h"

namespace kernwave::platform {

namespace {

/// Two units in the last place of f32, in unit roundoffs.
constexpr double library_function = 4.0;
constexpr double smallest_f32 = 0x1p-149;

}  // namespace

AttentionBound::AttentionBound(const AttentionArithmetic& arithmetic, std::int64_t head_dim, double scale)
    : score_roundings_(static_cast<std::size_t>(head_dim)),
      scale_(scale),
      chain_(f32 * static_cast<double>(arithmetic.chain)),
      knows_partial_sums_(!arithmetic.consecutive.empty()) {
  for (std::int64_t i = 0; i < head_dim; ++i) {
    const double roundings = f32 * static_cast<double>(head_dim - i + 1);  // i counts from 0
    score_roundings_[static_cast<std::size_t>(i)] = of_factors(roundings) + f32;
  }
  const FloatFormat storage = FloatFormat::of(arithmetic.storage);
  const bool converts = arithmetic.storage != DType::f32;
  const auto rescalings = static_cast<double>(arithmetic.rescalings);
  const auto chain = static_cast<double>(arithmetic.chain);
  const double sums = knows_partial_sums_ ? 0.5 * std::min(chain, static_cast<double>(interval)) : chain;
  constexpr double quotient = 2.0;
  exponentials_ = f32 * library_function * (rescalings + 2.0);
  numerator_ = (converts ? storage.unit_roundoff() : 0.0) + f32 * (sums + 2.0 + 2.0 * rescalings + quotient);
  denominator_ = f32 * (static_cast<double>(arithmetic.tile) + 2.0 * rescalings + 1.0);
  const double conversion = converts ? storage.half_spacing(0.0) : 0.0;
  underflow_ = conversion + 2.0 * smallest_f32 * (rescalings + 1.0);
  output_underflow_ = smallest_f32 * (chain + 2.0 * rescalings + quotient);
}

double AttentionBound::weighted_norm(const double* query) const noexcept {
  double sum = 0.0;
  for (const double roundings : score_roundings_) {
    const double term = roundings * *query++;
    sum += term * term;
  }
  return std::sqrt(sum);
}

double AttentionBound::of_output(double numerator, double denominator, double output) const noexcept {
  if (denominator >= 1.0 || chain_ >= 1.0 || !std::isfinite(numerator)) return std::numeric_limits<double>::infinity();
  return (numerator + denominator * output) / ((1.0 - denominator) * (1.0 - chain_)) + output_underflow_;
}

double AttentionBound::of_log_sum_exp(const Row& row, double denominator, double sum) const noexcept {
  if (denominator >= 1.0) return std::numeric_limits<double>::infinity();
  const double logarithm = std::log(sum);
  const double arithmetic = 4.0 * row.max_abs + library_function * logarithm + 2.0 * std::abs(row.max + logarithm);
  return denominator / (1.0 - denominator) + f32 * 1.25 * arithmetic + smallest_f32;
}

}  // namespace kernwave::platform
