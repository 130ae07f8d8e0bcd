// How errors are measured, and the random data that they are measured on.
#include "platform/workload/numeric_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/workload/float_format.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform::numeric_error_test {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Elements whose arithmetic before the last rounding is exact unless bounds are given.
ExpectedOutput expected(std::vector<double> values, DType dtype = DType::f32, std::vector<double> bounds = {}) {
  ExpectedOutput expected{std::move(values), std::move(bounds), dtype, {}};
  if (expected.bounds.empty()) expected.bounds.assign(expected.values.size(), 0.0);
  return expected;
}

NumericError error_of_one(float output, double reference, DType dtype, double bound = 0.0) {
  return numeric_error({output}, expected({reference}, dtype, {bound}), 1);
}

bool is_right(float output, double reference, DType dtype, double bound = 0.0) {
  return error_of_one(output, reference, dtype, bound).is_right();
}

TEST(NumericErrors, AreAbsoluteAndRelativeToTheElementOrItsRow) {
  // Row rms of {3, 4, 0, 0}: 2.5. Errors: 0.3 / 3, and 0.5 / max(0, 2.5).
  const NumericError error = numeric_error({3.3F, 4.0F, 0.5F, 0.0F}, expected({3.0, 4.0, 0.0, 0.0}), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(error.max_abs), 0.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(error.max_rel), 0.2F);
  EXPECT_FALSE(error.has_nan);
}

TEST(NumericErrors, OfARowOfZerosAreNoneOrInfinite) {
  EXPECT_EQ(numeric_error({0.0F, -0.0F}, expected({0.0, 0.0}), 2).max_rel, 0.0);
  EXPECT_EQ(numeric_error({0.0F, 1e-30F}, expected({0.0, 0.0}), 2).max_rel, std::numeric_limits<double>::infinity());
}

/// f16 between 1 and 2: neighbours are 2^-10 apart, so the last rounding errs by at most 2^-11.
TEST(NumericErrors, AreMeasuredAgainstTheElementsBoundAndItsLastRounding) {
  const double error = 0x1p-11 + 0x1p-13;
  EXPECT_DOUBLE_EQ(error_of_one(1.0F + 0x1p-10F, 1.0 + 0x1p-10 - error, DType::f16, 0x1p-12).max_of_bound,
                   (0x1p-11 + 0x1p-13) / (0x1p-11 + 0x1p-12));
  EXPECT_TRUE(is_right(1.0F + 0x1p-10F, 1.0 + 0x1p-10 - error, DType::f16, 0x1p-13));
  EXPECT_FALSE(is_right(1.0F + 0x1p-10F, 1.0 + 0x1p-10 - error, DType::f16, 0x1p-14));
}

TEST(NumericErrors, CountNaNAsWrong) {
  const NumericError error = numeric_error({1.0F, nan}, expected({1.0, 1.0}), 2);
  EXPECT_TRUE(error.has_nan);
  EXPECT_FALSE(error.is_right());
  EXPECT_FALSE(is_right(nan, 1.0, DType::f32, std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(is_right(1.0F, 1.0, DType::f32));
}

TEST(NumericErrors, NameTheFirstWrongElementAndCountAll) {
  const NumericError error = numeric_error({1.0F, 2.5F, nan}, expected({1.0, 2.0, 3.0}), 3);
  EXPECT_EQ(error.wrong, 2);
  ASSERT_TRUE(error.first_wrong.has_value());
  EXPECT_EQ(error.first_wrong->index, 1);
  EXPECT_EQ(error.first_wrong->output, "2.5");
  EXPECT_EQ(error.first_wrong->expected, "2");
}

/// Subnormals of f16 are 2^-24 apart.
TEST(NumericErrors, AllowSubnormalsTheRoundingOfTheirSpacing) {
  EXPECT_TRUE(is_right(0x1p-24F, 0x1.7p-24, DType::f16));
  EXPECT_FALSE(is_right(0x1p-24F, 0x1.9p-24, DType::f16));
  EXPECT_TRUE(is_right(0.0F, 0x1p-25, DType::f16));
  EXPECT_FALSE(is_right(0x1p-24F, 0.0, DType::f16)) << "an exact 0, of a row without a key for instance, stays 0";
  EXPECT_TRUE(is_right(0x1p-149F, 0x1.7p-149, DType::f32));
  EXPECT_FALSE(is_right(0x1p-149F, 0.0, DType::f32));
}

/// 65504 is the largest number of f16; from 65520 on numbers round to infinity.
TEST(NumericErrors, TakeAnInfinityForWhatRoundsToIt) {
  EXPECT_TRUE(is_right(infinite, 65520.0, DType::f16));
  EXPECT_TRUE(is_right(infinite, 1e30, DType::f16));
  EXPECT_TRUE(is_right(-infinite, -70000.0, DType::f16));
  EXPECT_EQ(error_of_one(infinite, 1e30, DType::f16).max_abs, 0.0);
  EXPECT_FALSE(is_right(infinite, 65519.0, DType::f16));
  EXPECT_TRUE(is_right(infinite, 65519.0, DType::f16, 1.0)) << "its sum may have been 65520";
  EXPECT_FALSE(is_right(infinite, -70000.0, DType::f16));
  EXPECT_FALSE(is_right(65504.0F, 70000.0, DType::f16));
  EXPECT_TRUE(is_right(65504.0F, 65519.0, DType::f16));
  EXPECT_FALSE(is_right(infinite, 1e38, DType::f32));
}

TEST(NumericErrors, FindASingleBitThatIsNotAsPinned) {
  ExpectedOutput pinned = expected({1.0, 0.0}, DType::f32, {1.0, 1.0});
  pinned.bits = {1.0F, 0.0F};
  EXPECT_EQ(numeric_error({1.0F, 0.0F}, pinned, 2).bitwise, true);
  EXPECT_TRUE(numeric_error({1.0F, 0.0F}, pinned, 2).is_right());
  const NumericError last_place = numeric_error({1.0F + 0x1p-23F, 0.0F}, pinned, 2);
  EXPECT_EQ(last_place.bitwise, false);
  EXPECT_EQ(last_place.wrong, 1);
  EXPECT_EQ(last_place.first_wrong->expected, "1");
  EXPECT_FALSE(numeric_error({1.0F, -0.0F}, pinned, 2).is_right());
  EXPECT_FALSE(numeric_error({1.0F}, expected({1.0}), 1).bitwise.has_value());
}

/// Pinned bits that are themselves beyond the bound do not make a result right.
TEST(NumericErrors, NeedBitsAndBoundBoth) {
  ExpectedOutput pinned = expected({1.0});
  pinned.bits = {2.0F};
  EXPECT_FALSE(numeric_error({2.0F}, pinned, 1).is_right());
}

TEST(NumericErrors, OfSeveralOutputsAreTheLargest) {
  NumericError error = numeric_error({3.0F}, expected({2.0}, DType::f32, {4.0}), 1);
  error.merge(numeric_error({1.5F, nan}, expected({1.0, 1.0}), 1));
  EXPECT_EQ(error.max_abs, 1.0);
  EXPECT_EQ(error.max_rel, 0.5);
  EXPECT_TRUE(error.has_nan);
  EXPECT_EQ(error.wrong, 2);
  EXPECT_EQ(error.first_wrong->index, 0);
  EXPECT_FALSE(error.bitwise.has_value());
}

TEST(NumericErrors, NeedWholeRowsOfEqualLength) {
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, expected({1.0, 2.0}), 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, expected({1.0}), 2)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, {{1.0}, {}, DType::f32, {}}, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, {{1.0}, {0.0}, DType::int32, {}}, 1)), std::invalid_argument);
}

