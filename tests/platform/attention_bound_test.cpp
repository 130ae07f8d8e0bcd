// The analytic bound of attention, on one key by hand, and what each part of the arithmetic adds.
#include "platform/workload/attention_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "platform/workload/attention_reference.h"

namespace kernwave::platform::attention_bound_test {
namespace {

constexpr double u = 0x1p-24;

/// One query 2, one key 3, one value 5: the score is 6, the probability 1.
[[nodiscard]] AttentionReference one_key(const AttentionArithmetic& arithmetic) {
  return attention_reference({1, 1, 1, 1, false, 1.0, arithmetic}, {2.0F}, {3.0F}, {5.0F});
}

/// Weight: the score's product and sum, with one rounding in reserve, 3 u 6; the exponent 6 u + 6 u; exp2
/// and its reserve 2 x 4 u: x = 38 u. Numerator: x + (1 + 2 + 2) u; denominator: x + (1 + 1) u; each times the 5.
TEST(AttentionBounds, OfOneKeyAreTheRoundingsByHand) {
  const AttentionReference reference = one_key({DType::f32, 1, 1, 0});
  EXPECT_NEAR(reference.out_bounds[0], (43.0 + 40.0) * 5.0 * u, 0.01 * u);
  // The weight's 40 u, and 1.25 times 4 u 6 for c m and 2 u 6 for the last steps; log2(1) is 0.
  EXPECT_NEAR(reference.lse_bounds[0], (40.0 + 1.25 * 36.0) * u, 0.01 * u);
}

TEST(AttentionBounds, GrowWithTheKeysOfAChainAndOfATileAndWithRescaling) {
  const double least = one_key({DType::f32, 1, 1, 0}).out_bounds[0];
  EXPECT_NEAR(one_key({DType::f32, 101, 1, 0}).out_bounds[0] - least, 100.0 * 5.0 * u, 0.1 * u);
  EXPECT_NEAR(one_key({DType::f32, 1, 101, 0}).out_bounds[0] - least, 100.0 * 5.0 * u, 0.1 * u);
  // Of each: alpha's exp2, 4 u of the weight in numerator and denominator, and a product and a sum in both.
  EXPECT_NEAR(one_key({DType::f32, 1, 1, 3}).out_bounds[0] - least, 3.0 * 2.0 * (4.0 + 2.0) * 5.0 * u, 0.1 * u);
}

TEST(AttentionBounds, CountTheConversionOfProbabilitiesTo16Bits) {
  const double least = one_key({DType::f32, 1, 1, 0}).out_bounds[0];
  EXPECT_NEAR(one_key({DType::f16, 1, 1, 0}).out_bounds[0] - least, 5.0 * (0x1p-11 + 0x1p-25), 5.0 * 0x1p-20);
  EXPECT_NEAR(one_key({DType::bf16, 1, 1, 0}).out_bounds[0] - least, 5.0 * 0x1p-8, 5.0 * 0x1p-14);
}

/// Four keys of equal weight and the values 5, -5, 5, -5, one chain or two of two keys each. Where their order is
/// known, the sums' 4 u sum|v| / 4 become half of that, and the magnitudes of the partial sums at the ends of the
/// chain, which are 0 here: 2 u 5 less of 5 in the numerator.
TEST(AttentionBounds, CountPartialSumsWhereTheOrderOfTheKeysIsKnown) {
  const auto bound = [](const AttentionArithmetic& arithmetic, const std::vector<float>& v) {
    return attention_reference({1, 4, 1, 1, false, 1.0, arithmetic}, {0.0F}, {1.0F, 1.0F, 1.0F, 1.0F}, v).out_bounds[0];
  };
  const std::vector<float> alternating{5.0F, -5.0F, 5.0F, -5.0F};
  const double unknown = bound({DType::f32, 4, 4, 0}, alternating);
  EXPECT_NEAR(unknown - bound({DType::f32, 4, 4, 0, {4}}, alternating), 2.0 * 5.0 * u, 0.1 * u);
  EXPECT_NEAR(unknown - bound({DType::f32, 4, 4, 0, {2, 2}}, alternating), 2.0 * 5.0 * u, 0.1 * u);
  // Of equal signs the sum at the end is as large as sum|v|: nothing is gained in one chain; in two chains of two keys,
  // each of half the sum, 2 u 5 / 2 / 2 each, half of it.
  const std::vector<float> equal{5.0F, 5.0F, 5.0F, 5.0F};
  EXPECT_NEAR(bound({DType::f32, 4, 4, 0, {4}}, equal), bound({DType::f32, 4, 4, 0}, equal), 0.1 * u);
  EXPECT_NEAR(bound({DType::f32, 4, 4, 0}, equal) - bound({DType::f32, 4, 4, 0, {2, 2}}, equal), 5.0 * u, 0.1 * u);
}

/// Causal, two queries, one key: the first sees none.
TEST(AttentionBounds, OfARowWithoutAKeyAreZero) {
  const AttentionReference reference =
      attention_reference({2, 1, 1, 1, true, 1.0, {DType::f16, 1, 1, 0}}, {2.0F, 2.0F}, {3.0F}, {5.0F});
  EXPECT_EQ(reference.out_bounds[0], 0.0);
  EXPECT_EQ(reference.lse_bounds[0], 0.0);
  EXPECT_GT(reference.out_bounds[1], 0.0);
}

/// f32 holds integers up to 2^24: a score of 2^24 has lost every digit of its exponential.
TEST(AttentionBounds, AreInfiniteWhereTheArithmeticKeepsNothingOfTheWeights) {
  const AttentionReference reference =
      attention_reference({1, 2, 1, 1, false, 1.0, {}}, {4096.0F}, {4096.0F, -4096.0F}, {5.0F, 0.0F});
  EXPECT_EQ(reference.out_bounds[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(reference.lse_bounds[0], std::numeric_limits<double>::infinity());
}

/// A key whose weight is 0 has no error, however far its score is from the maximum.
TEST(AttentionBounds, StayFiniteWhereAWeightIsZero) {
  const AttentionReference reference =
      attention_reference({1, 2, 1, 1, false, 1.0, {}}, {1024.0F}, {0.0F, -1024.0F}, {5.0F, 7.0F});
  EXPECT_EQ(reference.out[0], 5.0);
  EXPECT_LT(reference.out_bounds[0], 5.0);
}

/// Element i of the chain of d products is rounded at most d - i + 1 times, and one is in reserve.
TEST(AttentionBounds, WeighTheQuerysElementsByTheirRoundings) {
  const AttentionBound bound({DType::f32, 1, 1, 0}, 3, 1.0);
  const std::vector<double> first{1.0, 0.0, 0.0};
  const std::vector<double> last{0.0, 0.0, 1.0};
  EXPECT_NEAR(bound.weighted_norm(first.data()), 5.0 * u, 1e-5 * u);
  EXPECT_NEAR(bound.weighted_norm(last.data()), 3.0 * u, 1e-5 * u);
}

}  // namespace
}  // namespace kernwave::platform::attention_bound_test
