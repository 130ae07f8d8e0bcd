// Workloads: where their data lie, what the planner gives them, what no kernel could do without.
#include "platform/workload/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/protocol/connector.h"
#include "models/run/run.h"
#include "platform/run/simulate.h"
#include "platform/workload/attention_plan.h"
#include "platform/workload/hbm_layout.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/quantities.h"
#include "traces/op_log/op_log.h"

namespace kernwave::platform::workload_test {
namespace {

using testing::contains;

constexpr const char* decode = "gqa_attention_decode_short";
constexpr const char* prefill = "gqa_attention_prefill_short";

/// A request for one KV head shared by `group` query heads, to be refined.
[[nodiscard]] WorkloadRequest attention(const std::string& kernel, std::int64_t kv_heads, std::int64_t group,
                                        std::int64_t head_dim) {
  WorkloadRequest request;
  request.kernel = kernel;
  request.model = ModelShape{"a test's", kv_heads * group, kv_heads, head_dim};
  return request;
}

[[nodiscard]] WorkloadRequest product(std::int64_t m, std::int64_t n, std::int64_t k) {
  WorkloadRequest request;
  request.kernel = "gemm";
  request.m = m;
  request.n = n;
  request.k = k;
  return request;
}

[[nodiscard]] SystemConfig machine(std::int64_t cubes, std::int64_t pes_per_cube) {
  SystemConfig config;
  config.cubes = cubes;
  config.pes_per_cube = pes_per_cube;
  return config;
}

[[nodiscard]] std::string error_of(const WorkloadRequest& request, const SystemConfig& config = {}) {
  return testing::error_of<WorkloadError>([&] { (void)make_workload(request, config); });
}

[[nodiscard]] Json run(const WorkloadRequest& request, const SystemConfig& config, DataMode data = DataMode::none,
                       tl::Policy policy = tl::Policy::lazy) {
  const auto workload = make_workload(request, config);
  Configuration configuration{"a test's", config, {}};
  return simulate_isolated({configuration, request.kernel, policy, data, ""}, *workload);
}

// ---- placement ------------------------------------------------------------------------------------------------------

TEST(HbmLayout, StacksPiecesOfEachCubeAtAlignedAddresses) {
  HbmLayout layout(machine(2, 1));
  EXPECT_EQ(layout.allocate(CubeId(0), Bytes(1), "a"), HbmAddress(CubeId(0), Bytes(0)));
  EXPECT_EQ(layout.allocate(CubeId(0), Bytes(4096), "b"), HbmAddress(CubeId(0), Bytes(4096)));
  EXPECT_EQ(layout.allocate(CubeId(1), Bytes(4097), "c"), HbmAddress(CubeId(1), Bytes(0)));
  EXPECT_EQ(layout.allocate(CubeId(0), Bytes(1), "d"), HbmAddress(CubeId(0), Bytes(8192)));
  EXPECT_EQ(layout.allocate(CubeId(1), Bytes(1), "e"), HbmAddress(CubeId(1), Bytes(8192)));
}

TEST(HbmLayout, FillsACubeToTheLastByteAndSaysWhatIsTooMuch) {
  SystemConfig config = machine(1, 1);
  config.hbm.capacity = Bytes(1 << 20);
  HbmLayout layout(config);
  (void)layout.allocate(CubeId(0), Bytes(512 << 10), "the first half");
  (void)layout.allocate(CubeId(0), Bytes(512 << 10), "the second half");
  try {
    (void)layout.allocate(CubeId(0), Bytes(1), "the last straw");
    FAIL() << "a full cube took another byte";
  } catch (const WorkloadError& error) {
    EXPECT_STREQ(error.what(), "the last straw needs 1 B in cube 0, of whose 1 MiB (hbm.capacity) 1 MiB are taken");
  }
}

/// The transfers of a run: of which PE, from or to which bytes. The only places that a kernel touches.
struct Transfer {
  std::int64_t pe = 0;
  bool is_write = false;
  HbmRegion region;
};

/// The body of a child process.
[[nodiscard]] std::vector<Transfer> transfers_of(const WorkloadRequest& request, const SystemConfig& config) {
  const auto workload = make_workload(request, config);
  Connector connector;
  System system("system", config, DataMode::none, connector);
  traces::OpLog log;
  for (std::int64_t id = 0; id < system.pe_count(); ++id) system.pe(PeId(id)).set_observer(&log);
  workload->launch(system, tl::Policy::lazy);
  EXPECT_EQ(run_to_end(system.ledger()), RunEnd::finished);
  std::vector<Transfer> transfers;
  for (const traces::OperationRow& row : log.rows()) {
    const Engine engine = row.descriptor.engine;
    if (engine != Engine::dma_read && engine != Engine::dma_write) continue;
    transfers.push_back({row.descriptor.id.pe.count(), engine == Engine::dma_write, row.descriptor.dma().region});
  }
  return transfers;
}

/// Who touches each byte of HBM, by PE, reads and writes apart.
struct Footprint {
  std::map<std::uint64_t, std::set<std::int64_t>> read;
  std::map<std::uint64_t, std::set<std::int64_t>> written;
};

[[nodiscard]] Footprint footprint_of(const std::vector<Transfer>& transfers) {
  Footprint footprint;
  for (const Transfer& transfer : transfers) {
    auto& bytes = transfer.is_write ? footprint.written : footprint.read;
    for (std::int64_t row = 0; row < transfer.region.rows; ++row) {
      const HbmAddress first = transfer.region.base + transfer.region.stride * row;
      for (std::int64_t byte = 0; byte < transfer.region.row_bytes.count(); ++byte) {
        bytes[(first + Bytes(byte)).value()].insert(transfer.pe);
      }
    }
  }
  return footprint;
}

class Placement : public ::testing::TestWithParam<KvLayout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, Placement, ::testing::Values(KvLayout::heads_first, KvLayout::tokens_first),
                         [](const auto& layout) {
                           return layout.param == KvLayout::heads_first ? "heads_first" : "tokens_first";
                         });

// Three heads of two sequences on 2 cubes of 2 PEs: programs 0 ... 5 on PEs 0 1 2 3 0 1.
TEST_P(Placement, GivesEachProgramBytesOfItsOwnInTheCubeOfItsPe) {
  for (const char* kernel : {decode, prefill}) {
    SCOPED_TRACE(kernel);
    kernwave::testing::in_child([&] {
      WorkloadRequest request = attention(kernel, 3, 2, 16);
      request.kv_layout = GetParam();
      request.batch = 2;
      request.s_q = {3, 5};
      request.s_kv = {20, 33};
      request.causal = false;  // every key is read
      const SystemConfig config = machine(2, 2);
      const Footprint footprint = footprint_of(transfers_of(request, config));

      std::vector<std::int64_t> read(4, 0);
      std::vector<std::int64_t> written(4, 0);
      for (const auto& [address, pes] : footprint.read) {
        EXPECT_EQ(pes.size(), 1U) << "two PEs read one byte";
        EXPECT_EQ(footprint.written.count(address), 0U) << "an input is written";
        EXPECT_EQ(HbmAddress(address).cube(), CubeId(*pes.begin() / 2));
        ++read[static_cast<std::size_t>(*pes.begin())];
      }
      for (const auto& [address, pes] : footprint.written) {
        EXPECT_EQ(pes.size(), 1U) << "two PEs write one byte";
        EXPECT_EQ(HbmAddress(address).cube(), CubeId(*pes.begin() / 2));
        ++written[static_cast<std::size_t>(*pes.begin())];
      }
      // Distinct bytes: no tensor of a PE overlaps another one of it either. Of the first sequence Q and the output
      // are 3 x 2 x 16 elements of 2 B, K and V 20 x 16; of the second 5 x 2 x 16 and 33 x 16.
      constexpr std::int64_t first_q = 3 * 2 * 16 * 2;
      constexpr std::int64_t second_q = 5 * 2 * 16 * 2;
      constexpr std::int64_t first = first_q + 2 * 20 * 16 * 2;
      constexpr std::int64_t second = second_q + 2 * 33 * 16 * 2;
      EXPECT_EQ(read, (std::vector<std::int64_t>{first + second, first + second, first, second}));
      EXPECT_EQ(written, (std::vector<std::int64_t>{first_q + second_q, first_q + second_q, first_q, second_q}));
    });
  }
}

TEST_P(Placement, IsTheLayoutThatWasAskedFor) {
  kernwave::testing::in_child([&] {
    // Given one sequence of three heads on the three PEs of a cube, whose keys make a single tile
    WorkloadRequest request = attention(decode, 3, 2, 16);
    request.kv_layout = GetParam();
    request.s_kv = {20};
    std::vector<std::vector<HbmRegion>> reads(3);
    std::vector<std::vector<HbmRegion>> writes(3);
    for (const Transfer& transfer : transfers_of(request, machine(1, 3))) {
      (transfer.is_write ? writes : reads).at(static_cast<std::size_t>(transfer.pe)).push_back(transfer.region);
    }
    // Then the tensors of the first head start at multiples of 4096: Q (3 x 2 x 16 x 2 B), K and V (3 x 20 x 16 x 2 B)
    // and the output take one such piece each.
    const bool heads_first = GetParam() == KvLayout::heads_first;
    constexpr std::int64_t key = 16 * 2;
    for (std::int64_t head = 0; head < 3; ++head) {
      SCOPED_TRACE(head);
      const auto& read = reads.at(static_cast<std::size_t>(head));
      const auto& written = writes.at(static_cast<std::size_t>(head));
      ASSERT_EQ(read.size(), 3U);
      ASSERT_EQ(written.size(), 1U);
      EXPECT_EQ(read[0].base.offset(), Bytes(head * 2 * key));
      EXPECT_EQ(written[0].base.offset(), Bytes(3 * 4096 + head * 2 * key));
      // [H, S, D]: a head's 20 keys follow one another. [S, H, D]: the three heads of one token do.
      const Bytes first_key(head * key * (heads_first ? 20 : 1));
      const Bytes stride(key * (heads_first ? 1 : 3));
      for (const std::size_t tensor : {1U, 2U}) {
        EXPECT_EQ(read[tensor].base.offset(), Bytes(static_cast<std::int64_t>(tensor) * 4096) + first_key);
        EXPECT_EQ(read[tensor].rows, 20);
        EXPECT_EQ(read[tensor].row_bytes, Bytes(key));
        EXPECT_EQ(read[tensor].stride, stride);
      }
    }
  });
}

TEST_P(Placement, DoesNotChangeTheResult) {
  WorkloadRequest request = attention(prefill, 3, 2, 16);
  request.kv_layout = GetParam();
  request.batch = 2;
  request.s_kv = {20, 33};
  for (const auto& [cubes, pes] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 3}, {4, 2}}) {
    const Json error = run(request, machine(cubes, pes), DataMode::full).at("error");
    EXPECT_TRUE(error.at("within_tolerance").as_bool());
    WorkloadRequest usual = request;
    usual.kv_layout = KvLayout::heads_first;
    EXPECT_EQ(error, run(usual, machine(2, 2), DataMode::full).at("error"));
  }
}

