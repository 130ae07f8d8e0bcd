// Both attention kernels against the float64 reference: types, head shapes, lengths, layouts.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <tuple>
#include <vector>

#include "platform/workload/model_shape.h"
#include "tests/support/attention_case.h"
#include "tests/support/child.h"

namespace kernwave::testing::attention_test {
namespace {

constexpr AttentionKernel decode = AttentionKernel::decode_short;
constexpr AttentionKernel prefill = AttentionKernel::prefill_short;

std::string describe(const AttentionShape& shape, AttentionKernel kernel) {
  std::string text = name_of(kernel) + " " + std::string(name_of(shape.dtype)) + (shape.causal ? " causal" : "") +
                     " heads " + std::to_string(shape.kv_heads) + " group " + std::to_string(shape.group) + " d " +
                     std::to_string(shape.head_dim) + " tile " + std::to_string(shape.tile);
  for (const Lengths& lengths : shape.sequences) {
    text += " (" + std::to_string(lengths.s_q) + ", " + std::to_string(lengths.s_kv) + ")";
  }
  return text;
}

void expect_right(const AttentionShape& shape, AttentionKernel kernel, std::int64_t pes = 2) {
  SCOPED_TRACE(describe(shape, kernel));
  in_child([&] {
    Simulation simulation(one_cube(pes));
    AttentionCase attention(shape);
    attention.run(simulation, kernel);
    attention.expect_right();
  });
}

// ---- models

class AttentionOfModels : public ::testing::TestWithParam<std::tuple<AttentionKernel, const char*, DType, bool>> {};

std::string name_of_case(const ::testing::TestParamInfo<AttentionOfModels::ParamType>& parameter) {
  const auto& [kernel, model, dtype, causal] = parameter.param;
  std::string name = short_name(kernel) + "_" + std::string(model) + "_" + std::string(name_of(dtype)) +
                     (causal ? "_causal" : "_full");
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

/// Two KV heads of the model in two sequences of different lengths, neither a multiple of the tile of 128.
TEST_P(AttentionOfModels, MatchesFloat64) {
  const auto& [kernel, name, dtype, causal] = GetParam();
  const platform::ModelShape model = platform::load_model_shape(name);
  AttentionShape shape;
  shape.dtype = dtype;
  shape.kv_heads = 2;
  shape.group = model.query_heads / model.kv_heads;
  shape.head_dim = model.head_dim;
  shape.causal = causal;
  shape.layout = TokenLayout::token_major;
  shape.block_queries = 64 / shape.group;
  shape.sequences =
      kernel == decode ? std::vector<Lengths>{{1, 1000}, {2, 700}} : std::vector<Lengths>{{200, 200}, {70, 150}};
  expect_right(shape, kernel);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionOfModels,
                         ::testing::Combine(::testing::Values(decode, prefill),
                                            ::testing::Values("llama-3.1-8b", "llama-3.1-70b"),
                                            ::testing::Values(DType::f16, DType::bf16, DType::f32), ::testing::Bool()),
                         name_of_case);

TEST(Attention, OfAllHeadsOfLlama8BOnEightPEs) {
  AttentionShape shape;
  shape.kv_heads = 8;
  shape.tile = 512;
  shape.sequences = {{1, 2048}};
  expect_right(shape, decode, 8);
  shape.tile = 128;
  shape.block_queries = 32;
  shape.causal = true;
  shape.sequences = {{128, 128}};
  expect_right(shape, prefill, 8);
}

/// A bound proves nothing when it is far above what a right kernel needs. Two keys of values 1 and 0, whose weights
/// differ from row to row: what the smaller weight loses by its conversion to 16 bits is an error of the element, and
/// among 64 rows one weight lies close to the middle between two neighbours.
TEST(Attention, ComesCloseToItsBoundWhereOneRoundingCarriesAllWeight) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    in_child([dtype] {
      AttentionShape shape;
      shape.dtype = dtype;
      shape.head_dim = 1;
      shape.group = 64;
      shape.sequences = {{1, 2}};
      AttentionCase attention(shape);
      attention.values().k = {1.0F, -1.0F};
      attention.values().v = {0.0F, 1.0F};
      for (std::size_t row = 0; row < 64; ++row) attention.values().q[row] = static_cast<float>(row + 16) / 64.0F;
      Simulation simulation;
      attention.run(simulation, decode);
      attention.expect_right();
      EXPECT_GT(attention.error().max_of_bound, 0.6) << name_of(dtype);
    });
  }
}

// ---- odd shapes

class AttentionOfEachKernel : public ::testing::TestWithParam<AttentionKernel> {};

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionOfEachKernel, ::testing::Values(decode, prefill), parameter_name);

