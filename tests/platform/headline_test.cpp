// The figures of the headline, by hand arithmetic: what bounds Llama-3.1-8B's attention, and how near a run comes.
//
// The machine of preset ahbm: a cube gives 819.2 GB/s to 8 PEs; a PE has 64 x 64 multiply-accumulators at 1 GHz. The
// model has 8 KV heads of 4 query heads each, head_dim 128, in f16: one KV head a PE, all in cube 0.
#include "platform/headline/headline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "models/base/exact_time.h"
#include "platform/config/configuration.h"
#include "platform/files/whole_file.h"
#include "platform/results/result_figures.h"
#include "platform/run/simulate.h"
#include "platform/text/text_stream.h"
#include "platform/text/units.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"

namespace kernwave::platform::headline_test {
namespace {

namespace fs = std::filesystem;

using tl::Policy;

constexpr std::int64_t heads = 8;
constexpr std::int64_t group = 4;
constexpr std::int64_t head_dim = 128;
constexpr std::int64_t element = 2;
constexpr std::int64_t ps_per_cycle = 1'000;

[[nodiscard]] WorkloadRequest attention(const std::string& kernel, std::int64_t s_kv) {
  WorkloadRequest request;
  request.kernel = kernel;
  request.model = load_model_shape("llama-3.1-8b");
  request.s_kv = {s_kv};
  return request;
}

[[nodiscard]] WorkloadRequest decode() { return attention("gqa_attention_decode_short", 8192); }
[[nodiscard]] WorkloadRequest prefill() { return attention("gqa_attention_prefill_short", 2048); }

/// A run in a process of its own.
[[nodiscard]] Json run(const WorkloadRequest& request, Policy policy, const ConfigurationRequest& machine = {},
                       DataMode data = DataMode::none) {
  const Configuration configuration = load_configuration(machine);
  const auto workload = make_workload(request, configuration.system);
  return simulate_isolated({configuration, request.kernel, policy, data, ""}, *workload);
}

[[nodiscard]] std::int64_t latency(const Json& result) { return result.at("latency_ps").as_int(); }

[[nodiscard]] std::int64_t bound(const Json& result, const char* kind, const char* resource) {
  return result.at("bounds_ps").at(kind).at(resource).as_int();
}

/// ceil(bytes / (819.2 GB/s x efficiency)) in ps; efficiency in millionths.
[[nodiscard]] std::int64_t cube_time(std::int64_t bytes, std::int64_t efficiency = 1'000'000) {
  // ps = bytes x 10^12 / (819.2 x 10^9 x efficiency / 10^6) = bytes x 10^4 x 10^6 / (8192 x efficiency)
  const Int128 numerator = Int128{bytes} * 10'000 * 1'000'000;
  const Int128 denominator = Int128{8192} * efficiency;
  return static_cast<std::int64_t>((numerator + denominator - 1) / denominator);
}

/// No resource can do what was issued in less; the run took at least as long as each of them.
void expect_no_faster_than_its_bounds(const Json& result) {
  for (const char* kind : {"compulsory", "issued"}) {
    for (const Json::Member& resource : result.at("bounds_ps").at(kind).as_object()) {
      EXPECT_GE(latency(result), resource.value.as_int()) << kind << " " << resource.key;
    }
  }
  // What was issued is at least what no kernel can avoid.
  for (const Json::Member& resource : result.at("bounds_ps").at("compulsory").as_object()) {
    EXPECT_GE(bound(result, "issued", resource.key.c_str()), resource.value.as_int()) << resource.key;
  }
}

// ---- decode: 8192 keys
// -----------------------------------------------------------------------------------------------

/// Each PE reads K and V of 8192 x 128 elements of 2 B, 4 MiB together, and 4 x 128 elements of Q, 1 KiB.
constexpr std::int64_t decode_bytes = heads * (2 * 8192 * head_dim * element + group * head_dim * element);
static_assert(decode_bytes == heads * ((4 << 20) + (1 << 10)));

TEST(Headline, DecodeIsBoundByReadingKAndV) {
  const Json result = run(decode(), Policy::lazy);
  // 33,562,624 B at 819.2 GB/s: 40.97 us exactly.
  EXPECT_EQ(cube_time(decode_bytes), 40'970'000);
  EXPECT_EQ(bound(result, "compulsory", "hbm_read"), cube_time(decode_bytes));
  // A PE's own port, 128 GB/s, would do it in (4 MiB + 1 KiB) / 128 GB/s = 32.776 us.
  EXPECT_EQ(bound(result, "compulsory", "dma_read"), 32'776'000);
  // Two products of 4 x 128 x 8192 multiply-accumulates on 4096 of them: 2048 cycles.
  EXPECT_EQ(bound(result, "compulsory", "gemm_ideal"), 2 * group * head_dim * 8192 / 4096 * ps_per_cycle);
  // The output, 1 KiB a PE.
  EXPECT_EQ(bound(result, "compulsory", "hbm_write"), cube_time(heads * group * head_dim * element));
  for (const char* preset : {"ahbm", "ahbm-ws"}) {
    const BindingBound binding = binding_bound(run(decode(), Policy::lazy, {preset, {}}));
    EXPECT_EQ(binding.resource, "hbm_read") << preset;
    EXPECT_EQ(binding.picoseconds, cube_time(decode_bytes)) << preset;
  }
}

// By hand, a tile of 512 keys takes 8 x 2 x 128 KiB / 819.2 GB/s = 2.56 us to read, and its products and softmax about
// 0.6 us: with prefetch these hide, but for those of the last tile.
TEST(Headline, DecodeLazyReachesTheBoundWithinSixPerCent) {
  const Json lazy = run(decode(), Policy::lazy);
  EXPECT_LE(static_cast<double>(latency(lazy)), 1.06 * static_cast<double>(cube_time(decode_bytes)));
  const Json blocking = run(decode(), Policy::blocking);
  EXPECT_GE(static_cast<double>(latency(blocking)), 1.12 * static_cast<double>(latency(lazy)));
}

TEST(Headline, DecodeLazyOnAWeightStationaryArrayReachesTheBoundWithinAQuarter) {
  const Json lazy = run(decode(), Policy::lazy, {"ahbm-ws", {}});
  EXPECT_LE(static_cast<double>(latency(lazy)), 1.25 * static_cast<double>(cube_time(decode_bytes)));
  EXPECT_LT(latency(lazy), latency(run(decode(), Policy::blocking, {"ahbm-ws", {}})));
}

TEST(Headline, DecodeAtTheEfficiencyOfABankedMemoryIsBoundByThatMuchMore) {
  const Json result = run(decode(), Policy::lazy, {"ahbm", {"hbm.efficiency=0.86"}});
  EXPECT_EQ(bound(result, "compulsory", "hbm_read"), cube_time(decode_bytes, 860'000));
  // 40.97 us / 0.86 = 47,639,534.88... ps
  EXPECT_EQ(cube_time(decode_bytes, 860'000), 47'639'535);
  EXPECT_GE(latency(result), 47'639'535);
  EXPECT_LE(static_cast<double>(latency(result)), 1.06 * 47'639'535);
}

// ---- prefill: 2048 queries and keys, causal
// --------------------------------------------------------------------------

/// Query i sees i + 1 keys: 1 + 2 + ... + 2048 pairs of a query and a key, a head.
constexpr std::int64_t visible_pairs = 2048 * 2049 / 2;
/// 128 rows a block are 32 queries x 4 heads.
constexpr std::int64_t blocks = 2048 / 32;
/// Block b's last query sees 32 (b + 1) keys, ceil(32 (b + 1) / 128) = floor(b / 4) + 1 tiles of 128: four blocks each
/// of 1, 2, ... 16 tiles.
constexpr std::int64_t tiles = 4 * (16 * 17 / 2);
static_assert(tiles == 544);

TEST(Headline, PrefillIsBoundByItsProducts) {
  for (const char* preset : {"ahbm", "ahbm-ws"}) {
    const Json result = run(prefill(), Policy::lazy, {preset, {}});
    // Q K^T and P V: each visible pair of 4 heads costs head_dim multiply-accumulates. 2 x 4 x 2,098,176 x 128 / 4096
    // = 524,544 cycles.
    constexpr std::int64_t multiply_accumulates = 2 * group * visible_pairs * head_dim;
    constexpr std::int64_t cycles = (multiply_accumulates + 4095) / 4096;
    static_assert(cycles == 524'544);
    EXPECT_EQ(bound(result, "compulsory", "gemm_ideal"), cycles * ps_per_cycle) << preset;
    // Issued are whole tiles: 544 of 128^3 a product, 128^3 / 4096 = 512 cycles each.
    constexpr std::int64_t issued = tiles * 2 * (128 * 128 * 128 / 4096);
    static_assert(issued == 557'056);
    EXPECT_EQ(bound(result, "issued", "gemm_ideal"), issued * ps_per_cycle) << preset;
    EXPECT_GE(bound(result, "compulsory", "gemm_dataflow"), bound(result, "compulsory", "gemm_ideal")) << preset;
    EXPECT_EQ(binding_bound(result).resource, "gemm_dataflow") << preset;
  }
}

TEST(Headline, PrefillStallOnUseComesWithinAFifthOfTheBound) {
  for (const char* preset : {"ahbm", "ahbm-ws"}) {
    const Json result = run(prefill(), Policy::stall_on_use, {preset, {}});
    const std::int64_t largest =
        std::max(bound(result, "compulsory", "gemm_dataflow"), bound(result, "compulsory", "math"));
    EXPECT_LE(static_cast<double>(latency(result)), 1.2 * static_cast<double>(largest)) << preset;
  }
}

// Under `lazy` a product is waited for where it is issued, so that GEMM and MATH add up: reported as what it is.
TEST(Headline, PrefillLazyAddsUpProductsAndSoftmax) {
  const Json lazy = run(prefill(), Policy::lazy);
  EXPECT_GE(latency(lazy), bound(lazy, "issued", "gemm_ideal") + bound(lazy, "issued", "math"));
  EXPECT_LT(latency(lazy), latency(run(prefill(), Policy::blocking)));
  EXPECT_GT(latency(lazy), latency(run(prefill(), Policy::stall_on_use)));
}

// ---- long contexts: 128K keys on eight cubes ------------------------------------------------------------------------

[[nodiscard]] WorkloadRequest chunk_of_128k() {
  WorkloadRequest request = attention("gqa_attention_prefill_long", 128 << 10);
  request.s_q = {512};
  return request;
}

/// Each cube holds 16K keys of 8 heads: 8 x 2 x 16,384 x 128 x 2 B = 64 MiB, 81.92 us; and Q.
TEST(Headline, DecodeLongComesWithinEightPerCentOfReadingItsShareOfKAndV) {
  constexpr std::int64_t bytes = heads * (2 * (16 << 10) * head_dim * element + group * head_dim * element);
  EXPECT_EQ(cube_time(heads * 2 * (16 << 10) * head_dim * element), 81'920'000);
  const Json result = run(attention("gqa_attention_decode_long", 128 << 10), Policy::lazy);
  EXPECT_EQ(bound(result, "compulsory", "hbm_read"), cube_time(bytes));
  EXPECT_EQ(binding_bound(result).resource, "hbm_read");
  EXPECT_LE(static_cast<double>(latency(result)), 1.08 * static_cast<double>(cube_time(bytes)));
}

TEST(Headline, PrefillLongChunkComesWithinAFifthOfItsProducts) {
  const Json result = run(chunk_of_128k(), Policy::stall_on_use);
  const std::int64_t largest =
      std::max(bound(result, "compulsory", "gemm_dataflow"), bound(result, "compulsory", "math"));
  EXPECT_LE(static_cast<double>(latency(result)), 1.2 * static_cast<double>(largest));
  EXPECT_EQ(result.at("counts").at("ipcq_copy").as_int(), heads * 7168);
}

// On a systolic array the products of a tile take nearly as long as reading it.
TEST(Headline, DecodeLongByCompositesComesWithinTwelvePerCentOnAWeightStationaryArray) {
  WorkloadRequest request = attention("gqa_attention_decode_long", 128 << 10);
  request.kv = kernels::KvSource::composite;
  const Json result = run(request, Policy::lazy, {"ahbm-ws", {}});
  EXPECT_EQ(binding_bound(result).resource, "hbm_read");
  EXPECT_LE(static_cast<double>(latency(result)), 1.12 * static_cast<double>(binding_bound(result).picoseconds));
  EXPECT_EQ(result.at("counts").at("composite_read").as_int(), 64 * 2 * 32);  // K and V of 16K / 512 tiles, 64 PEs
}

// A composite does not wait at issue, so that GEMM and MATH overlap under `lazy` too.
TEST(Headline, PrefillByCompositesComesWithinAFifthOfItsProductsUnderLazy) {
  WorkloadRequest chunk = chunk_of_128k();
  chunk.kv = kernels::KvSource::composite;
  WorkloadRequest short_one = prefill();
  short_one.kv = kernels::KvSource::composite;
  for (const WorkloadRequest& request : {chunk, short_one}) {
    for (const char* preset : {"ahbm", "ahbm-ws"}) {
      const Json result = run(request, Policy::lazy, {preset, {}});
      const std::int64_t largest =
          std::max(bound(result, "compulsory", "gemm_dataflow"), bound(result, "compulsory", "math"));
      EXPECT_LE(static_cast<double>(latency(result)), 1.2 * static_cast<double>(largest)) << request.kernel << preset;
    }
  }
}

// Contiguous, some rank has a full tile to compute in every step; zigzag, all have the same.
TEST(Headline, ZigzagHalvesTheTimeOfACausalRing) {
  WorkloadRequest request = attention("gqa_attention_prefill_long", 8 << 10);
  const Json contiguous = run(request, Policy::stall_on_use);
  request.sharding = RingSharding::zigzag;
  const Json zigzag = run(request, Policy::stall_on_use);
  EXPECT_GE(static_cast<double>(latency(contiguous)), 1.7 * static_cast<double>(latency(zigzag)));
}

// ---- both --------------------------------------------------------------------------------------------------------

TEST(Headline, ReadsOfAHeadAreItsQueriesAndTwoATileInEveryPolicy) {
  struct Case {
    WorkloadRequest request;
    std::int64_t reads;
    std::int64_t writes;
    std::int64_t products;
  };
  const std::vector<Case> cases{
      // Q once, 8192 / 512 tiles of K and V.
      {decode(), heads * (1 + 2 * 16), heads, heads * 2 * 16},
      // Q of each block, K and V of each tile of each block.
      {prefill(), heads * (blocks + 2 * tiles), heads * blocks, heads * 2 * tiles},
  };
  for (const Case& expected : cases) {
    const Json first = run(expected.request, Policy::blocking);
    EXPECT_EQ(first.at("counts").at("dma_read").as_int(), expected.reads);
    EXPECT_EQ(first.at("counts").at("dma_write").as_int(), expected.writes);
    EXPECT_EQ(first.at("counts").at("gemm").as_int(), expected.products);
    for (const Policy policy : {Policy::lazy, Policy::stall_on_use}) {
      const Json other = run(expected.request, policy);
      for (const char* key : {"counts", "bytes", "flops", "scratch"}) {
        EXPECT_EQ(other.at(key), first.at(key)) << tl::name_of(policy) << " " << key;
      }
    }
  }
}

TEST(Headline, NoRunIsFasterThanWhatItIssued) {
  for (const WorkloadRequest& request : {decode(), prefill()}) {
    for (const Policy policy : kernwave::testing::all_policies) {
      for (const char* preset : {"ahbm", "ahbm-ws"}) {
        SCOPED_TRACE(request.kernel + " " + std::string(tl::name_of(policy)) + " " + preset);
        expect_no_faster_than_its_bounds(run(request, policy, {preset, {}}));
      }
    }
  }
}

TEST(Headline, LatencyIsTheSameWithAndWithoutData) {
  for (const WorkloadRequest& request :
       {attention("gqa_attention_decode_short", 700), attention("gqa_attention_prefill_short", 150)}) {
    for (const Policy policy : kernwave::testing::all_policies) {
      const Json full = run(request, policy, {}, DataMode::full);
      const Json none = run(request, policy, {}, DataMode::none);
      for (const char* key : {"latency_ps", "counts", "bytes", "bounds_ps", "busy_ps", "stall_ps", "channels"}) {
        EXPECT_EQ(none.at(key), full.at(key)) << request.kernel << " " << tl::name_of(policy) << " " << key;
      }
      EXPECT_TRUE(full.at("error").at("within_tolerance").as_bool()) << request.kernel;
      EXPECT_TRUE(none.at("error").is_null());
    }
  }
}

TEST(Headline, LeavesTablesAndAllDocumentsEvenIfNothingCanBePrinted) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("kernwave_headline_" + std::to_string(::getpid()));
  kernwave::testing::in_child([&folder] {
    std::FILE* const full = std::fopen("/dev/full", "w");
    TextStream out(full != nullptr ? full : stdout);
    run_headline({folder.string(), DataMode::none, "kernwave headline"}, out);
    EXPECT_EQ(out.finish(), full != nullptr ? ENOSPC : 0);
  });
  const std::string tables = read_file((folder / "headline.txt").string());
  const Json documents = parse_json(read_file((folder / "headline.json").string()), "headline.json");
  fs::remove_all(folder);

  // Of two shapes: three policies on two presets, the efficiency of a banked memory, composites on two presets. Of one:
  // three policies on ahbm. Of two: that, one run on ahbm-ws, composites on both. Of six: composites on ahbm alone.
  ASSERT_EQ(documents.size(), 2U * (2 * 3 + 1 + 2) + 3 + 2 * (3 + 1 + 2) + 6 * (3 + 1 + 1));
  const std::string rebuilt = headline_tables(documents.as_array());
  EXPECT_EQ(tables.substr(0, rebuilt.size()), rebuilt);
  const std::string notes = tables.substr(rebuilt.size());
  EXPECT_NE(notes.find("at 128K keys the chain of eight cubes takes "), std::string::npos) << notes;
  EXPECT_NE(notes.find("decode_long overtakes decode_short at "), std::string::npos) << notes;
  for (const Json& document : documents.as_array()) {
    EXPECT_EQ(document.at("command").as_string(), "kernwave headline");
    const std::string row = " " + document.at("policy").as_string();
    EXPECT_NE(tables.find(row), std::string::npos) << row;
    EXPECT_NE(tables.find(" " + time_text(latency(document)) + " "), std::string::npos) << latency(document);
  }
  for (const std::string text :
       {"gqa_attention_decode_short: llama-3.1-8b, 32 query heads on 8 KV heads, head_dim 128, s_q 1, s_kv 8192, f16",
        "gqa_attention_prefill_short: llama-3.1-8b, 32 query heads on 8 KV heads, head_dim 128, s_q 2048, s_kv 2048",
        "gqa_attention_decode_long: llama-3.1-70b, 64 query heads on 8 KV heads, head_dim 128, s_q 1, s_kv 131072",
        "gqa_attention_prefill_long: llama-3.1-8b, 32 query heads on 8 KV heads, head_dim 128, s_q 512, s_kv 131072",
        "8 ranks, chain", "8 ranks, zigzag", "copies", "east ", "KiB", "f16, causal", "ahbm-ws ", "ahbm @0.86",
        "speed-up", "hbm_read", "gemm_dataflow", "GB/s", "host s"}) {
    EXPECT_NE(tables.find(text), std::string::npos) << text << "\nis not in\n" << tables;
  }
}

}  // namespace
}  // namespace kernwave::platform::headline_test