TEST(Workloads, OfMoreProgramsThanPesRunTheSurplusInTurn) {
  // Given 5 x 2 programs on 3 PEs, then PE 0 has programs 0, 3, 6, 9 and the others three each: K and V of 16 keys.
  WorkloadRequest request = attention(decode, 5, 1, 16);
  request.batch = 2;
  request.s_kv = {16};
  const Json result = run(request, machine(1, 3), DataMode::full);
  EXPECT_TRUE(result.at("error").at("within_tolerance").as_bool());
  EXPECT_EQ(result.at("counts").at("dma_read").as_int(), 10 * 3);
  EXPECT_EQ(result.at("counts").at("dma_write").as_int(), 10);
}

// Beside the simulation, after it, or before: the last of some programs, and blocks of queries of one.
TEST(Workloads, AreVerifiedAlikeWheneverTheReferenceIsComputed) {
  WorkloadRequest request = attention(prefill, 3, 2, 24);
  request.s_q = {70};
  request.s_kv = {600};
  request.lse = true;
  const SystemConfig config = machine(1, 4);
  const RunRequest as_asked{{"a test's", config, {}}, request.kernel, tl::Policy::lazy, DataMode::full, ""};
  const auto prepared = make_workload(request, config);
  prepared->prepare_reference();
  const auto partly = make_workload(request, config);
  const std::atomic<bool> cancelled{true};
  partly->prepare_reference_beside_run(cancelled);
  const Json before = simulate_isolated(as_asked, *prepared).at("error");
  EXPECT_EQ(simulate_isolated(as_asked, *partly).at("error"), before);
  EXPECT_EQ(simulate_isolated(as_asked, *make_workload(request, config)).at("error"), before);
  EXPECT_GT(before.at("max_of_bound").as_double(), 0.0);
}

