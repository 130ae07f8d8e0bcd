// Storage types: conversion rounds to nearest even and keeps what is special; casts and the making of tensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "models/numeric/tensor_bytes.h"
#include "tests/support/tensors.h"

namespace kernwave::types_test {
namespace {

using testing::compute;
using testing::matrix_of;
using testing::nearest;
using testing::Values;
using testing::vector_of;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// A 16-bit format as its definition says: sign, exponent, fraction.
struct Format {
  const char* name;
  DType dtype;
  int fraction_bits;
  int exponent_bits;
  std::uint16_t (*from_f32)(float);
  float (*to_f32)(std::uint16_t);

  [[nodiscard]] std::uint16_t infinity_bits() const {
    return static_cast<std::uint16_t>(((1U << exponent_bits) - 1U) << fraction_bits);
  }
  [[nodiscard]] bool is_nan(std::uint16_t bits) const { return (bits & 0x7FFFU) > infinity_bits(); }
  /// The magnitude that the bits denote; those of infinity count as the next power of two, which rounding needs.
  [[nodiscard]] double magnitude(std::uint16_t bits) const {
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int exponent = (bits & 0x7FFF) >> fraction_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    return std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits);
  }
};

const std::array<Format, 2> formats = {Format{"f16", DType::f16, 10, 5, numeric::f32_to_f16, numeric::f16_to_f32},
                                       Format{"bf16", DType::bf16, 7, 8, numeric::f32_to_bf16, numeric::bf16_to_f32}};

// B20, all 65536 values of either type.
TEST(Types, EveryValueOfASixteenBitTypeSurvivesTheWayToF32AndBack) {
  for (const Format& format : formats) {
    for (std::uint32_t value = 0; value <= 0xFFFFU; ++value) {
      const auto bits = static_cast<std::uint16_t>(value);
      const float wide = format.to_f32(bits);
      ASSERT_EQ(std::signbit(wide), (bits & 0x8000U) != 0) << format.name << " bits " << bits;
      if (format.is_nan(bits)) {
        ASSERT_TRUE(std::isnan(wide)) << format.name << " bits " << bits;
        ASSERT_TRUE(format.is_nan(format.from_f32(wide))) << format.name << " bits " << bits;
        continue;
      }
      const bool infinite = (bits & 0x7FFFU) == format.infinity_bits();
      ASSERT_EQ(std::abs(static_cast<double>(wide)), infinite ? infinity : format.magnitude(bits))
          << format.name << " bits " << bits;
      ASSERT_EQ(format.from_f32(wide), bits) << format.name;
    }
  }
}

// B20: between every two neighbours, subnormals and the step to infinity included.
TEST(Types, F32RoundsToTheNearestSixteenBitValueAndTiesGoToTheEvenOne) {
  for (const Format& format : formats) {
    for (std::uint16_t below = 0; below < format.infinity_bits(); ++below) {
      const auto above = static_cast<std::uint16_t>(below + 1U);
      const auto even = static_cast<std::uint16_t>((below & 1U) == 0 ? below : above);
      // Exact in f32, which has at least 13 fraction bits more.
      const auto middle = static_cast<float>((format.magnitude(below) + format.magnitude(above)) / 2.0);
      const float less = std::nextafter(middle, 0.0F);
      const float more = std::nextafter(middle, std::numeric_limits<float>::infinity());
      for (const bool negative : {false, true}) {
        const float sign = negative ? -1.0F : 1.0F;
        const auto sign_bit = static_cast<std::uint16_t>(negative ? 0x8000U : 0U);
        ASSERT_EQ(format.from_f32(sign * middle), even | sign_bit) << format.name << " tie above " << below;
        ASSERT_EQ(format.from_f32(sign * less), below | sign_bit) << format.name << " below the tie above " << below;
        ASSERT_EQ(format.from_f32(sign * more), above | sign_bit) << format.name << " above the tie above " << below;
      }
    }
  }
}

// B20
TEST(Types, F32BeyondTheRangeBecomesInfinityAndTinyOnesASignedZero) {
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  for (const Format& format : formats) {
    const std::uint16_t infinite = format.infinity_bits();
    EXPECT_EQ(format.from_f32(largest), infinite) << format.name;
    EXPECT_EQ(format.from_f32(-largest), infinite | 0x8000U) << format.name;
    EXPECT_EQ(format.from_f32(std::numeric_limits<float>::infinity()), infinite) << format.name;
    EXPECT_EQ(format.from_f32(-std::numeric_limits<float>::infinity()), infinite | 0x8000U) << format.name;
    EXPECT_TRUE(format.is_nan(format.from_f32(std::numeric_limits<float>::quiet_NaN()))) << format.name;
    EXPECT_EQ(format.from_f32(tiny), 0) << format.name;
    EXPECT_EQ(format.from_f32(-tiny), 0x8000U) << format.name;
  }
  EXPECT_EQ(numeric::f32_to_f16(65519.996F), 0x7BFFU);  // 65504, the largest
  EXPECT_EQ(numeric::f32_to_f16(65520.0F), 0x7C00U);    // halfway to 65536: even, and that is infinity
}

// B20: a NaN whose payload lies in the bits that are cut off must not become an infinity.
TEST(Types, ANanWithASmallPayloadStaysANan) {
  for (const Format& format : formats) {
    for (const std::uint32_t bits : {0x7F800001U, 0xFF800001U, 0x7F801FFFU, 0x7F80FFFFU}) {
      float value = 0.0F;
      std::memcpy(&value, &bits, sizeof value);
      EXPECT_TRUE(format.is_nan(format.from_f32(value))) << format.name << " of " << bits;
    }
  }
}

/// A row of `numbers.size()` elements of the type, `step` elements apart, from the f32 numbers and back.
struct StoredRow {
  StoredRow(const Format& format, const std::vector<float>& numbers, std::int32_t step)
      : bytes(numbers.size() * static_cast<std::size_t>(step) * 2 + 1) {
    // At an odd address, where no vector of the processor is aligned.
    tensor.data = bytes.data() + 1;
    tensor.view = numeric::dense_row(format.dtype, static_cast<std::int64_t>(numbers.size()));
    tensor.view.col_stride = step;
    numeric::write_row(tensor, 0, numbers.data());
  }

