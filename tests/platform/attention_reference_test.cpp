// The float64 reference itself, on cases that can be worked out by hand.
#include "platform/workload/attention_reference.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "platform/workload/random_data.h"

namespace kernwave::platform::attention_reference_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<float> random(std::uint64_t tensor, std::int64_t count) {
  return RandomTensor(7, tensor).values(0, count, DType::f32);
}

TEST(AttentionReference, OfTwoKeysIsTheLogisticFunction) {
  // Scores 0.5 . (2 . 1) = 1 and 0.5 . (2 . 3) = 3: weights 1 / (1 + e^2) and 1 / (1 + e^-2).
  const AttentionReference reference =
      attention_reference({1, 2, 1, 1, false, 0.5}, {2.0F}, {1.0F, 3.0F}, {10.0F, 20.0F});
  const double second = 1.0 / (1.0 + std::exp(-2.0));
  ASSERT_EQ(reference.out.size(), 1U);
  EXPECT_NEAR(reference.out[0], 10.0 * (1.0 - second) + 20.0 * second, 1e-13);
  // ln(e^1 + e^3)
  EXPECT_NEAR(reference.lse[0], std::log(std::exp(1.0) + std::exp(3.0)), 1e-13);
}

TEST(AttentionReference, OfEqualScoresIsTheMeanOfV) {
  const std::int64_t keys = 6;
  const std::int64_t d = 3;
  const auto v = random(0, keys * d);
  const AttentionReference reference =
      attention_reference({1, keys, 1, d, false, 1.0}, random(1, d), std::vector<float>(18, 0.0F), v);
  for (std::int64_t col = 0; col < d; ++col) {
    double sum = 0.0;
    for (std::int64_t key = 0; key < keys; ++key) sum += v[static_cast<std::size_t>(key * d + col)];
    EXPECT_NEAR(reference.out[static_cast<std::size_t>(col)], sum / 6.0, 1e-14);
  }
  EXPECT_NEAR(reference.lse[0], std::log(6.0), 1e-14);
}

// B13: the log-sum-exp is the natural one, and two unequal parts of the keys merge by it to the whole.
TEST(AttentionReference, OfPartsOfTheKeysMergesByTheirLogSumExp) {
  const std::int64_t d = 16;
  const std::int64_t keys = 50;
  const std::int64_t first = 13;
  const auto q = random(0, d);
  const auto k = random(1, keys * d);
  const auto v = random(2, keys * d);
  const auto part = [&](const std::vector<float>& values, std::int64_t begin, std::int64_t end) {
    return std::vector<float>(values.begin() + begin * d, values.begin() + end * d);
  };
  const AttentionReference whole = attention_reference({1, keys, 1, d, false, 0.25}, q, k, v);
  const AttentionReference a =
      attention_reference({1, first, 1, d, false, 0.25}, q, part(k, 0, first), part(v, 0, first));
  const AttentionReference b =
      attention_reference({1, keys - first, 1, d, false, 0.25}, q, part(k, first, keys), part(v, first, keys));
  const double sum = std::exp(a.lse[0]) + std::exp(b.lse[0]);
  EXPECT_NEAR(whole.lse[0], std::log(sum), 1e-13);
  for (std::size_t i = 0; i < whole.out.size(); ++i) {
    EXPECT_NEAR(whole.out[i], (a.out[i] * std::exp(a.lse[0]) + b.out[i] * std::exp(b.lse[0])) / sum, 1e-13);
  }
}

