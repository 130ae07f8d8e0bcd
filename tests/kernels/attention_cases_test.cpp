// Attention on inputs whose results are known by hand, and inputs that have broken other implementations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/child.h"

namespace kernwave::testing::attention_cases_test {
namespace {

constexpr AttentionKernel decode = AttentionKernel::decode_short;
constexpr AttentionKernel prefill = AttentionKernel::prefill_short;

using Values = std::vector<float>;

bool all_zero(Values::const_iterator begin, Values::const_iterator end) {
  return std::all_of(begin, end, [](float value) { return value == 0.0F; });
}

bool all_finite(Values::const_iterator begin, Values::const_iterator end) {
  return std::all_of(begin, end, [](float value) { return std::isfinite(value); });
}

class AttentionCases : public ::testing::TestWithParam<AttentionKernel> {
 protected:
  /// The output of head 0 after `change` has been made to the random inputs; checked against the reference.
  static std::vector<float> output_of(
      const AttentionShape& shape, const std::function<void(AttentionCase&)>& change = [](AttentionCase&) {}) {
    Simulation simulation;
    AttentionCase attention(shape);
    change(attention);
    attention.run(simulation, GetParam());
    attention.expect_right();
    return attention.output();
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionCases, ::testing::Values(decode, prefill), parameter_name);

/// Keys of 0 make all visible keys count alike; a V of unit vectors makes column j of the output the weight of key j.
void show_weights(AttentionCase& attention) {
  HeadValues& head = attention.values();
  std::fill(head.k.begin(), head.k.end(), 0.0F);
  std::fill(head.v.begin(), head.v.end(), 0.0F);
  const std::int64_t head_dim = attention.shape().head_dim;
  const std::int64_t keys = static_cast<std::int64_t>(head.v.size()) / head_dim;
  for (std::int64_t key = 0; key < keys; ++key) head.v.at(static_cast<std::size_t>(key * head_dim + key)) = 1.0F;
}

// B4: causal, S_q = 2, S_kv = 5: bottom-right alignment, so the rows see 4 and 5 keys.
TEST_P(AttentionCases, CausalQueriesAreTheLastOnesOfTheSequence) {
  in_child([] {
    AttentionShape shape;
    shape.dtype = DType::f32;
    shape.group = 1;
    shape.head_dim = 8;
    shape.causal = true;
    shape.tile = 4;
    shape.sequences = {{2, 5}};
    const std::vector<float> expected{0.25F, 0.25F, 0.25F, 0.25F, 0,    0, 0, 0,  //
                                      0.2F,  0.2F,  0.2F,  0.2F,  0.2F, 0, 0, 0};
    const std::vector<float> found = output_of(shape, show_weights);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_FLOAT_EQ(found[i], expected[i]) << i;
  });
}

// B1: causal, S_q = 4, S_kv = 2: the first two queries see no key.
TEST_P(AttentionCases, CausalQueriesBeforeTheFirstKeyGiveExactlyZero) {
  in_child([] {
    AttentionShape shape;
    shape.causal = true;
    shape.sequences = {{4, 2}};
    const std::vector<float> found = output_of(shape);
    const auto row = static_cast<std::size_t>(shape.group * shape.head_dim);
    EXPECT_TRUE(all_zero(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(2 * row)));
    // Query 2 sees key 0 alone: softmax of one score is 1, so the output is V's row 0.
    AttentionCase same(shape);
    for (std::size_t i = 0; i < row; ++i) {
      EXPECT_EQ(found[2 * row + i], same.values().v[i % static_cast<std::size_t>(shape.head_dim)]) << i;
    }
  });
}

/// The bound on the running maximum of a row without a key must not overflow when it is scaled.
TEST_P(AttentionCases, QueriesWithoutKeysGiveZeroAtAnyScale) {
  for (const float scale : {1e-6F, 1.0F, 4.0F, 1000.0F}) {
    in_child([scale] {
      AttentionShape shape;
      shape.dtype = DType::f32;
      shape.causal = true;
      shape.scale = scale;
      shape.block_queries = 8;
      shape.sequences = {{4, 2}};
      Simulation simulation;
      AttentionCase attention(shape);
      attention.run(simulation, GetParam());
      const std::vector<float> found = attention.output();
      const auto half = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2);
      EXPECT_TRUE(all_zero(found.begin(), half));
      EXPECT_TRUE(all_finite(half, found.end()));
    });
  }
}

// B2: all visible logits are -6e4 = 1 . (-60 x 7.8125 x 128), next to keys that are masked or do not exist.
TEST_P(AttentionCases, VeryNegativeLogitsAreNotMistakenForMaskedOnes) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    in_child([dtype] {
      AttentionShape shape;
      shape.dtype = dtype;
      shape.causal = true;
      shape.scale = 1.0F;
      shape.tile = 16;
      shape.sequences = {{3, 21}};
      const std::vector<float> found = output_of(shape, [](AttentionCase& attention) {
        std::fill(attention.values().q.begin(), attention.values().q.end(), -60.0F);
        std::fill(attention.values().k.begin(), attention.values().k.end(), 7.8125F);
      });
      EXPECT_TRUE(all_finite(found.begin(), found.end()));
    });
  }
}

