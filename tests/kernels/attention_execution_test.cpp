// How the attention kernels run: what depends on the policy and the data mode, and what must not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/attention_case.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"

namespace kernwave::testing::attention_execution_test {
namespace {

constexpr AttentionKernel decode = AttentionKernel::decode_short;
constexpr AttentionKernel prefill = AttentionKernel::prefill_short;

/// Three KV heads on two PEs, tails in every dimension.
AttentionShape busy_shape() {
  AttentionShape shape;
  shape.kv_heads = 3;
  shape.causal = true;
  shape.tile = 64;
  shape.block_queries = 8;
  shape.sequences = {{20, 300}, {3, 70}};
  return shape;
}

std::string text_of(Picoseconds time) { return std::to_string(time.count()); }

class AttentionExecution : public ::testing::TestWithParam<AttentionKernel> {};

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionExecution, ::testing::Values(decode, prefill), parameter_name);

/// Outputs bit by bit, counts by engine and the peak of scratch.
std::string outcome(AttentionKernel kernel, tl::Policy policy) {
  return from_child([&] {
    Simulation simulation(one_cube(2));
    AttentionCase attention(busy_shape());
    attention.run(simulation, kernel, policy);
    attention.expect_right();
    std::string text;
    for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
      for (std::int64_t head = 0; head < 3; ++head) {
        for (const float value : attention.output(head, sequence)) text += std::to_string(value) + " ";
      }
    }
    for (const Engine engine : {Engine::dma_read, Engine::dma_write, Engine::gemm, Engine::math}) {
      text += "count " + std::to_string(simulation.count(engine)) + " ";
    }
    for (std::int64_t id = 0; id < 2; ++id) {
      text += "peak " + std::to_string(simulation.pe(id).scratch().peak().count()) + " ";
    }
    return text;
  });
}

TEST_P(AttentionExecution, GivesTheSameResultsCountsAndScratchUnderEveryPolicy) {
  const std::string blocking = outcome(GetParam(), tl::Policy::blocking);
  EXPECT_FALSE(blocking.empty());
  EXPECT_EQ(outcome(GetParam(), tl::Policy::lazy), blocking);
  EXPECT_EQ(outcome(GetParam(), tl::Policy::stall_on_use), blocking);
}

TEST_P(AttentionExecution, IsFasterTheLessItWaits) {
  std::vector<std::int64_t> latencies;
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    latencies.push_back(std::stoll(from_child([&] {
      Simulation simulation;
      AttentionShape shape;
      shape.sequences = {{32, 1024}};
      shape.block_queries = 16;
      AttentionCase attention(shape);
      attention.run(simulation, GetParam(), policy);
      return text_of(simulation.latency());
    })));
  }
  EXPECT_LT(latencies[1], latencies[0]);
  EXPECT_LE(latencies[2], latencies[1]);
}

TEST_P(AttentionExecution, TakesTheSameTimeWithoutData) {
  for (const tl::Policy policy : all_policies) {
    const auto timing = [&](DataMode mode) {
      return from_child([&] {
        Simulation simulation(one_cube(2), mode);
        AttentionCase attention(busy_shape());
        attention.run(simulation, GetParam(), policy);
        return text_of(simulation.latency()) + "\n" + simulation.log_text();
      });
    };
    const std::string full = timing(DataMode::full);
    EXPECT_FALSE(full.empty());
    EXPECT_EQ(timing(DataMode::none), full);
  }
}

/// What one head issues, whatever the policy.
struct Counts {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t products = 0;
};

void expect_counts(AttentionKernel kernel, const AttentionShape& shape, const Counts& expected) {
  in_child_for_each_policy([&](tl::Policy policy) {
    Simulation simulation(one_cube(), DataMode::none);
    AttentionCase attention(shape);
    attention.run(simulation, kernel, policy);
    EXPECT_EQ(simulation.count(Engine::dma_read), expected.reads);
    EXPECT_EQ(simulation.count(Engine::dma_write), expected.writes);
    EXPECT_EQ(simulation.count(Engine::gemm), expected.products);
  });
}

/// Reads: the blocks' queries, and K and V of every tile of every block. Products: Q K^T and P V of each.
Counts counts(std::int64_t blocks, std::int64_t tiles) { return {blocks + 2 * tiles, blocks, 2 * tiles}; }

TEST(AttentionLoads, OfDecodeAreOneOfQAndTwoATile) {
  AttentionShape shape;
  shape.tile = 512;
  shape.sequences = {{1, 8192}};
  expect_counts(decode, shape, counts(1, 16));
  shape.sequences = {{1, 8193}};
  expect_counts(decode, shape, counts(1, 17));
}

TEST(AttentionLoads, OfPrefillAreOneOfQABlockAndTwoATileOfEachBlock) {
  AttentionShape shape;
  shape.tile = 64;
  shape.block_queries = 32;
  shape.sequences = {{200, 200}};
  // ceil(200 / 32) = 7 blocks of ceil(200 / 64) = 4 tiles.
  expect_counts(prefill, shape, counts(7, 28));
}

TEST(AttentionLoads, OfCausalPrefillSkipTheTilesThatNoQueryOfTheBlockSees) {
  AttentionShape shape;
  shape.causal = true;
  shape.tile = 64;
  shape.block_queries = 32;
  shape.sequences = {{200, 200}};
  // The blocks' last queries see 32, 64, 96, 128, 160, 192, 200 keys: 1 + 1 + 2 + 2 + 3 + 3 + 4 = 16 tiles.
  expect_counts(prefill, shape, counts(7, 16));
}

TEST(AttentionLoads, OfBlocksThatSeeNoKeyAreNone) {
  AttentionShape shape;
  shape.causal = true;
  shape.tile = 64;
  shape.block_queries = 32;
  shape.sequences = {{100, 20}};
  // Queries 80 ... 99 see keys: blocks 0 and 1 see none and are stored as zeroes, 2 and 3 see one tile.
  expect_counts(prefill, shape, {2 + 2 + 2, 4, 2 + 2});
}

/// K of the step after the next is on its way while two blocks compute: one buffer cannot do it.
TEST(AttentionErrors, PrefillWithASingleBufferSaysWhatItNeeds) {
  in_child([] {
    Simulation simulation;
    AttentionShape shape;
    shape.kv_buffers = 1;
    const AttentionCase attention(shape);
    const std::string message = simulation.run_failing(kernel_of(prefill, attention.args()));
    EXPECT_NE(message.find("kv_buffers"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace kernwave::testing::attention_execution_test