TEST(Workloads, ThatDoNotFitInACubeNameTheTensor) {
  WorkloadRequest request = attention(decode, 1, 1, 128);
  request.s_kv = {4096};  // K: 4096 x 128 x 2 B = 1 MiB
  SystemConfig config = machine(1, 1);
  config.hbm.capacity = Bytes((1 << 20) + 3 * 4096);  // Q, the output, K, and 4 KiB of V
  EXPECT_EQ(error_of(request, config), "V needs 1 MiB in cube 0, of whose 1036 KiB (hbm.capacity) 1028 KiB are taken");
  config.hbm.capacity = Bytes((2 << 20) + 2 * 4096);
  EXPECT_EQ(error_of(request, config), "no error");
}

TEST(Workloads, OfMoreProgramsThanAnyoneRunsAreRefusedAtOnce) {
  // 256 KV heads x 4096 sequences are 2^20 programs.
  WorkloadRequest request = attention(decode, 256, 1, 1);
  request.batch = 4096;
  request.s_kv = {1};
  EXPECT_EQ(error_of(request, machine(8, 8)), "no error");
  request.kernel = "gqa_attention_decode_long";
  EXPECT_EQ(error_of(request, machine(8, 8)),
            "256 KV heads x 4096 sequences x 8 ranks are 8388608 programs (allowed: up to 1048576)");
}

