#include "platform/workload/numeric_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "platform/workload/float_format.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] double root_mean_square(const double* values, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(count));
}

[[nodiscard]] double relative(double difference, double size) noexcept {
  if (difference == 0.0) return 0.0;
  return size > 0.0 ? difference / size : std::numeric_limits<double>::infinity();
}

/// Of an infinity: to the nearest number that rounds to it.
[[nodiscard]] double distance(double output, double reference, double overflow) noexcept {
  if (!std::isinf(output)) return std::abs(output - reference);
  return std::max(0.0, output > 0.0 ? overflow - reference : overflow + reference);
}

[[nodiscard]] std::uint32_t bits_of(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Compares one output, element by element.
class Comparison {
 public:
  Comparison(const std::vector<float>& output, const ExpectedOutput& expected)
      : output_(output), expected_(expected), format_(FloatFormat::of(expected.dtype)), overflow_(format_.overflow()) {
    if (!expected.bits.empty()) error_.bitwise = true;
  }

  void compare_row(std::size_t first, std::size_t count) {
    const double rms = root_mean_square(expected_.values.data() + first, static_cast<std::int64_t>(count));
    for (std::size_t i = first; i < first + count; ++i) compare(i, rms);
  }

  [[nodiscard]] const NumericError& error() const noexcept { return error_; }

 private:
  void compare(std::size_t i, double rms) {
    const bool within = std::isnan(output_[i]) ? take_nan() : is_within_bound(i, rms);
    const bool as_pinned = expected_.bits.empty() || bits_of(output_[i]) == bits_of(expected_.bits[i]);
    if (!as_pinned) error_.bitwise = false;
    if (within && as_pinned) return;
    ++error_.wrong;
    if (error_.first_wrong) return;
    error_.first_wrong =
        WrongElement{static_cast<std::int64_t>(i), fmt::format("{}", output_[i]),
                     as_pinned ? fmt::format("{:.9g}", expected_.values[i]) : fmt::format("{}", expected_.bits[i]), ""};
  }

  [[nodiscard]] bool take_nan() noexcept {
    error_.has_nan = true;
    return false;
  }

  [[nodiscard]] bool is_within_bound(std::size_t i, double rms) noexcept {
    const double reference = expected_.values[i];
    const double bound = expected_.bounds[i];
    const double difference = distance(output_[i], reference, overflow_);
    // What rounds to infinity has been rounded by the distance's own definition.
    const double rounding = std::isinf(output_[i]) ? 0.0 : format_.half_spacing(std::abs(reference) + bound);
    const double of_bound = std::isinf(bound) ? 0.0 : relative(difference, bound + rounding);
    error_.max_abs = std::max(error_.max_abs, difference);
    error_.max_rel = std::max(error_.max_rel, relative(difference, std::max(std::abs(reference), rms)));
    error_.max_of_bound = std::max(error_.max_of_bound, of_bound);
    return of_bound <= 1.0;
  }

  const std::vector<float>& output_;
  const ExpectedOutput& expected_;
  FloatFormat format_;
  double overflow_;
  NumericError error_;
};

}  // namespace

void NumericError::merge(const NumericError& other) {
  max_abs = std::max(max_abs, other.max_abs);
  max_rel = std::max(max_rel, other.max_rel);
  max_of_bound = std::max(max_of_bound, other.max_of_bound);
  has_nan = has_nan || other.has_nan;
  if (other.bitwise) bitwise = bitwise.value_or(true) && *other.bitwise;
  wrong += other.wrong;
  if (!first_wrong) first_wrong = other.first_wrong;
}

NumericError numeric_error(const std::vector<float>& output, const ExpectedOutput& expected, std::int64_t row) {
  const std::size_t count = output.size();
  const bool lengths_agree = expected.values.size() == count && expected.bounds.size() == count &&
                             (expected.bits.empty() || expected.bits.size() == count);
  if (!lengths_agree || row < 1 || count % static_cast<std::size_t>(row) != 0) {
    throw std::invalid_argument("numeric_error: the output and its reference must be the same whole number of rows");
  }
  Comparison comparison(output, expected);
  for (std::size_t first = 0; first < count; first += static_cast<std::size_t>(row)) {
    comparison.compare_row(first, static_cast<std::size_t>(row));
  }
  return comparison.error();
}

}  // namespace kernwave::platform