  [[nodiscard]] std::uint16_t bits(std::size_t i) const {
    std::uint16_t bits = 0;
    std::memcpy(&bits, tensor.element(0, static_cast<std::int64_t>(i)), sizeof bits);
    return bits;
  }

  std::vector<std::uint8_t> bytes;
  numeric::TensorBytes tensor;
};

[[nodiscard]] std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The nearest 16-bit value by its definition: of two neighbours in order of magnitude the nearer, or the even one.
[[nodiscard]] std::uint16_t nearest_bits(const Format& format, float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double magnitude = std::abs(static_cast<double>(value));
  std::uint16_t below = 0;
  std::uint16_t above = format.infinity_bits();  // counts as the next power of two
  if (magnitude >= format.magnitude(above)) return static_cast<std::uint16_t>(above | sign);
  while (above - below > 1) {
    const auto middle = static_cast<std::uint16_t>((below + above) / 2);
    (format.magnitude(middle) <= magnitude ? below : above) = middle;
  }
  const double up = format.magnitude(above) - magnitude;
  const double down = magnitude - format.magnitude(below);
  const bool to_above = up < down || (up == down && (above & 1U) == 0);
  return static_cast<std::uint16_t>((to_above ? above : below) | sign);
}

// B20: rows are converted many elements at a time; every value, in rows of every length up to a few vectors.
TEST(Types, RowsOfEverySixteenBitValueAreReadAsElementsAre) {
  for (const Format& format : formats) {
    std::vector<std::uint16_t> all(0x10000);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    numeric::TensorBytes tensor;
    tensor.data = reinterpret_cast<std::uint8_t*>(all.data());
    std::vector<float> read(all.size());
    for (std::int64_t first = 0, length = 1; first < 0x10000; first += length, length = length % 70 + 1) {
      length = std::min(length, 0x10000 - first);
      numeric::TensorBytes part = tensor;
      part.data += first * 2;
      part.view = numeric::dense_row(format.dtype, length);
      numeric::read_row(part, 0, read.data() + first);
    }
    for (std::uint32_t value = 0; value <= 0xFFFFU; ++value) {
      const auto bits = static_cast<std::uint16_t>(value);
      ASSERT_EQ(bits_of(read[value]), bits_of(format.to_f32(bits))) << format.name << " bits " << bits;
      if (format.is_nan(bits)) continue;
      ASSERT_EQ(nearest_bits(format, read[value]), bits) << format.name;
    }
  }
}

// B20: by the definition, over all sizes of numbers, dense and with gaps.
TEST(Types, RowsOfF32RoundToTheNearestSixteenBitValue) {
  std::vector<float> numbers;
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {  // the edges of each power of two
    for (const std::uint32_t fraction : {0U, 1U, 0xFFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0x18000U,
                                         0x7FF000U, 0x7F8000U, 0x7FFFFFU}) {
      const std::uint32_t bits = (exponent << 23U) | fraction;
      for (const std::uint32_t signed_bits : {bits, bits | 0x80000000U}) {
        float value = 0.0F;
        std::memcpy(&value, &signed_bits, sizeof value);
        numbers.push_back(value);
      }
    }
  }
  std::mt19937 random(20);  // the same numbers on every machine
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    float value = 0.0F;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) numbers.push_back(value);
    numbers.push_back(static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-29F);  // -4 ... 4
  }
  for (const Format& format : formats) {
    for (const std::int32_t step : {1, 3}) {
      const StoredRow row(format, numbers, step);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        ASSERT_EQ(row.bits(i), nearest_bits(format, numbers[i])) << format.name << " of " << numbers[i];
      }
    }
  }
}

