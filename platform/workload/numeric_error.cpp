#include "platform/workload/numeric_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kernwave::platform {

namespace {

constexpr double rms_rounding = 0.42;  // of one rounding, in unit roundoffs
constexpr double largest_in_deviations = 7.0;

[[nodiscard]] double root_mean_square(const double* values, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(count));
}

[[nodiscard]] double relative(double difference, double size) noexcept {
  if (difference == 0.0) return 0.0;
  return size > 0.0 ? difference / size : std::numeric_limits<double>::infinity();
}

[[nodiscard]] NumericError row_error(const float* output, const double* reference, std::int64_t count) {
  const double rms = root_mean_square(reference, count);
  NumericError error;
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(output[i])) {
      error.has_nan = true;
      continue;
    }
    const double difference = std::abs(static_cast<double>(output[i]) - reference[i]);
    error.max_abs = std::max(error.max_abs, difference);
    error.max_rel = std::max(error.max_rel, relative(difference, std::max(std::abs(reference[i]), rms)));
  }
  return error;
}

/// Variance of the relative error of a chain of `terms` additions whose partial sums grow as i^(exponent / 2).
[[nodiscard]] double chain_variance(std::int64_t terms, double exponent) noexcept {
  const double rounding = rms_rounding * unit_roundoff(DType::f32);
  return rounding * rounding * static_cast<double>(terms) / (exponent + 1.0);
}

[[nodiscard]] double square(double x) noexcept { return x * x; }

}  // namespace

void NumericError::merge(const NumericError& other) noexcept {
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  has_nan = has_nan || other.has_nan;
}

NumericError numeric_error(const std::vector<float>& output, const std::vector<double>& reference, std::int64_t row) {
  const auto count = static_cast<std::int64_t>(output.size());
  if (output.size() != reference.size() || row < 1 || count % row != 0) {
    throw std::invalid_argument("numeric_error: the output and its reference must be the same whole number of rows");
  }
  NumericError error;
  for (std::int64_t first = 0; first < count; first += row) {
    error.merge(row_error(output.data() + first, reference.data() + first, row));
  }
  return error;
}

double unit_roundoff(DType dtype) noexcept {
  switch (dtype) {
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f32:
      return 0x1p-24;
    case DType::int32:
    case DType::boolean:
      break;
  }
  return 0.0;
}

double attention_tolerance(DType dtype, std::int64_t head_dim, std::int64_t s_kv) noexcept {
  const double f32 = unit_roundoff(DType::f32);
  const double storage = unit_roundoff(dtype);
  const double probability = dtype == DType::f32 ? 0.0 : square(rms_rounding * storage);
  const double score = square(f32) * static_cast<double>(head_dim) + 3.0 * square(4.0 * rms_rounding * f32);
  const double chains = chain_variance(s_kv, 1.0) + chain_variance(s_kv, 2.0);
  return storage + largest_in_deviations * std::sqrt(probability + score + chains);
}

double gemm_tolerance(DType dtype, std::int64_t k) noexcept {
  return unit_roundoff(dtype) + largest_in_deviations * std::sqrt(chain_variance(k, 1.0));
}

}  // namespace kernwave::platform