// ---- the planner ----------------------------------------------------------------------------------------------------

/// What the planner reckons with, from the shape that a workload resolved.
[[nodiscard]] Bytes budget_of(const WorkloadRequest& request, const Json& shape) {
  kernels::AttentionArgs args;
  args.group = shape.at("query_heads").as_int() / shape.at("kv_heads").as_int();
  args.head_dim = shape.at("head_dim").as_int();
  args.dtype = request.dtype;
  args.tile = shape.at("tile").as_int();
  args.block_queries = shape.at("block_queries").as_int();
  args.kv_buffers = shape.at("kv_buffers").as_int();
  const auto kernel = request.kernel == decode ? AttentionKernel::decode_short : AttentionKernel::prefill_short;
  return scratch_need(kernel, args, args.block_queries * args.group);
}

/// Head shapes, lengths and types, causal or not; keys that end with a tile and keys that do not.
[[nodiscard]] std::vector<WorkloadRequest> many_shapes() {
  struct Sizes {
    std::int64_t group;
    std::int64_t head_dim;
    std::int64_t s_q;
    std::int64_t s_kv;
  };
  std::vector<WorkloadRequest> requests;
  const auto add = [&requests](const char* kernel, const Sizes& sizes) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
      for (const bool causal : {false, true}) {
        WorkloadRequest request = attention(kernel, 1, sizes.group, sizes.head_dim);
        request.s_q = {sizes.s_q};
        request.s_kv = {sizes.s_kv};
        request.dtype = dtype;
        request.causal = causal;
        requests.push_back(request);
      }
    }
  };
  for (const Sizes& sizes : std::vector<Sizes>{{4, 128, 1, 8192},
                                               {8, 128, 1, 1537},
                                               {1, 64, 1, 700},
                                               {7, 80, 3, 1024},
                                               {3, 96, 5, 600},
                                               {16, 256, 8, 2048},
                                               {1, 128, 128, 640},
                                               {1, 16, 1, 1}}) {
    add(decode, sizes);
  }
  for (const Sizes& sizes : std::vector<Sizes>{{4, 128, 400, 400},
                                               {8, 128, 70, 1000},
                                               {1, 64, 300, 300},
                                               {7, 80, 90, 513},
                                               {3, 96, 333, 100},
                                               {16, 256, 64, 256},
                                               {1, 128, 1, 640},
                                               {2, 16, 5, 5}}) {
    add(prefill, sizes);
  }
  return requests;
}