// B17: q = k = 40, d = 128, f16: the products are 204800, beyond f16's largest number, 65504.
TEST_P(AttentionCases, ScoresBeyondTheStorageTypeAreFinite) {
  in_child([] {
    AttentionShape shape;
    shape.sequences = {{2, 200}};
    const std::vector<float> found = output_of(shape, [](AttentionCase& attention) {
      std::fill(attention.values().q.begin(), attention.values().q.end(), 40.0F);
      std::fill(attention.values().k.begin(), attention.values().k.end(), 40.0F);
    });
    EXPECT_TRUE(all_finite(found.begin(), found.end()));
  });
}

// B7: a kernel that used only the lower 64 of 128 dimensions would not notice a change of the upper ones.
TEST_P(AttentionCases, UseEveryDimensionOfTheQueries) {
  AttentionShape shape;
  shape.sequences = {{1, 200}};
  const auto original = floats_from_child([&] { return output_of(shape); });
  const auto changed = floats_from_child([&] {
    return output_of(shape, [](AttentionCase& attention) {
      std::vector<float>& q = attention.values().q;
      for (std::size_t i = 0; i < q.size(); ++i) {
        if (i % 128 >= 64) q[i] = -q[i];
      }
    });
  });
  ASSERT_EQ(original.size(), 4U * 128U);
  ASSERT_EQ(changed.size(), original.size());
  for (auto head = 0; head < 4 * 128; head += 128) {
    EXPECT_FALSE(std::equal(changed.begin() + head, changed.begin() + head + 128, original.begin() + head)) << head;
  }
}

// B9: 4 query heads on 2 KV heads, V constant in each: query heads 0 and 1 use KV head 0, 2 and 3 use KV head 1.
TEST_P(AttentionCases, QueryHeadsUseTheKeysAndValuesOfTheirGroup) {
  for (const TokenLayout layout : {TokenLayout::head_major, TokenLayout::token_major}) {
    in_child([layout] {
      AttentionShape shape;
      shape.kv_heads = 2;
      shape.group = 2;
      shape.layout = layout;
      shape.sequences = {{3, 50}};
      AttentionCase attention(shape);
      const float value[] = {3.0F, -5.0F};
      for (std::int64_t head = 0; head < 2; ++head) {
        std::fill(attention.values(head).v.begin(), attention.values(head).v.end(), value[head]);
      }
      Simulation simulation;
      attention.run(simulation, GetParam());
      // A mean of equal values: only the probabilities' and the output's rounding remain, each at most 2^-11.
      for (std::int64_t head = 0; head < 2; ++head) {
        for (const float found : attention.output(head)) {
          EXPECT_NEAR(found, value[head], 2 * 0x1p-11 * std::abs(value[head])) << "KV head " << head;
        }
      }
    });
  }
}

// B18: what stands beyond the valid length of the KV cache, NaN or numbers, does not reach the output.
TEST_P(AttentionCases, IgnoreTheKVCacheBeyondItsLength) {
  for (const bool causal : {false, true}) {
    const auto output_with = [causal](float beyond) {
      return floats_from_child([=] {
        AttentionShape shape;
        shape.causal = causal;
        shape.beyond_kv = beyond;
        shape.tile = 64;
        shape.sequences = {{5, 100}};
        return output_of(shape);
      });
    };
    const auto expected = output_with(0.0F);
    EXPECT_EQ(expected.size(), 5U * 4U * 128U);
    EXPECT_EQ(output_with(std::numeric_limits<float>::quiet_NaN()), expected);
    EXPECT_EQ(output_with(std::numeric_limits<float>::infinity()), expected);
  }
}

}  // namespace
}  // namespace kernwave::testing::attention_cases_test