// B20
TEST(Types, NanInARowStaysTheQuietNanOfItsSign) {
  std::vector<float> numbers(37, 1.0F);
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const std::uint32_t bits = 0x7F800001U + static_cast<std::uint32_t>(i) * 0x1234U + (i % 4 == 0 ? 0x80000000U : 0U);
    std::memcpy(&numbers[i], &bits, sizeof bits);
  }
  const std::array<std::uint16_t, 2> quiet = {0x7E00, 0x7FC0};
  for (std::size_t which = 0; which < formats.size(); ++which) {
    const StoredRow row(formats[which], numbers, 1);
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      EXPECT_EQ(row.bits(i), quiet[which] | (i % 4 == 0 ? 0x8000U : 0U)) << formats[which].name << ", element " << i;
    }
  }
}

/// Values that round, tie, overflow, vanish and are special in either format.
[[nodiscard]] std::vector<double> telling_values() {
  return {0.0,
          -0.0,
          1.0,
          1.0 + 0x1p-11,  // f16: a tie, down to even
          1.0 + 0x3p-11,  // f16: a tie, up to even
          1.0 + 0x1p-8,   // bf16: a tie, down to even
          1.0 + 0x3p-8,   // bf16: a tie, up to even
          -1.0 - 0x1p-11 - 0x1p-20,
          65504.0,
          65520.0,
          1e20,
          -3.4e38,
          0x1p-24,  // the smallest f16
          0x1p-25,  // f16: a tie with 0
          0x3p-26,
          -0x1p-133,  // the smallest bf16
          0x1p-134,   // bf16: a tie with 0
          infinity,
          -infinity,
          nan};
}

/// To f32, where arithmetic takes place, then to `dtype`.
[[nodiscard]] std::vector<double> rounded(DType dtype, std::vector<double> values) {
  for (double& value : values) value = nearest(dtype, nearest(DType::f32, value));
  return values;
}

// B20, through the MATH engine.
TEST(Types, CastRoundsEachElementToNearestEven) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const std::vector<double> expected = rounded(dtype, telling_values());
    EXPECT_EQ(compute({vector_of(DType::f32, telling_values())},
                      [dtype](tl::Context& tl, const auto& in) { return tl.cast(in[0], dtype); }),
              vector_of(dtype, expected));
  }
}

TEST(Types, ToTheSameTypeIsTheTensorItselfAndCostsNothing) {
  EXPECT_EQ(compute({vector_of(DType::f16, {1.0, 2.0})},
                    [](tl::Context&, const auto& in) {
                      const tl::Tensor same = in[0].to(DType::f16);
                      EXPECT_EQ(same.address(), in[0].address());
                      return same;
                    }),
            vector_of(DType::f16, {1.0, 2.0}));
}

TEST(Types, F16AndBf16WidenExactly) {
  for (const Format& format : formats) {
    const std::vector<double> exact = rounded(format.dtype, telling_values());
    EXPECT_EQ(
        compute({vector_of(format.dtype, exact)}, [](tl::Context&, const auto& in) { return in[0].to(DType::f32); }),
        vector_of(DType::f32, exact));
  }
}

TEST(Types, F16ToBf16RoundsOnceAndBackIsExactWhereItFits) {
  // 1 + 2^-10 has 10 fraction bits: between 1 and 1 + 2^-7, nearer to 1. 1 + 3 x 2^-8 lies halfway: to the even 1 +
  // 2^-6.
  EXPECT_EQ(compute({vector_of(DType::f16, {1.0 + 0x1p-10, 1.0 + 0x3p-8, 65504.0})},
                    [](tl::Context&, const auto& in) { return in[0].to(DType::bf16); }),
            vector_of(DType::bf16, {1.0, 1.0 + 0x1p-6, 65536.0}));
  EXPECT_EQ(compute({vector_of(DType::bf16, {1.0 + 0x1p-7, 65536.0, -0x1p-24})},
                    [](tl::Context&, const auto& in) { return in[0].to(DType::f16); }),
            vector_of(DType::f16, {1.0 + 0x1p-7, infinity, -0x1p-24}));
}

