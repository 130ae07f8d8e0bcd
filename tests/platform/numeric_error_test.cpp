// How errors are measured, and the random data that tolerances are made for.
#include "platform/workload/numeric_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "platform/workload/random_data.h"

namespace kernwave::platform::numeric_error_test {
namespace {

TEST(NumericErrors, AreAbsoluteAndRelativeToTheElementOrItsRow) {
  // Row rms of {3, 4, 0, 0}: 2.5. Errors: 0.3 / 3, and 0.5 / max(0, 2.5).
  const NumericError error = numeric_error({3.3F, 4.0F, 0.5F, 0.0F}, {3.0, 4.0, 0.0, 0.0}, 4);
  EXPECT_FLOAT_EQ(static_cast<float>(error.max_abs), 0.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(error.max_rel), 0.2F);
  EXPECT_FALSE(error.has_nan);
}

TEST(NumericErrors, OfARowOfZerosAreNoneOrInfinite) {
  EXPECT_EQ(numeric_error({0.0F, -0.0F}, {0.0, 0.0}, 2).max_rel, 0.0);
  EXPECT_EQ(numeric_error({0.0F, 1e-30F}, {0.0, 0.0}, 2).max_rel, std::numeric_limits<double>::infinity());
}

TEST(NumericErrors, CountNaNAsWrong) {
  const NumericError error = numeric_error({1.0F, std::numeric_limits<float>::quiet_NaN()}, {1.0, 1.0}, 2);
  EXPECT_TRUE(error.has_nan);
  EXPECT_FALSE(error.within(1.0));
  EXPECT_TRUE(numeric_error({1.0F}, {1.0}, 1).within(0.0));
}

TEST(NumericErrors, OfSeveralOutputsAreTheLargest) {
  NumericError error{1.0, 0.1, false};
  error.merge({0.5, 0.2, true});
  EXPECT_EQ(error.max_abs, 1.0);
  EXPECT_EQ(error.max_rel, 0.2);
  EXPECT_TRUE(error.has_nan);
}

TEST(NumericErrors, NeedWholeRowsOfEqualLength) {
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, {1.0, 2.0}, 1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(numeric_error({1.0F}, {1.0}, 2)), std::invalid_argument);
}

/// u for the output and 7 . 0.42 u for the probabilities; what f32 adds does not show beside them.
TEST(Tolerances, OfAttentionInSixteenBitsAreFourUnits) {
  EXPECT_NEAR(attention_tolerance(DType::f16, 128, 1), 3.94 * 0x1p-11, 0.01 * 0x1p-11);
  EXPECT_NEAR(attention_tolerance(DType::bf16, 128, 8192), 3.94 * 0x1p-8, 0.01 * 0x1p-8);
}

TEST(Tolerances, OfAttentionInF32GrowWithTheRootsOfHeadDimensionAndLength) {
  // 1 + 7 sqrt(128 + 3 (4 . 0.42)^2 + 0.42^2 . 2048 (1/2 + 1/3)) = 1 + 7 sqrt(128 + 8.47 + 301.06)
  EXPECT_NEAR(attention_tolerance(DType::f32, 128, 2048), 147.4 * 0x1p-24, 0.1 * 0x1p-24);
}

TEST(Tolerances, OfProductsGrowWithTheRootOfTheDepth) {
  // 1 + 7 . 0.42 sqrt(200 / 2)
  EXPECT_NEAR(gemm_tolerance(DType::f32, 200), 30.4 * 0x1p-24, 0.1 * 0x1p-24);
}

// B20 for inputs: rounding is to nearest even.
TEST(RandomTensors, AreRoundedToTheStorageType) {
  EXPECT_EQ(round_to(DType::f16, 2049.0F), 2048.0F);
  EXPECT_EQ(round_to(DType::f16, 2051.0F), 2052.0F);
  EXPECT_EQ(round_to(DType::bf16, 257.0F), 256.0F);
  EXPECT_EQ(round_to(DType::f32, 0.1F), 0.1F);
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