// B20 for inputs: rounding is to nearest even.
TEST(RandomTensors, AreRoundedToTheStorageType) {
  const auto rounded = [](DType dtype, float value) {
    round_to(dtype, &value, 1);
    return value;
  };
  EXPECT_EQ(rounded(DType::f16, 2049.0F), 2048.0F);
  EXPECT_EQ(rounded(DType::f16, 2051.0F), 2052.0F);
  EXPECT_EQ(rounded(DType::bf16, 257.0F), 256.0F);
  EXPECT_EQ(rounded(DType::f32, 0.1F), 0.1F);
}

/// Elements made many at a time, whatever their number and place in a vector of the processor.
TEST(RandomTensors, AreElementByElementTheFunctionOfTheirIndexRounded) {
  const RandomTensor tensor(11, 4);
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const FloatFormat format = FloatFormat::of(dtype);
    for (const std::int64_t count : {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 100, 1023, 1025, 2500}) {
      const std::int64_t first = 7 * count;
      const auto values = tensor.values(first, count, dtype);
      for (std::int64_t i = 0; i < count; ++i) {
        const float expected = format.round(static_cast<double>(tensor[first + i]));
        ASSERT_EQ(values[static_cast<std::size_t>(i)], expected) << name_of(dtype) << ", " << i << " of " << count;
      }
    }
  }
}

/// An element does not depend on where its tile starts.
TEST(RandomTensors, CanBeMadeInParts) {
  const RandomTensor tensor(3, 5);
  const auto whole = tensor.values(0, 100, DType::f16);
  const auto part = tensor.values(40, 10, DType::f16);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[40 + i]);
}

TEST(RandomTensors, DifferBySeedAndByTensor) {
  const auto values = RandomTensor(1, 1).values(0, 16, DType::f32);
  EXPECT_NE(RandomTensor(2, 1).values(0, 16, DType::f32), values);
  EXPECT_NE(RandomTensor(1, 2).values(0, 16, DType::f32), values);
}

/// The sums of the 16-bit digits of three words, less 131070, from an implementation of SplitMix64 in Python.
TEST(RandomTensors, AreTheSameOnEveryMachine) {
  const RandomTensor tensor(1, 0);
  constexpr float unit = 1.0F / 37837.2272F;
  EXPECT_EQ(tensor[0], -22320 * unit);
  EXPECT_EQ(tensor[1], 15058 * unit);
  EXPECT_EQ(tensor[1'000'000'000'000], -15012 * unit);
}

TEST(RandomTensors, HaveMeanZeroAndVarianceOneAndAreIndependent) {
  constexpr std::int64_t count = 100'000;
  const RandomTensor tensor(1, 0);
  double sum = 0.0;
  double squares = 0.0;
  double neighbours = 0.0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = tensor[i];
    sum += value;
    squares += value * value;
    neighbours += value * static_cast<double>(tensor[i + 1]);
    EXPECT_LE(std::abs(value), 3.4642);  // 2 sqrt(3)
  }
  // Standard errors: 1 / sqrt(count) = 0.0032 of the mean and of the correlation, sqrt(1.7 / count) = 0.0041 of the
  // variance (kurtosis 2.7).
  EXPECT_NEAR(sum / count, 0.0, 4 * 0.0032);
  EXPECT_NEAR(squares / count, 1.0, 4 * 0.0041);
  EXPECT_NEAR(neighbours / count, 0.0, 4 * 0.0032);
}

}  // namespace
}  // namespace kernwave::platform::numeric_error_test