TEST(Types, FloatsToInt32TruncateAndSaturateAndANanIsZero) {
  EXPECT_EQ(compute({vector_of(DType::f32, {1.9, -1.9, 0.0, 3e9, -3e9, infinity, -infinity, nan})},
                    [](tl::Context&, const auto& in) { return in[0].to(DType::int32); }),
            vector_of(DType::int32, {1, -1, 0, 2147483647.0, -2147483648.0, 2147483647.0, -2147483648.0, 0}));
}

TEST(Types, Int32ToFloatsRoundsToNearestEven) {
  const std::vector<double> integers = {0, -7, 16777217, 16777219, 2147483647, -2147483648.0, 2049, 257};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::vector<double> expected = rounded(dtype, integers);
    EXPECT_EQ(
        compute({vector_of(DType::int32, integers)}, [dtype](tl::Context&, const auto& in) { return in[0].to(dtype); }),
        vector_of(dtype, expected));
  }
}

TEST(Types, BooleansAreZeroOrOneAndAnythingButZeroIsTrue) {
  EXPECT_EQ(compute({vector_of(DType::f32, {0.0, -0.0, 0.25, -3.0, nan, infinity})},
                    [](tl::Context&, const auto& in) { return in[0].to(DType::boolean); }),
            vector_of(DType::boolean, {0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(compute({vector_of(DType::int32, {0, 256, -1})},
                    [](tl::Context&, const auto& in) { return in[0].to(DType::boolean); }),
            vector_of(DType::boolean, {0, 1, 1}));
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::int32}) {
    EXPECT_EQ(compute({vector_of(DType::boolean, {0, 1, 1})},
                      [dtype](tl::Context&, const auto& in) { return in[0].to(dtype); }),
              vector_of(dtype, {0, 1, 1}));
  }
}

TEST(Types, FullGivesEveryElementTheValueInItsType) {
  const auto full = [](DType dtype, double value) {
    return compute({}, [=](tl::Context& tl, const auto&) { return tl.full({2, 2}, value, dtype); }).elements;
  };
  using Four = std::vector<double>;
  EXPECT_EQ(full(DType::f32, 0.1), Four(4, nearest(DType::f32, 0.1)));
  EXPECT_EQ(full(DType::f16, 0.1), Four(4, nearest(DType::f16, 0.1)));
  EXPECT_EQ(full(DType::bf16, -infinity), Four(4, -infinity));
  EXPECT_EQ(full(DType::int32, -2147483647.0), Four(4, -2147483647.0));  // not by way of f32
  EXPECT_EQ(full(DType::int32, -1.5), Four(4, -1.0));                    // as a cast: towards 0,
  EXPECT_EQ(full(DType::int32, infinity), Four(4, 2147483647.0));        // saturating
  EXPECT_EQ(full(DType::boolean, 0.5), Four(4, 1.0));                    // and "is not 0"
  EXPECT_EQ(full(DType::boolean, 0.0), Four(4, 0.0));
}

TEST(Types, ZerosFillAndArange) {
  EXPECT_EQ(compute({},
                    [](tl::Context& tl, const auto&) {
                      return tl.zeros({1, 3}, DType::bf16);
                    }),
            matrix_of(DType::bf16, {{0, 0, 0}}));
  EXPECT_EQ(compute({}, [](tl::Context& tl, const auto&) { return tl.fill(tl.buffer({2}, DType::f32), -2.5); }),
            vector_of(DType::f32, {-2.5, -2.5}));
  EXPECT_EQ(compute({}, [](tl::Context& tl, const auto&) { return tl.arange(-2, 3); }),
            vector_of(DType::int32, {-2, -1, 0, 1, 2}));
  // f32 would not tell these apart
  EXPECT_EQ(compute({}, [](tl::Context& tl, const auto&) { return tl.arange(16777216, 16777219); }),
            vector_of(DType::int32, {16777216, 16777217, 16777218}));
}

TEST(Types, SizesAndNames) {
  EXPECT_EQ(size_of(DType::f32), 4);
  EXPECT_EQ(size_of(DType::f16), 2);
  EXPECT_EQ(size_of(DType::bf16), 2);
  EXPECT_EQ(size_of(DType::int32), 4);
  EXPECT_EQ(size_of(DType::boolean), 1);
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(tl::cdiv(0, 4), 0);
  EXPECT_EQ(tl::cdiv(1, 4), 1);
  EXPECT_EQ(tl::cdiv(4, 4), 1);
  EXPECT_EQ(tl::cdiv(5, 4), 2);
}

}  // namespace
}  // namespace kernwave::types_test