TEST(AttentionPlan, ReservesWhatARunNeedsAndLittleMore) {
  for (const WorkloadRequest& request : many_shapes()) {
    const Json result = run(request, machine(1, 1));
    const std::int64_t peak = result.at("scratch").at("peak_bytes").as_int();
    const std::int64_t budget = budget_of(request, result.at("shape")).count();
    const std::string shape = to_text(result.at("shape"), 0);
    EXPECT_GE(budget, peak) << shape;
    // Not every run masks, or needs all small temporaries, of 64 B or more each: they show where all else is tiny.
    EXPECT_LE(static_cast<double>(budget), 1.15 * static_cast<double>(peak) + 8 * 64) << shape;
    EXPECT_LE(budget, result.at("scratch").at("capacity_bytes").as_int()) << shape;
  }
}

// Whatever the planner accepts runs: it is the budget that decides, not the kernel's luck.
TEST(AttentionPlan, ShrinksTheTileWithTheScratchAndTheKernelStillFits) {
  for (const char* kernel : {decode, prefill}) {
    WorkloadRequest request = attention(kernel, 1, 4, 128);
    request.s_q = {kernel == std::string(decode) ? 1 : 96};
    request.s_kv = {1100};
    std::int64_t last_tile = kernel == std::string(decode) ? 512 : 128;
    bool refused = false;
    std::set<std::int64_t> tiles;
    for (std::int64_t kib = 1024; kib >= 16; kib -= 24) {
      SystemConfig config = machine(1, 1);
      config.pe.scratch.capacity = Bytes(kib << 10);
      const std::string error = error_of(request, config);
      if (error != "no error") {
        EXPECT_TRUE(contains(error, "of scratch; pe.scratch.capacity is " + std::to_string(kib) + " KiB")) << error;
        refused = true;
        continue;
      }
      EXPECT_FALSE(refused) << "what did not fit in more fits in " << kib << " KiB";
      const Json result = run(request, config, DataMode::full);
      EXPECT_TRUE(result.at("error").at("within_tolerance").as_bool()) << kib;
      const std::int64_t tile = result.at("shape").at("tile").as_int();
      EXPECT_LE(tile, last_tile);
      EXPECT_GE(tile, 16);
      // Buffers are given up before keys.
      if (tile < (kernel == std::string(decode) ? 512 : 128)) {
        EXPECT_EQ(result.at("shape").at("kv_buffers").as_int(), 2);
      }
      last_tile = tile;
      tiles.insert(tile);
    }
    EXPECT_TRUE(refused) << kernel;
    EXPECT_GE(tiles.size(), 3U) << kernel;
  }
}

TEST(AttentionPlan, StartsFromTheUsualTileAndNeverExceedsTheKeys) {
  const auto shape = [](const char* kernel, std::int64_t s_kv, std::optional<std::int64_t> tile = {}) {
    WorkloadRequest request = attention(kernel, 1, 4, 128);
    request.s_kv = {s_kv};
    request.tile = tile;
    return make_workload(request, machine(1, 1))->shape();
  };
  EXPECT_EQ(shape(decode, 8192).at("tile").as_int(), 512);
  EXPECT_EQ(shape(decode, 100).at("tile").as_int(), 100);
  EXPECT_EQ(shape(decode, 8192, 96).at("tile").as_int(), 96);
  EXPECT_EQ(shape(prefill, 8192).at("tile").as_int(), 128);
  EXPECT_EQ(shape(prefill, 20).at("tile").as_int(), 20);
  // 128 rows a block: 32 queries of 4 heads.
  EXPECT_EQ(shape(prefill, 8192).at("block_queries").as_int(), 32);
  EXPECT_EQ(shape(prefill, 20).at("block_queries").as_int(), 20);
  EXPECT_EQ(shape(decode, 8192).at("kv_buffers").as_int(), 3);
}

