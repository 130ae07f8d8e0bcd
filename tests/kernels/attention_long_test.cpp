// The kernels that split a sequence over cubes: right for every number of ranks, and as many messages as the formula
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/gqa_attention_decode_long.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "kernels/attention/sharding.h"
#include "platform/run/simulate.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/workload.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"

namespace kernwave::platform::attention_long_test {
namespace {

using kernels::Reduction;
using kernels::RingSequence;
using kernels::Sharding;
using kernels::Span;
using kernwave::testing::all_policies;

constexpr const char* decode = "gqa_attention_decode_long";
constexpr const char* prefill = "gqa_attention_prefill_long";

/// One KV head of `group` query heads; to be refined.
[[nodiscard]] WorkloadRequest attention(const std::string& kernel, std::int64_t s_q, std::int64_t s_kv) {
  WorkloadRequest request;
  request.kernel = kernel;
  request.model = ModelShape{"a test's", 3, 1, 32};
  request.s_q = {s_q};
  request.s_kv = {s_kv};
  request.lse = true;
  return request;
}

[[nodiscard]] SystemConfig cubes(std::int64_t count, std::int64_t pes = 1) {
  SystemConfig config;
  config.cubes = count;
  config.pes_per_cube = pes;
  return config;
}

[[nodiscard]] Json run(const WorkloadRequest& request, const SystemConfig& config, DataMode data = DataMode::full,
                       tl::Policy policy = tl::Policy::lazy) {
  const auto workload = make_workload(request, config);
  Configuration configuration{"a test's", config, {}};
  return simulate_isolated({configuration, request.kernel, policy, data, ""}, *workload);
}

[[nodiscard]] std::int64_t count(const Json& result, const char* what) { return result.at("counts").at(what).as_int(); }

void expect_right(const Json& result) {
  const Json& error = result.at("error");
  EXPECT_TRUE(error.at("within_tolerance").as_bool()) << to_text(error, 0) << to_text(result.at("shape"), 0);
}

// ---- who holds what

TEST(Sharding, DealsEveryTokenOnceAndEvenly) {
  for (const std::int64_t chunks : {1, 2}) {
    for (const std::int64_t ranks : {1, 2, 3, 4, 8}) {
      for (const std::int64_t tokens : {0, 1, 5, 64, 1000, 1001}) {
        const Sharding sharding(tokens, ranks, chunks);
        std::vector<int> holders(static_cast<std::size_t>(tokens), 0);
        std::int64_t longest = 0;
        std::int64_t shortest = tokens;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          for (std::int64_t i = 0; i < chunks; ++i) {
            const Span span = sharding.chunk(rank, i);
            for (std::int64_t token = span.first; token < span.first + span.count; ++token) {
              ++holders.at(static_cast<std::size_t>(token));
            }
            longest = std::max(longest, span.count);
            shortest = std::min(shortest, span.count);
          }
        }
        EXPECT_EQ(holders, std::vector<int>(holders.size(), 1));
        EXPECT_LE(longest - shortest, 1);
        EXPECT_EQ(sharding.longest_chunk(), longest);
      }
    }
  }
}

TEST(Sharding, ZigzagGivesEachRankAnEarlyAndALateChunk) {
  const Sharding sharding(80, 4, 2);
  EXPECT_EQ(sharding.chunk(1, 0).first, 10);
  EXPECT_EQ(sharding.chunk(1, 1).first, 60);
  EXPECT_EQ(sharding.shard(1), 20);
  EXPECT_EQ(sharding.offset_in_shard(1, 1), 10);
}

// ---- right results

struct Variant {
  const char* name;
  const char* kernel;
  Reduction reduction = Reduction::chain;
  RingSharding sharding = RingSharding::contiguous;
  bool bidirectional = false;
  kernels::KvSource kv = kernels::KvSource::load;
};

constexpr Variant variants[] = {
    {"DecodeChain", decode},
    {"DecodeTree", decode, Reduction::tree},
    {"PrefillContiguous", prefill},
    {"PrefillZigzag", prefill, Reduction::chain, RingSharding::zigzag},
    {"PrefillBothWays", prefill, Reduction::chain, RingSharding::contiguous, true},
    {"PrefillZigzagBothWays", prefill, Reduction::chain, RingSharding::zigzag, true},
    {"DecodeStreamed", decode, Reduction::chain, RingSharding::contiguous, false, kernels::KvSource::composite},
    {"PrefillOfComposites", prefill, Reduction::chain, RingSharding::zigzag, false, kernels::KvSource::composite},
};

[[nodiscard]] WorkloadRequest with(const Variant& variant, std::int64_t s_q, std::int64_t s_kv) {
  WorkloadRequest request = attention(variant.kernel, s_q, s_kv);
  if (variant.kernel == decode) request.reduction = variant.reduction;
  if (variant.kernel == prefill) request.sharding = variant.sharding;
  request.bidirectional = variant.bidirectional;
  request.kv = variant.kv;
  request.tile = 16;
  return request;
}

class LongAttention : public ::testing::TestWithParam<Variant> {};

// B15, B16
TEST_P(LongAttention, EqualsTheReferenceForEveryNumberOfRanks) {
  for (const bool causal : {false, true}) {
    for (const DType dtype : {DType::f16, DType::f32}) {
      double error_of_one = 0.0;
      for (const std::int64_t ranks : {1, 2, 3, 4, 8}) {
        WorkloadRequest request = with(GetParam(), GetParam().kernel == decode ? 5 : 43, 301);  // tails everywhere
        request.causal = causal;
        request.dtype = dtype;
        const Json result = run(request, cubes(ranks));
        expect_right(result);
        const double error = result.at("error").at("max_rel").as_double();
        if (ranks == 1) error_of_one = error;
        if (ranks == 8) {
          EXPECT_LE(error, 1.5 * error_of_one);
        }
      }
    }
  }
}

// B11
TEST_P(LongAttention, TakesRanksWithoutAKeyOrAQuery) {
  for (const std::int64_t s_kv : {1, 3, 7, 9}) {
    for (const bool causal : {false, true}) {
      WorkloadRequest request = with(GetParam(), 2, s_kv);
      request.causal = causal;
      expect_right(run(request, cubes(8)));
    }
  }
}

/// Nobody reads, or sends on, what nobody has loaded.
TEST_P(LongAttention, RunsCleanUnderStrictWithFewerKeysThanRanks) {
  for (const std::int64_t s_kv : {1, 3, 5, 9, 17}) {
    const WorkloadRequest request = with(GetParam(), 2, s_kv);
    const auto workload = make_workload(request, cubes(8));
    const Configuration configuration{"a test's", cubes(8), {}};
    expect_right(simulate_isolated(
        {configuration, request.kernel, tl::Policy::lazy, DataMode::full, "", CheckRequest{true, false}}, *workload));
  }
}

TEST_P(LongAttention, GivesZeroToQueriesThatSeeNoKey) {
  WorkloadRequest request = with(GetParam(), 9, 4);  // causal: the first five see nothing
  request.causal = true;
  expect_right(run(request, cubes(3)));
}

TEST_P(LongAttention, TakesAnyHeadsLayoutsAndLengthsOfABatch) {
  WorkloadRequest request = with(GetParam(), 3, 1);
  request.model = ModelShape{"a test's", 6, 3, 16};
  request.batch = 2;
  request.s_kv = {37, 90};
  request.s_q = {4, 2};
  for (const KvLayout layout : {KvLayout::heads_first, KvLayout::tokens_first}) {
    request.kv_layout = layout;
    expect_right(run(request, cubes(3, 2)));  // six programs on two PEs of each cube
  }
}

TEST_P(LongAttention, DoesTheSameInEveryPolicyAndWithoutData) {
  const WorkloadRequest request = with(GetParam(), 6, 150);
  const Json first = run(request, cubes(4), DataMode::full, tl::Policy::blocking);
  for (const tl::Policy policy : all_policies) {
    const Json full = run(request, cubes(4), DataMode::full, policy);
    const Json none = run(request, cubes(4), DataMode::none, policy);
    for (const char* key : {"counts", "bytes", "flops", "scratch", "error"}) {
      EXPECT_EQ(full.at(key), first.at(key)) << key;
    }
    for (const char* key : {"latency_ps", "counts", "stall_ps", "busy_ps", "links"}) {
      EXPECT_EQ(none.at(key), full.at(key)) << key;
    }
    EXPECT_LE(full.at("latency_ps").as_int(), first.at("latency_ps").as_int());
  }
}

TEST_P(LongAttention, IsNotChangedByPesThatItDoesNotUse) {
  const WorkloadRequest request = with(GetParam(), 6, 150);
  const Json two = run(request, cubes(3, 2));
  const Json five = run(request, cubes(3, 5));
  for (const char* key : {"latency_ps", "counts", "bytes", "error"}) EXPECT_EQ(five.at(key), two.at(key)) << key;
}

// B23, and every picosecond
TEST_P(LongAttention, IsBitIdenticalInEveryRunAndAccountsForAllTime) {
  const WorkloadRequest request = with(GetParam(), 6, 150);
  Json first = run(request, cubes(4));
  Json second = run(request, cubes(4));
  for (Json* result : {&first, &second}) (*result)["host"] = nullptr;
  EXPECT_EQ(first, second);
  for (const Json::Member& pe : first.at("stall_ps").as_object()) {
    std::int64_t sum = 0;
    for (const Json::Member& cause : pe.value.as_object()) sum += cause.value.as_int();
    EXPECT_EQ(sum, first.at("latency_ps").as_int()) << pe.key;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, LongAttention, ::testing::ValuesIn(variants),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// ---- loads and dots, or composites

TEST(KvSource, ChangesTimeAndNotAnotherBit) {
  for (const char* kernel : {"gqa_attention_decode_short", decode, "gqa_attention_prefill_short", prefill}) {
    for (const bool causal : {false, true}) {
      WorkloadRequest request = attention(kernel, kernel == decode ? 3 : 20, 131);
      request.tile = 16;
      request.causal = causal;
      const Json loaded = run(request, cubes(2));
      request.kv = kernels::KvSource::composite;
      for (const tl::Policy policy : all_policies) {
        const Json streamed = run(request, cubes(2), DataMode::full, policy);
        EXPECT_EQ(streamed.at("error"), loaded.at("error")) << kernel;
        EXPECT_EQ(count(streamed, "gemm"), count(loaded, "gemm")) << kernel;
        EXPECT_EQ(count(streamed, "composite"), count(streamed, "gemm")) << kernel;
        // Tiles of K and V are read once for each product, or, of a ring, by the kernel's own loads.
        const std::int64_t tiles = kernel == prefill ? 0 : count(streamed, "gemm");
        EXPECT_EQ(count(streamed, "composite_read"), tiles) << kernel;
        EXPECT_EQ(count(streamed, "dma_read"), count(loaded, "dma_read") - tiles) << kernel;
        EXPECT_EQ(streamed.at("bytes"), loaded.at("bytes")) << kernel;
      }
    }
  }
}

// ---- decode

TEST(DecodeLong, SendsOneMessageARankAlongTheChain) {
  for (const std::int64_t ranks : {1, 2, 8}) {
    const Json result = run(attention(decode, 1, 400), cubes(ranks), DataMode::none);
    EXPECT_EQ(count(result, "ipcq_copy"), ranks - 1);
    // m, l and O of 3 rows in f32.
    EXPECT_EQ(result.at("bytes").at("sent").as_int(), (ranks - 1) * 3 * (32 + 2) * 4);
  }
}

TEST(DecodeLong, RelaysAlongTheTree) {
  // 8 ranks: 4 messages of one hop, 2 of two, 1 of four. 3 ranks: 0 to 1, then 1 to 2.
  WorkloadRequest request = attention(decode, 1, 400);
  request.reduction = Reduction::tree;
  EXPECT_EQ(count(run(request, cubes(8), DataMode::none), "ipcq_copy"), 4 + 2 * 2 + 4);
  EXPECT_EQ(count(run(request, cubes(3), DataMode::none), "ipcq_copy"), 2);
}

/// One rank's K and V, and what attention over all of them is.
struct SplitProblem {
  AttentionProblem shape;
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
};

/// Keys of which those of rank r have scores about 200 r: K = random + 200 r q / (scale q.q).
[[nodiscard]] SplitProblem far_apart(std::int64_t ranks, std::int64_t keys_of_a_rank, std::int64_t head_dim) {
  SplitProblem problem;
  problem.shape.s_q = 1;
  problem.shape.group = 1;
  problem.shape.s_kv = ranks * keys_of_a_rank;
  problem.shape.head_dim = head_dim;
  problem.shape.scale = 0.25;
  double square = 0.0;
  for (std::int64_t d = 0; d < head_dim; ++d) {
    problem.q.push_back(static_cast<float>(1 + d % 3) * 0.5F);
    square += static_cast<double>(problem.q.back()) * static_cast<double>(problem.q.back());
  }
  for (std::int64_t key = 0; key < problem.shape.s_kv; ++key) {
    const std::int64_t rank = key / keys_of_a_rank;
    const double shift = 200.0 * static_cast<double>(rank) / (problem.shape.scale * square);
    for (std::int64_t d = 0; d < head_dim; ++d) {
      const auto noise = static_cast<float>((key * 7 + d * 3) % 11 - 5) * 0.125F;
      problem.k.push_back(noise + static_cast<float>(shift) * problem.q[static_cast<std::size_t>(d)]);
      problem.v.push_back(static_cast<float>((key * 5 + d) % 13 - 6) * 0.25F);
    }
  }
  return problem;
}

// B13
TEST(DecodeLong, MergesShardsWhoseLogSumsAreFarApart) {
  constexpr std::int64_t ranks = 4;
  constexpr std::int64_t keys = 20;
  constexpr std::int64_t head_dim = 16;
  SplitProblem problem = far_apart(ranks, keys, head_dim);
  problem.shape.arithmetic = {DType::f32, keys, 8, 2 + ranks - 1};  // tiles of 8 keys, and the merges of a chain
  const AttentionReference expected = attention_reference(problem.shape, problem.q, problem.k, problem.v);
  for (const Reduction reduction : {Reduction::chain, Reduction::tree}) {
    kernwave::testing::in_child([&] {
      kernwave::testing::Simulation simulation(cubes(ranks));
      std::vector<kernwave::testing::Simulation::Part> parts;
      kernels::SplitDecodeArgs args;
      args.attention.head_dim = head_dim;
      args.attention.dtype = DType::f32;
      args.attention.scale = 0.25F;
      args.attention.tile = 8;
      args.attention.store_lse = true;
      args.ranks = ranks;
      args.reduction = reduction;
      for (args.rank = 0; args.rank < ranks; ++args.rank) {
        const auto at = [&args](std::int64_t offset) { return HbmAddress(CubeId(args.rank), Bytes(offset)); };
        kernels::AttentionHead head;
        head.q = at(0);
        head.k = at(4096);
        head.v = at(8192);
        head.out = at(12288);
        head.lse = at(16384);
        head.q_stride = head.out_stride = head.kv_stride = head_dim;
        head.lse_stride = 1;
        head.s_kv = keys;
        const auto slice = [&](const std::vector<float>& all) {
          const auto begin = all.begin() + args.rank * keys * head_dim;
          return std::vector<float>(begin, begin + keys * head_dim);
        };
        simulation.write(head.q, DType::f32, problem.q);
        simulation.write(head.k, DType::f32, slice(problem.k));
        simulation.write(head.v, DType::f32, slice(problem.v));
        args.attention.heads = {head};
        parts.push_back({args.rank, [args](tl::Context& tl) { kernels::gqa_attention_decode_long(tl, args); }});
      }
      simulation.run_parts(parts, {{Direction::west}, args.message_bytes(1)});
      const HbmAddress last(CubeId(ranks - 1), Bytes(0));
      const auto out = simulation.read(last + Bytes(12288), DType::f32, head_dim);
      const NumericError error = numeric_error(out, {expected.out, expected.out_bounds, DType::f32, {}}, head_dim);
      EXPECT_TRUE(error.is_right()) << error.max_of_bound;
      EXPECT_LT(error.max_rel, 1e-4);
      const float lse = simulation.read(last + Bytes(16384), DType::f32, 1).front();
      EXPECT_TRUE(numeric_error({lse}, {expected.lse, expected.lse_bounds, DType::f32, {}}, 1).is_right());
      EXPECT_NEAR(lse, expected.lse.front(), 1e-3);  // about 600, of a scale of f32's 24 bits
      EXPECT_GT(expected.lse.front(), 590.0);
    });
  }
}

TEST(DecodeShort, SplitsTheKeysOfFewHeadsInsideACube) {
  WorkloadRequest request = attention("gqa_attention_decode_short", 2, 301);
  request.model = ModelShape{"a test's", 9, 3, 32};
  for (const bool causal : {false, true}) {
    request.causal = causal;
    // Eight PEs for three heads: two each, along the cube; two stay idle. Nobody else takes part.
    const Json result = run(request, cubes(2, 8));
    expect_right(result);
    EXPECT_EQ(result.at("shape").at("splits").as_int(), 2);
    EXPECT_EQ(count(result, "ipcq_copy"), 3);
    EXPECT_EQ(result.at("links").at("south").at("messages").as_int(), 3);
    EXPECT_EQ(result.at("stall_ps").at("pe6").at("idle"), result.at("latency_ps"));
    // As many heads as PEs, or PEs in a mesh, are not split.
    EXPECT_EQ(count(run(request, cubes(2, 3)), "ipcq_copy"), 0);
    SystemConfig mesh = cubes(2, 8);
    mesh.pe.ipcq.topology = IpcqTopology::mesh;
    EXPECT_EQ(count(run(request, mesh), "ipcq_copy"), 0);
  }
}

// ---- prefill: the ring

/// Messages of one KV head.
[[nodiscard]] std::int64_t ring_messages(std::int64_t ranks, std::int64_t largest_shard, std::int64_t tile,
                                         std::int64_t passes) {
  return ranks * (ranks - 1) * ((largest_shard + tile - 1) / tile) * passes;
}

TEST(PrefillLong, SendsAsManyMessagesAsTheFormulaSays) {
  for (const std::int64_t ranks : {1, 2, 3, 8}) {
    for (const bool both_ways : {false, true}) {
      for (const auto sharding : {RingSharding::contiguous, RingSharding::zigzag}) {
        WorkloadRequest request = attention(prefill, 40, 1003);
        request.tile = 16;
        request.sharding = sharding;
        request.bidirectional = both_ways;
        const Json result = run(request, cubes(ranks), DataMode::none);
        const std::int64_t tile = sharding == RingSharding::zigzag ? 32 : 16;
        EXPECT_EQ(count(result, "ipcq_copy"), ring_messages(ranks, (1003 + ranks - 1) / ranks, tile, 1));
        for (const Json::Member& direction : result.at("links").as_object()) {
          EXPECT_LE(direction.value.at("in_flight_peak").as_int(), 1) << direction.key;
        }
      }
    }
  }
}

TEST(PrefillLong, SendsSevenThousandMessagesForA128KContext) {
  WorkloadRequest request = attention(prefill, 512, 128 << 10);
  request.model = ModelShape{"one head of Llama-3.1-8B", 4, 1, 128};
  const Json result = run(request, cubes(8), DataMode::none, tl::Policy::stall_on_use);
  EXPECT_EQ(result.at("shape").at("ring_passes").as_int(), 1);
  EXPECT_EQ(count(result, "ipcq_copy"), 7168);
  EXPECT_EQ(count(result, "ipcq_copy"), ring_messages(8, 16 << 10, 128, 1));
  EXPECT_EQ(result.at("links").at("east").at("in_flight_peak").as_int(), 1);
}

TEST(PrefillLong, TakesAnotherRingPassForRowsThatDoNotStayResident) {
  for (const auto sharding : {RingSharding::contiguous, RingSharding::zigzag}) {
    WorkloadRequest request = attention(prefill, 400, 410);
    request.tile = 32;
    request.sharding = sharding;
    SystemConfig config = cubes(2);
    config.pe.scratch.capacity = Bytes(176 << 10);
    const Json result = run(request, config);
    const std::int64_t passes = result.at("shape").at("ring_passes").as_int();
    EXPECT_GT(passes, 1);
    // 42 queries of 3 heads are a block's 126 rows: 200 queries a rank, or 100 a chunk.
    const std::int64_t chunks = sharding == RingSharding::zigzag ? 2 : 1;
    const std::int64_t blocks = chunks * ((200 / chunks + 41) / 42);
    const std::int64_t resident = result.at("shape").at("resident_blocks").as_int();
    EXPECT_EQ(passes, (blocks + resident - 1) / resident);
    EXPECT_EQ(count(result, "ipcq_copy"), ring_messages(2, 205, 32 * chunks, passes));
    expect_right(result);
  }
}

TEST(PrefillLong, ScratchDoesNotGrowWithTheSequence) {
  WorkloadRequest request = attention(prefill, 64, 8 << 10);
  request.model = ModelShape{"one head of Llama-3.1-8B", 4, 1, 128};
  const Json short_one = run(request, cubes(8), DataMode::none);
  for (const std::int64_t s_kv : {128 << 10, 1 << 20}) {
    request.s_kv = {s_kv};
    const Json result = run(request, cubes(8), DataMode::none);
    EXPECT_EQ(result.at("scratch"), short_one.at("scratch")) << s_kv;
    // Nor does the host's memory.
    const std::int64_t resident = result.at("host").at("peak_rss_bytes").as_int();
    EXPECT_LE(resident, short_one.at("host").at("peak_rss_bytes").as_int() + (4 << 20)) << s_kv;
  }
}

TEST(PrefillLong, TheSliceGranularFormOverflowsScratchAt128K) {
  WorkloadRequest request = attention(prefill, 512, 128 << 10);
  request.model = ModelShape{"one head of Llama-3.1-8B", 4, 1, 128};
  request.tile = 16 << 10;  // a whole local slice a step
  try {
    (void)make_workload(request, cubes(8));
    ADD_FAILURE() << "no error";
  } catch (const WorkloadError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("scratch overflow: a ring with tiles of 16384 keys (messages of 8 MiB)"), std::string::npos)
        << message;
    EXPECT_NE(message.find("pe.scratch.capacity is 1 MiB"), std::string::npos) << message;
  }
}

TEST(PrefillLong, LeavesEachCubeItsOwnSliceOfTheOutput) {
  WorkloadRequest request = attention(prefill, 43, 100);
  request.lse = false;
  const Json result = run(request, cubes(3), DataMode::none);
  // 15, 14 and 14 queries of 3 heads x 32 elements of 2 B.
  for (const auto& [cube, queries] :
       std::vector<std::pair<std::string, std::int64_t>>{{"cube0", 15}, {"cube1", 14}, {"cube2", 14}}) {
    std::int64_t written = 0;
    for (const Json& channel : result.at("channels").at(cube).as_array()) written += channel.at("written").as_int();
    EXPECT_EQ(written, queries * 3 * 32 * 2) << cube;
  }
}

TEST(PrefillLong, SendsNothingOfATileWithoutKeys) {
  // Given fewer keys than ranks, one a tile: each goes past all the other ranks once.
  for (const std::int64_t keys : {1, 3, 7, 8}) {
    for (const bool bidirectional : {false, true}) {
      WorkloadRequest request = attention(prefill, 8, keys);
      request.bidirectional = bidirectional;
      EXPECT_EQ(count(run(request, cubes(8), DataMode::none), "ipcq_copy"), keys * (8 - 1)) << keys << " keys";
    }
  }
  // Given chunks of 17 and 16 keys in tiles of 16: all send the first tile, those of the longer chunks a second one.
  WorkloadRequest request = attention(prefill, 8, 3 * 17 + 1 * 16);
  request.tile = 16;
  EXPECT_EQ(count(run(request, cubes(4), DataMode::none), "ipcq_copy"), 4 * 3 + 3 * 3);
  // Given two chunks a rank and ranks of which one has a key in one of them only: messages of one chunk.
  request = attention(prefill, 8, 5);
  request.sharding = RingSharding::zigzag;
  const Json result = run(request, cubes(4), DataMode::none);
  // Chunks 0 to 4 of 8 have a key: of ranks 0, 1, 2, 3 and, the fifth, again 3.
  EXPECT_EQ(count(result, "ipcq_copy"), 4 * 3);
  // K and V of each key, 32 elements of 2 B, pass three links.
  EXPECT_EQ(result.at("bytes").at("sent").as_int(), 5 * 3 * 2 * 32 * 2);
}

// B16
TEST(PrefillLong, ComputesNothingThatCausalityMasksWhole) {
  for (const auto sharding : {RingSharding::contiguous, RingSharding::zigzag}) {
    constexpr std::int64_t ranks = 4;
    constexpr std::int64_t tokens = 320;
    constexpr std::int64_t tile = 16;
    WorkloadRequest request = attention(prefill, tokens, tokens);
    request.tile = tile;
    request.causal = true;
    request.sharding = sharding;
    const Json result = run(request, cubes(ranks), DataMode::none);
    const std::int64_t block = result.at("shape").at("block_queries").as_int();
    // Pairs of a block of queries and a tile of keys of which the last query sees the first key.
    const std::int64_t chunks = sharding == RingSharding::zigzag ? 2 : 1;
    const Sharding tokens_of(tokens, ranks, chunks);
    std::int64_t pairs = 0;
    for (std::int64_t holder = 0; holder < ranks * chunks; ++holder) {
      const Span queries = tokens_of.chunk(holder % ranks, holder / ranks);
      for (std::int64_t first = 0; first < queries.count; first += block) {
        const std::int64_t last = queries.first + std::min(first + block, queries.count) - 1;
        for (std::int64_t other = 0; other < ranks * chunks; ++other) {
          const Span keys = tokens_of.chunk(other % ranks, other / ranks);
          for (std::int64_t key = 0; key < keys.count; key += tile) pairs += keys.first + key <= last ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(count(result, "gemm"), 2 * pairs);
    EXPECT_EQ(count(result, "ipcq_copy"), ring_messages(ranks, tokens / ranks, tile * chunks, 1));
  }
}

// ---- what is refused

TEST(LongAttentionErrors, NameWhatCannotBe) {
  const auto error_of = [](const WorkloadRequest& request, const SystemConfig& config) {
    return testing::error_of<WorkloadError>([&] { (void)make_workload(request, config); });
  };
  WorkloadRequest request = attention(decode, 1, 100);
  request.ranks = 9;
  EXPECT_EQ(error_of(request, cubes(8)), "--ranks: 1 to 8, one a cube (system.cubes), not 9");
  request = attention(prefill, 1, 100);
  request.ranks = 4;
  EXPECT_NE(error_of(request, cubes(8)).find("closes over all 8 cubes"), std::string::npos);
  request = attention(prefill, 1, 100);
  request.reduction = Reduction::tree;
  EXPECT_EQ(error_of(request, cubes(8)), "--reduce is for gqa_attention_decode_long");
  request = attention(decode, 1, 100);
  request.sharding = RingSharding::zigzag;
  EXPECT_EQ(error_of(request, cubes(8)), "--sharding and --bidirectional are for gqa_attention_prefill_long");
  SystemConfig slots = cubes(8);
  slots.pe.ipcq.slot_bytes = Bytes(256);  // m, l and O of 3 rows of 32 elements are 408 B
  EXPECT_EQ(error_of(attention(decode, 1, 100), slots),
            "messages of 408 B do not fit into slots of 256 B (ipcq.slot_bytes)");
  slots.pe.ipcq.slot_bytes = Bytes(600 << 10);
  EXPECT_NE(error_of(attention(decode, 1, 100), slots).find("scratch"), std::string::npos);
  EXPECT_NE(error_of(attention(prefill, 1, 100), slots).find("pe.scratch.capacity is 1 MiB"), std::string::npos);
  SystemConfig one_slot = cubes(3);
  one_slot.pe.ipcq.depth = 1;
  EXPECT_NE(error_of(attention(prefill, 1, 100), one_slot).find("needs two slots"), std::string::npos);
  EXPECT_EQ(error_of(attention(decode, 1, 100), one_slot), "no error");
  one_slot.cubes = 2;
  EXPECT_EQ(error_of(attention(prefill, 1, 100), one_slot), "no error");
  SystemConfig mesh = cubes(8);
  mesh.pe.ipcq.topology = IpcqTopology::mesh;
  EXPECT_NE(error_of(attention(decode, 1, 100), mesh).find("ipcq.topology is \"mesh\""), std::string::npos);
  SystemConfig line = cubes(8);
  line.pe.ipcq.topology = IpcqTopology::line;
  EXPECT_EQ(error_of(attention(decode, 1, 100), line), "no error");
  EXPECT_NE(error_of(attention(prefill, 1, 100), line).find("the topology \"line\""), std::string::npos);
}

}  // namespace
}  // namespace kernwave::platform::attention_long_test
