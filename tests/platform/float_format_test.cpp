// Floating-point formats as numbers, against the model's conversions of bits.
#include "platform/workload/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "models/numeric/tensor_bytes.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform::float_format_test {
namespace {

TEST(FloatFormats, HaveTheUnitRoundoffOfTheirPrecision) {
  EXPECT_EQ(FloatFormat::of(DType::f16).unit_roundoff(), 0x1p-11);
  EXPECT_EQ(FloatFormat::of(DType::bf16).unit_roundoff(), 0x1p-8);
  EXPECT_EQ(FloatFormat::of(DType::f32).unit_roundoff(), 0x1p-24);
  EXPECT_THROW(static_cast<void>(FloatFormat::of(DType::int32)), std::invalid_argument);
}

TEST(FloatFormats, SpaceTheirNumbersByBinadeAndSubnormalsEqually) {
  const FloatFormat f16 = FloatFormat::of(DType::f16);
  EXPECT_EQ(f16.half_spacing(1.0), 0x1p-11);
  EXPECT_EQ(f16.half_spacing(1.999), 0x1p-11);
  EXPECT_EQ(f16.half_spacing(2.0), 0x1p-10);
  EXPECT_EQ(f16.half_spacing(0x1p-14), 0x1p-25);
  EXPECT_EQ(f16.half_spacing(0x1p-20), 0x1p-25);
  EXPECT_EQ(f16.half_spacing(0.0), 0x1p-25);
  EXPECT_EQ(f16.half_spacing(1e30), 16.0);
  EXPECT_EQ(FloatFormat::of(DType::f32).half_spacing(0.0), 0x1p-150);
}

TEST(FloatFormats, OverflowHalfASpacingBeyondTheirLargestNumber) {
  EXPECT_EQ(FloatFormat::of(DType::f16).overflow(), 65520.0);
  const double largest = std::numeric_limits<float>::max();
  EXPECT_EQ(FloatFormat::of(DType::f32).overflow(), largest + 0x1p103);
}

void expect_rounding_as_the_model(DType dtype, float value) {
  float expected = value;
  round_to(dtype, &expected, 1);
  EXPECT_EQ(FloatFormat::of(dtype).round(value), expected) << value;
  EXPECT_EQ(std::signbit(FloatFormat::of(dtype).round(value)), std::signbit(expected)) << value;
}

/// Every number of f16, the middle between it and the next one, and the f32 numbers beside that middle.
TEST(FloatFormats, RoundAsTheModelsConversionsDo) {
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float number = numeric::f16_to_f32(static_cast<std::uint16_t>(bits));
    const float next = bits == 0x7BFF ? 65536.0F : numeric::f16_to_f32(static_cast<std::uint16_t>(bits + 1));
    const float middle = (number + next) / 2.0F;
    for (const float value : {number, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e30F)}) {
      expect_rounding_as_the_model(DType::f16, value);
      expect_rounding_as_the_model(DType::f16, -value);
      expect_rounding_as_the_model(DType::bf16, value);
    }
  }
  for (const float value : {1e-45F, 3e-41F, 9.2e-41F, 3.39e38F, 3.4e38F, std::numeric_limits<float>::infinity()}) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) expect_rounding_as_the_model(dtype, value);
  }
  EXPECT_TRUE(std::isnan(FloatFormat::of(DType::f16).round(std::nan(""))));
}

}  // namespace
}  // namespace kernwave::platform::float_format_test