TEST_P(AttentionOfEachKernel, AcceptsAnyHeadDimensionAndGroup) {
  for (const std::int64_t head_dim : {64, 80, 96, 128}) {
    for (const std::int64_t group : {1, 3, 8}) {
      AttentionShape shape;
      shape.head_dim = head_dim;
      shape.group = group;
      shape.tile = 64;
      shape.block_queries = 5;
      shape.causal = true;
      shape.sequences = {{13, 150}};
      expect_right(shape, GetParam());
    }
  }
}

// B6: S = 1, tile - 1, tile, tile + 1 and more, over an output of NaN: every row is written, and right.
TEST_P(AttentionOfEachKernel, AcceptsAnyLengthOfKeys) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t s_kv : {1, 31, 32, 33, 64, 65, 127}) {
      AttentionShape shape;
      shape.causal = causal;
      shape.tile = 32;
      shape.block_queries = 3;
      shape.sequences = {{1, s_kv}, {s_kv, s_kv}};
      if (GetParam() == decode) shape.sequences[1].s_q = 4;
      expect_right(shape, GetParam());
    }
  }
}

TEST_P(AttentionOfEachKernel, AcceptsMoreQueriesThanKeys) {
  for (const bool causal : {false, true}) {
    for (const Lengths lengths : {Lengths{2, 1}, Lengths{9, 4}, Lengths{40, 33}, Lengths{33, 1}}) {
      AttentionShape shape;
      shape.causal = causal;
      shape.tile = 32;
      shape.block_queries = 4;
      shape.sequences = {lengths};
      expect_right(shape, GetParam());
    }
  }
}

TEST_P(AttentionOfEachKernel, AcceptsSequencesOfAnyLengthsInOneBatch) {
  for (const TokenLayout layout : {TokenLayout::head_major, TokenLayout::token_major}) {
    AttentionShape shape;
    shape.kv_heads = 3;
    shape.group = 2;
    shape.head_dim = 64;
    shape.layout = layout;
    shape.causal = true;
    shape.tile = 64;
    shape.block_queries = 8;
    shape.sequences = {{1, 300}, {5, 5}, {7, 64}, {9, 2}, {1, 1}};
    expect_right(shape, GetParam());
  }
}

/// An empty KV cache: nothing to attend to gives 0, as a row without a key does.
TEST_P(AttentionOfEachKernel, OfNoKeysIsZero) {
  for (const bool causal : {false, true}) {
    AttentionShape shape;
    shape.causal = causal;
    shape.block_queries = 2;
    shape.sequences = {{5, 0}, {1, 10}};
    expect_right(shape, GetParam());
  }
}

TEST_P(AttentionOfEachKernel, IsRightWithAnyNumberOfTilesInFlight) {
  for (const std::int64_t kv_buffers : {2, 3, 4, 6}) {
    for (const std::int64_t s_kv : {20, 100}) {  // one tile for each block of queries, and several
      AttentionShape shape;
      shape.head_dim = 64;
      shape.kv_buffers = kv_buffers;
      shape.tile = 32;
      shape.block_queries = 4;
      shape.sequences = {{30, s_kv}};
      expect_right(shape, GetParam());
    }
  }
}

TEST(Attention, OfDecodeRunsWithASingleBuffer) {
  AttentionShape shape;
  shape.kv_buffers = 1;
  shape.tile = 32;
  shape.sequences = {{1, 100}};
  expect_right(shape, decode);
}

}  // namespace
}  // namespace kernwave::testing::attention_test
