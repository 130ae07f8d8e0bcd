// Binary floating-point formats as numbers: spacing, overflow, rounding to nearest.
#pragma once

#include "models/base/dtype.h"

namespace kernwave::platform {

/// An IEEE 754 binary format with subnormals: f16 (binary16), bf16, f32 (binary32). Computed in float64 from the
/// format's parameters, and so independent of the conversions of the model (`numeric::write_row`).
class FloatFormat {
 public:
  /// Throws std::invalid_argument for a type that is no float.
  [[nodiscard]] static FloatFormat of(DType dtype);

  /// The unit roundoff u: the largest relative error of rounding a normal number. 2^-11 (f16), 2^-8 (bf16), 2^-24
  /// (f32).
  [[nodiscard]] double unit_roundoff() const noexcept;
  /// Half the distance between neighbours at that magnitude: the largest error of rounding to nearest there. Constant
  /// among subnormals, and from the largest binade on.
  [[nodiscard]] double half_spacing(double magnitude) const noexcept;
  /// The smallest magnitude that rounds to infinity: 65520 in f16.
  [[nodiscard]] double overflow() const noexcept;
  /// The nearest value, ties to even; infinity from `overflow` on. NaN stays NaN.
  [[nodiscard]] float round(double value) const noexcept;

 private:
  constexpr FloatFormat(int precision, int min_exponent, int max_exponent) noexcept
      : precision_(precision), min_exponent_(min_exponent), max_exponent_(max_exponent) {}

  int precision_;     // significant bits, the hidden one included
  int min_exponent_;  // of the smallest normal number
  int max_exponent_;  // of the largest number
};

}  // namespace kernwave::platform