TEST(AttentionPlan, SaysWhatItChoseAndHowMuchItTakes) {
  WorkloadRequest request = attention(decode, 1, 4, 128);
  request.s_kv = {8192};
  const auto workload = make_workload(request, machine(1, 1));
  ASSERT_EQ(workload->plan().size(), 1U);
  const std::string plan = workload->plan().front();
  for (const std::string part : {"blocks of 1 queries x 4 heads = 4 rows", "tiles of 512 keys",
                                 "3 buffers each of K and V", "of 1 MiB scratch"}) {
    EXPECT_TRUE(contains(plan, part)) << plan;
  }
}

TEST(AttentionPlan, RefusesWhatNoBlockAndNoTileHolds) {
  // 128 / 4 queries are a block; decode works on one.
  WorkloadRequest many_queries = attention(decode, 1, 4, 128);
  many_queries.s_kv = {100};
  many_queries.s_q = {32};
  EXPECT_EQ(error_of(many_queries), "no error");
  many_queries.s_q = {33};
  EXPECT_EQ(error_of(many_queries),
            "a decode takes at most 32 queries with 4 query heads a KV head (128 rows a block), not 33; use "
            "gqa_attention_prefill_short");
  // A tile that the user insists on is not shrunk.
  WorkloadRequest large_tile = attention(decode, 1, 4, 128);
  large_tile.s_kv = {100};
  large_tile.tile = 4096;
  const std::string error = error_of(large_tile);
  EXPECT_TRUE(contains(error, "4 rows of head_dim 128 with tiles of 4096 keys need ")) << error;
  EXPECT_TRUE(contains(error, "pe.scratch.capacity is 1 MiB")) << error;
}

TEST(AttentionPlan, OfARingKeepsAsManyBlocksInScratchAsFit) {
  // A block of 1 query x 128 heads of head_dim 1: 256 B of Q, 512 B each of O, m and l, 1792 B together. A scratch of
  // 1792 MiB more holds 2^20 more of them.
  WorkloadRequest request = attention("gqa_attention_prefill_long", 1, 128, 1);
  request.s_q = {1 << 22};
  request.s_kv = {1};
  SystemConfig config = machine(1, 1);
  const auto blocks_with = [&](Bytes scratch) {
    config.pe.scratch.capacity = scratch;
    return make_workload(request, config)->shape().at("resident_blocks").as_int();
  };
  EXPECT_EQ(blocks_with(Bytes((1792 << 20) + (1 << 20))) - blocks_with(Bytes(1 << 20)), 1 << 20);
}

// ---- what no kernel can do without ----------------------------------------------------------------------------------

TEST(CompulsoryWork, OfAttentionCountsEachVisiblePairOnce) {
  // Given 2 queries of 3 heads that see 5 and 4 of 5 keys, two KV heads on two PEs
  WorkloadRequest request = attention(decode, 2, 3, 16);
  request.s_q = {2};
  request.s_kv = {5};
  for (const bool causal : {false, true}) {
    request.causal = causal;
    const auto work = make_workload(request, machine(1, 3))->compulsory();
    ASSERT_EQ(work.size(), 3U);
    const std::int64_t scores = 3 * (causal ? 4 + 5 : 5 + 5);
    for (const std::size_t pe : {0U, 1U}) {
      // Q and the output: 2 x 3 x 16 elements of 2 B. K, V: 5 x 16.
      EXPECT_EQ(work[pe].read, Bytes((2 * 3 * 16 + 2 * 5 * 16) * 2));
      EXPECT_EQ(work[pe].written, Bytes(2 * 3 * 16 * 2));
      EXPECT_EQ(work[pe].multiply_accumulates, 2 * scores * 16);
    }
    EXPECT_EQ(work[2].read, Bytes(0));
    EXPECT_EQ(work[2].multiply_accumulates, 0);
  }
}

