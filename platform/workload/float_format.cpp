#include "platform/workload/float_format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace kernwave::platform {

namespace {

constexpr int float64_bias = 1023;
constexpr int float64_fraction_bits = 52;

/// 2^exponent of a normal float64.
[[nodiscard]] double power_of_two(int exponent) noexcept {
  const auto bits = static_cast<std::uint64_t>(exponent + float64_bias) << float64_fraction_bits;
  double value = 0.0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// floor(log2(magnitude)); below every format's smallest exponent for 0.
[[nodiscard]] int exponent_of(double magnitude) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &magnitude, sizeof bits);
  return static_cast<int>((bits >> float64_fraction_bits) & 0x7FF) - float64_bias;
}

}  // namespace

FloatFormat FloatFormat::of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {11, -14, 15};
    case DType::bf16:
      return {8, -126, 127};
    case DType::f32:
      return {24, -126, 127};
    case DType::int32:
    case DType::boolean:
      break;
  }
  throw std::invalid_argument("FloatFormat: not a floating-point type");
}

double FloatFormat::unit_roundoff() const noexcept { return power_of_two(-precision_); }

double FloatFormat::half_spacing(double magnitude) const noexcept {
  return power_of_two(std::clamp(exponent_of(magnitude), min_exponent_, max_exponent_) - precision_);
}

double FloatFormat::overflow() const noexcept { return (2.0 - unit_roundoff()) * power_of_two(max_exponent_); }

float FloatFormat::round(double value) const noexcept {
  if (std::isnan(value) || std::isinf(value)) return static_cast<float>(value);
  const double spacing = 2.0 * half_spacing(std::abs(value));
  const double rounded = std::nearbyint(value / spacing) * spacing;
  if (std::abs(rounded) > overflow()) return static_cast<float>(std::copysign(HUGE_VAL, value));
  return static_cast<float>(rounded);
}

}  // namespace kernwave::platform