// B4: causal, S_q = 2, S_kv = 5: the rows see 4 and 5 keys.
TEST(AttentionReference, AlignsTheCausalDiagonalToTheBottomRight) {
  std::vector<float> v(25, 0.0F);
  for (std::size_t key = 0; key < 5; ++key) v[key * 5 + key] = 1.0F;
  const AttentionReference reference =
      attention_reference({2, 5, 1, 5, true, 1.0}, random(0, 10), std::vector<float>(25, 0.0F), v);
  const std::vector<double> expected{0.25, 0.25, 0.25, 0.25, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(reference.out[i], expected[i], 1e-15) << i;
  EXPECT_NEAR(reference.lse[0], std::log(4.0), 1e-15);
  EXPECT_NEAR(reference.lse[1], std::log(5.0), 1e-15);
}

// B1: causal, S_q = 4, S_kv = 2: queries 0 and 1 see no key.
TEST(AttentionReference, OfARowWithoutAKeyIsZeroWithALogSumExpOfMinusInfinity) {
  constexpr std::size_t heads = 3;
  constexpr std::size_t token = 24;  // elements: 3 heads of 8
  const auto v = random(2, 16);
  const AttentionReference reference = attention_reference({4, 2, 3, 8, true, 1.0}, random(0, 96), random(1, 16), v);
  for (std::size_t i = 0; i < 2 * token; ++i) EXPECT_EQ(reference.out[i], 0.0);
  for (std::size_t i = 0; i < 2 * heads; ++i) EXPECT_EQ(reference.lse[i], -infinity);
  for (std::size_t i = 2 * heads; i < 4 * heads; ++i) EXPECT_TRUE(std::isfinite(reference.lse[i]));
  // Query 2 sees key 0 alone, so each of its heads gives row 0 of V.
  for (std::size_t i = 0; i < token; ++i) {
    EXPECT_DOUBLE_EQ(reference.out[2 * token + i], static_cast<double>(v[i % 8]));
  }
}

TEST(AttentionReference, OfNoKeysIsZero) {
  const AttentionReference reference = attention_reference({2, 0, 1, 4, false, 1.0}, random(0, 8), {}, {});
  EXPECT_EQ(reference.out, std::vector<double>(8, 0.0));
  EXPECT_EQ(reference.lse, std::vector<double>(2, -infinity));
}

TEST(AttentionReference, StaysFiniteWhereExponentialsOverflow) {
  // Scores 204800 and 0.
  const AttentionReference reference =
      attention_reference({1, 2, 1, 1, false, 1.0}, {204800.0F}, {1.0F, 0.0F}, {3.0F, 4.0F});
  EXPECT_DOUBLE_EQ(reference.out[0], 3.0);
  EXPECT_DOUBLE_EQ(reference.lse[0], 204800.0);
}

/// The definition, element by element, for a group of 3 and enough queries for several blocks.
TEST(AttentionReference, MatchesTheDefinition) {
  const AttentionProblem problem{70, 75, 3, 5, true, 0.4};
  const auto q = random(0, 1050);
  const auto k = random(1, 375);
  const auto v = random(2, 375);
  const AttentionReference reference = attention_reference(problem, q, k, v);
  const auto at = [](const std::vector<float>& values, std::int64_t row, std::int64_t col) {
    return static_cast<double>(values[static_cast<std::size_t>(row * 5 + col)]);
  };
  for (std::int64_t row = 0; row < 210; ++row) {
    double sum = 0.0;
    std::vector<double> out(5, 0.0);
    for (std::int64_t key = 0; key < row / 3 + 1 + 75 - 70; ++key) {
      double score = 0.0;
      for (std::int64_t i = 0; i < 5; ++i) score += at(q, row, i) * at(k, key, i);
      const double weight = std::exp(0.4 * score);
      sum += weight;
      for (std::int64_t i = 0; i < 5; ++i) out[static_cast<std::size_t>(i)] += weight * at(v, key, i);
    }
    EXPECT_NEAR(reference.lse[static_cast<std::size_t>(row)], std::log(sum), 1e-12);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(reference.out[static_cast<std::size_t>(row) * 5 + i], out[i] / sum, 1e-12) << row;
    }
  }
}

TEST(AttentionReference, RejectsTensorsOfAnotherSize) {
  EXPECT_THROW(
      static_cast<void>(attention_reference({1, 2, 1, 4, false, 1.0}, random(0, 4), random(1, 7), random(2, 8))),
      std::invalid_argument);
}

TEST(AttentionReference, RejectsChainsThatAreNotAllKeys) {
  EXPECT_THROW(static_cast<void>(attention_reference({1, 2, 1, 1, false, 1.0, {DType::f32, 2, 2, 0, {1}}}, random(0, 1),
                                                     random(1, 2), random(2, 2))),
               std::invalid_argument);
}

/// Whether every bit is the same.
[[nodiscard]] bool are_identical(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Blocks of queries are independent, whichever thread computes them.
TEST(AttentionReference, OnAllCoresIsTheSameBitForBit) {
  for (const std::int64_t d : {3, 64}) {
    const std::int64_t queries = 150;
    const std::int64_t keys = 1300;
    AttentionProblem problem{queries, keys, 2, d, true, 0.125};
    problem.arithmetic.chain = keys;
    problem.arithmetic.consecutive = {keys - 300, 300};
    const auto q = random(0, queries * 2 * d);
    const auto k = random(1, keys * d);
    const auto v = random(2, keys * d);
    const AttentionReference one = attention_reference(problem, q, k, v);
    const AttentionReference all = attention_reference(problem, q, k, v, {true, nullptr});
    EXPECT_TRUE(are_identical(one.out, all.out));
    EXPECT_TRUE(are_identical(one.out_bounds, all.out_bounds));
    EXPECT_TRUE(are_identical(one.lse, all.lse));
    EXPECT_TRUE(are_identical(one.lse_bounds, all.lse_bounds));
  }
}

// Long sequences are taken up in blocks of keys: keys on both sides of a block's end weigh what the definition says.
TEST(AttentionReference, OfManyKeysIsTheirSoftmax) {
  for (const std::int64_t keys : {511, 512, 1023, 1024, 1025, 1600}) {
    const std::int64_t d = 2;
    const auto q = random(0, d);
    const auto k = random(1, keys * d);
    const auto v = random(2, keys * d);
    double sum = 0.0;
    std::vector<double> out(2, 0.0);
    for (std::size_t key = 0; key < static_cast<std::size_t>(keys); ++key) {
      const double score = static_cast<double>(q[0]) * k[2 * key] + static_cast<double>(q[1]) * k[2 * key + 1];
      const double weight = std::exp(0.5 * score);
      sum += weight;
      for (std::size_t col = 0; col < 2; ++col) out[col] += weight * v[2 * key + col];
    }
    const AttentionReference reference = attention_reference({1, keys, 1, d, false, 0.5}, q, k, v);
    for (std::size_t col = 0; col < 2; ++col) EXPECT_NEAR(reference.out[col], out[col] / sum, 1e-13) << keys;
    EXPECT_NEAR(reference.lse[0], std::log(sum), 1e-12) << keys;
  }
}

TEST(AttentionReference, ThatIsNotNeededAnyMoreEnds) {
  const std::atomic<bool> cancelled{true};
  EXPECT_THROW(
      (void)attention_reference({1, 4, 1, 1, false, 1.0}, {1.0F}, random(1, 4), random(2, 4), {false, &cancelled}),
      ReferenceCancelled);
}

}  // namespace
}  // namespace kernwave::platform::attention_reference_test