TEST(CompulsoryWork, OfAttentionLeavesOutKeysThatNobodySees) {
  // Given more queries than keys, causal: the last query sees all 3 keys, the others 2, 1, and none.
  WorkloadRequest request = attention(prefill, 1, 1, 16);
  request.s_q = {5};
  request.s_kv = {3};
  const auto work = make_workload(request, machine(1, 1))->compulsory();
  EXPECT_EQ(work[0].multiply_accumulates, 2 * (1 + 2 + 3) * 16);
  EXPECT_EQ(work[0].read, Bytes((5 * 16 + 2 * 3 * 16) * 2));
  EXPECT_EQ(work[0].written, Bytes(5 * 16 * 2));
}

TEST(CompulsoryWork, OfAttentionAddsUpThePrograms) {
  // Given 3 programs on 2 PEs: sequences of 100, 200 and 300 keys
  WorkloadRequest request = attention(decode, 1, 1, 16);
  request.batch = 3;
  request.s_kv = {100, 200, 300};
  request.dtype = DType::f32;
  const auto work = make_workload(request, machine(1, 2))->compulsory();
  EXPECT_EQ(work[0].read, Bytes((2 * 16 + 2 * (100 + 300) * 16) * 4));
  EXPECT_EQ(work[1].read, Bytes((16 + 2 * 200 * 16) * 4));
  EXPECT_EQ(work[0].multiply_accumulates, 2 * (100 + 300) * 16);
  EXPECT_EQ(work[1].multiply_accumulates, 2 * 200 * 16);
}

TEST(CompulsoryWork, OfSoftmaxIsFiveOperationsAScore) {
  // Given 4 heads and 8192 keys: 32768 scores are 128 vectors of 256 lanes. Maximum, fma, sum and conversion take a
  // cycle a vector, exp2 four.
  WorkloadRequest request = attention(decode, 1, 4, 128);
  request.s_kv = {8192};
  EXPECT_EQ(make_workload(request, machine(1, 1))->compulsory()[0].math, Cycles(128 * (1 + 1 + 4 + 1 + 1)));
}

TEST(CompulsoryWork, OfAProductIsSharedByThePesOfOneCube) {
  // Given A 64 x 96, B 96 x 32 in f16 on 2 cubes of 4 PEs
  const auto work = make_workload(product(64, 32, 96), machine(2, 4))->compulsory();
  ASSERT_EQ(work.size(), 8U);
  for (std::size_t pe = 0; pe < 8; ++pe) {
    const bool works = pe < 4;
    EXPECT_EQ(work[pe].read, Bytes(works ? (64 * 96 + 96 * 32) * 2 / 4 : 0)) << pe;
    EXPECT_EQ(work[pe].written, Bytes(works ? 64 * 32 * 2 / 4 : 0)) << pe;
    EXPECT_EQ(work[pe].multiply_accumulates, works ? 64 * 32 * 96 / 4 : 0) << pe;
  }
}

TEST(CompulsoryBounds, AreRoundedDownToPicoseconds) {
  // Given A 200 x 300, B 300 x 131 on one PE of 64 x 64, in blocks of 128 cubed: 4 of C, 3 steps each. A step takes
  // 128^3 / 4,096 = 512 ns. What no kernel can do without is 200 x 131 x 300 of the 12 x 128^3 multiply-accumulates.
  const Json bounds = run(product(200, 131, 300), machine(1, 1)).at("bounds_ps");
  EXPECT_EQ(bounds.at("issued").at("gemm_dataflow").as_int(), 12 * 512'000);
  constexpr std::int64_t needed = 200 * 131 * 300;
  constexpr std::int64_t issued = 12 * 128 * 128 * 128;
  static_assert(12 * 512'000 * needed / issued == 1'918'945);  // 1,918,945.3125
  EXPECT_EQ(bounds.at("compulsory").at("gemm_dataflow").as_int(), 1'918'945);
}

TEST(CompulsoryBounds, OfOneProductThatIsMultipliedWholeAreItsTime) {
  // Given 100 x 100 x 100 in one block: 10^6 / 4,096 = 244.14 cycles, of which a product takes whole ones.
  const Json bounds = run(product(100, 100, 100), machine(1, 1)).at("bounds_ps");
  for (const char* kind : {"compulsory", "issued"}) {
    EXPECT_EQ(bounds.at(kind).at("gemm_dataflow").as_int(), 245'000) << kind;
    EXPECT_EQ(bounds.at(kind).at("gemm_ideal").as_int(), 245'000) << kind;
  }
}

// ---- gemm -----------------------------------------------------------------------------------------------------------

TEST(GemmWorkload, IsRightInEveryTypeAndNoFasterThanItsBounds) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    WorkloadRequest request = product(200, 131, 300);
    request.dtype = dtype;
    for (const tl::Policy policy : kernwave::testing::all_policies) {
      const Json result = run(request, machine(2, 3), DataMode::full, policy);
      EXPECT_TRUE(result.at("error").at("within_tolerance").as_bool()) << name_of(dtype);
      // Blocks of 128 cubed: 2 x 2 of C, 3 steps each, of two loads and one product; one store.
      EXPECT_EQ(result.at("counts").at("dma_read").as_int(), 4 * 3 * 2);
      EXPECT_EQ(result.at("counts").at("gemm").as_int(), 4 * 3);
      EXPECT_EQ(result.at("counts").at("dma_write").as_int(), 4);
      EXPECT_EQ(result.at("bytes").at("written").as_int(), 200 * 131 * size_of(dtype));
      for (const char* kind : {"compulsory", "issued"}) {
        for (const Json::Member& bound : result.at("bounds_ps").at(kind).as_object()) {
          EXPECT_LE(bound.value.as_int(), result.at("latency_ps").as_int()) << kind << " " << bound.key;
        }
      }
      for (const std::string pe : {"pe3", "pe4", "pe5"}) {
        EXPECT_EQ(result.at("stall_ps").at(pe).at("idle"), result.at("latency_ps")) << "of cube 1";
      }
    }
  }
}

TEST(GemmWorkload, ShrinksItsBlocksWithTheScratch) {
  SystemConfig config = machine(1, 1);
  std::int64_t last = 128;
  for (const std::int64_t kib : {1024, 256, 160, 128}) {
    config.pe.scratch.capacity = Bytes(kib << 10);
    const Json result = run(product(150, 150, 150), config, DataMode::full);
    EXPECT_TRUE(result.at("error").at("within_tolerance").as_bool());
    EXPECT_LE(result.at("shape").at("block_k").as_int(), last);
    last = result.at("shape").at("block_k").as_int();
  }
  EXPECT_LT(last, 128);
  config.pe.scratch.capacity = Bytes(64 << 10);
  EXPECT_TRUE(contains(error_of(product(150, 150, 150), config), "pe.scratch.capacity is 64 KiB"));
}

TEST(GemmWorkload, RefusesWhatItCannotMultiply) {
  EXPECT_EQ(error_of(product(0, 1, 1)), "--m: an extent is 1 to 16777216, not 0");
  EXPECT_EQ(error_of(product(1, -1, 1)), "--n: an extent is 1 to 16777216, not -1");
  WorkloadRequest without_k = product(1, 1, 1);
  without_k.k.reset();
  EXPECT_TRUE(contains(error_of(without_k), "--k is missing"));
  WorkloadRequest with_keys = product(1, 1, 1);
  with_keys.s_kv = {1};
  EXPECT_TRUE(contains(error_of(with_keys), "for the attention kernels"));
  WorkloadRequest integers = product(1, 1, 1);
  integers.dtype = DType::int32;
  EXPECT_TRUE(contains(error_of(integers), "--dtype"));
  // A alone: 2^24 x 2^12 x 2 B = 128 GiB.
  EXPECT_EQ(error_of(product(1 << 24, 1, 1 << 12)),
            "A needs 128 GiB in cube 0, of whose 16 GiB (hbm.capacity) 0 B are taken");
}

}  // namespace
}  // namespace kernwave::platform::workload_test
