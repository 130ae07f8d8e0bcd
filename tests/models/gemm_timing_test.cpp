// Cycles of the matrix engine, by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/pe/gemm_timing.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::gemm_timing_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

[[nodiscard]] GemmConfig array(std::int64_t rows, std::int64_t cols, GemmDataflow dataflow,
                               FoldOverlap folds = FoldOverlap::serial) {
  GemmConfig config;
  config.rows = rows;
  config.cols = cols;
  config.dataflow = dataflow;
  config.folds = folds;
  return config;
}

[[nodiscard]] std::int64_t cycles(const GemmConfig& config, GemmShape shape, DType dtype = DType::f16,
                                  GemmStart start = GemmStart::after_idle) {
  return dataflow_cycles(config, shape, dtype, start).count();
}

/// a [m, k] . b [k, n] in f16.
[[nodiscard]] GemmDescriptor product(std::int32_t m, std::int32_t k, std::int32_t n, bool accumulate = false) {
  GemmDescriptor gemm;
  gemm.a = {ScratchAddress(0), m, k, k, 1, DType::f16};
  gemm.b = {ScratchAddress(0), k, n, n, 1, DType::f16};
  gemm.out = {ScratchAddress(0), m, n, n, 1, DType::f32};
  gemm.accumulate = accumulate;
  return gemm;
}

TEST(GemmTiming, IdealKeepsEveryMultiplyAccumulatorBusy) {
  // 2^30 multiply-accumulates on 2^14.
  EXPECT_EQ(cycles(array(128, 128, GemmDataflow::ideal), {1024, 1024, 1024}), 65'536);
  // 3 * 3 * 3 = 27 on 16: rounded up once.
  EXPECT_EQ(cycles(array(4, 4, GemmDataflow::ideal), {3, 3, 3}), 2);
  EXPECT_EQ(cycles(array(4, 4, GemmDataflow::ideal), {1, 1, 1}), 1);
}

TEST(GemmTiming, SerialWeightStationaryMatchesScaleSim) {
  // (K/R) (N/C) folds of 2R + C + M - 2: 8 * 8 * (256 + 128 + 1024 - 2) = 64 * 1406.
  EXPECT_EQ(cycles(array(128, 128, GemmDataflow::weight_stationary), {1024, 1024, 1024}), 89'984);
  // 32 * 32 * (64 + 32 + 1024 - 2) = 1024 * 1118.
  EXPECT_EQ(cycles(array(32, 32, GemmDataflow::weight_stationary), {1024, 1024, 1024}), 1'144'832);
  // M = 1, K = 128, N = 8192: 1 * 64 * (256 + 128 + 1 - 2) = 64 * 383.
  EXPECT_EQ(cycles(array(128, 128, GemmDataflow::weight_stationary), {1, 128, 8192}), 24'512);
}

TEST(GemmTiming, OverlappedWeightStationaryLoadsTheNextFoldsWeightsWhileThisOneStreams) {
  const GemmConfig config = array(4, 4, GemmDataflow::weight_stationary, FoldOverlap::overlapped);
  // K = N = 8: 2 * 2 folds. M = 8: 4 to load, 3 folds of max(4, 8), the last of 8 + 4 + 4 - 2.
  EXPECT_EQ(cycles(config, {8, 8, 8}), 4 + 3 * 8 + 14);
  // M = 2: loading 4 rows of weights takes longer than streaming 2.
  EXPECT_EQ(cycles(config, {2, 8, 8}), 4 + 3 * 4 + 8);
  // K = 5 still needs 2 folds along K; N = 4 one.
  EXPECT_EQ(cycles(config, {8, 5, 4}), 4 + 1 * 8 + 14);
}

TEST(GemmTiming, ACommandThatFollowsWithoutAGapSavesTheFirstWeightsOnlyWhenFoldsOverlap) {
  const GemmShape shape{8, 8, 8};
  const GemmConfig overlapped = array(4, 4, GemmDataflow::weight_stationary, FoldOverlap::overlapped);
  EXPECT_EQ(cycles(overlapped, shape, DType::f16, GemmStart::back_to_back),
            cycles(overlapped, shape, DType::f16, GemmStart::after_idle) - 4);
  for (const GemmConfig& config : {array(4, 4, GemmDataflow::weight_stationary), array(4, 4, GemmDataflow::ideal),
                                   array(4, 4, GemmDataflow::output_stationary),
                                   array(4, 4, GemmDataflow::output_stationary, FoldOverlap::overlapped)}) {
    EXPECT_EQ(cycles(config, shape, DType::f16, GemmStart::back_to_back), cycles(config, shape));
  }
}

TEST(GemmTiming, OutputStationary) {
  // M = N = 8 on 4 x 4: 4 folds; serial, each 2R + C + K - 2.
  EXPECT_EQ(cycles(array(4, 4, GemmDataflow::output_stationary), {8, 5, 8}), 4 * (8 + 4 + 5 - 2));
  // Overlapped draining: 3 folds of max(K, R), the last of K + 2R + C - 2.
  const GemmConfig overlapped = array(4, 4, GemmDataflow::output_stationary, FoldOverlap::overlapped);
  EXPECT_EQ(cycles(overlapped, {8, 5, 8}), 3 * 5 + (5 + 8 + 4 - 2));
  EXPECT_EQ(cycles(overlapped, {8, 2, 8}), 3 * 4 + (2 + 8 + 4 - 2));
  // An array that is not square: rows fold M, columns fold N.
  EXPECT_EQ(cycles(array(2, 8, GemmDataflow::output_stationary), {8, 5, 8}), 4 * (4 + 8 + 5 - 2));
}

// Where rows are not columns, neither can stand for the other.
TEST(GemmTiming, OnANarrowAndOnAWideArrayRowsAndColumnsHaveTheirOwnParts) {
  const auto wide = [](GemmDataflow dataflow, FoldOverlap folds) { return array(2, 8, dataflow, folds); };
  const auto narrow = [](GemmDataflow dataflow, FoldOverlap folds) { return array(8, 2, dataflow, folds); };
  // Weight stationary: rows fold K, columns fold N. M = 3, K = 5, N = 8: 3 x 1 folds on 2 x 8, 1 x 4 on 8 x 2.
  constexpr GemmShape weights{3, 5, 8};
  constexpr GemmDataflow ws = GemmDataflow::weight_stationary;
  // Serial, each 2 R + C + M - 2.
  EXPECT_EQ(cycles(wide(ws, FoldOverlap::serial), weights), 3 * (4 + 8 + 3 - 2));
  EXPECT_EQ(cycles(narrow(ws, FoldOverlap::serial), weights), 4 * (16 + 2 + 3 - 2));
  // Overlapped: R to load, all folds but the last max(R, M), the last M + R + C - 2.
  EXPECT_EQ(cycles(wide(ws, FoldOverlap::overlapped), weights), 2 + 2 * 3 + (3 + 2 + 8 - 2));
  EXPECT_EQ(cycles(narrow(ws, FoldOverlap::overlapped), weights), 8 + 3 * 8 + (3 + 8 + 2 - 2));
  // Behind another product the R to load are hidden.
  EXPECT_EQ(cycles(wide(ws, FoldOverlap::overlapped), weights, DType::f16, GemmStart::back_to_back), 2 * 3 + 11);
  EXPECT_EQ(cycles(narrow(ws, FoldOverlap::overlapped), weights, DType::f16, GemmStart::back_to_back), 3 * 8 + 11);
  // Output stationary: rows fold M, columns fold N. M = 8, K = 3, N = 8: 4 x 1 folds on 2 x 8, 1 x 4 on 8 x 2.
  constexpr GemmShape outputs{8, 3, 8};
  constexpr GemmDataflow os = GemmDataflow::output_stationary;
  // Serial, each 2 R + C + K - 2.
  EXPECT_EQ(cycles(wide(os, FoldOverlap::serial), outputs), 4 * (4 + 8 + 3 - 2));
  EXPECT_EQ(cycles(narrow(os, FoldOverlap::serial), outputs), 4 * (16 + 2 + 3 - 2));
  // Overlapped: all folds but the last max(K, R), the last K + 2 R + C - 2.
  EXPECT_EQ(cycles(wide(os, FoldOverlap::overlapped), outputs), 3 * 3 + (3 + 4 + 8 - 2));
  EXPECT_EQ(cycles(narrow(os, FoldOverlap::overlapped), outputs), 3 * 8 + (3 + 16 + 2 - 2));
  // Not every product fills the array: M = 3 takes 2 folds of 2 rows, N = 3 takes 2 folds of 2 columns.
  EXPECT_EQ(cycles(wide(os, FoldOverlap::serial), {3, 3, 8}), 2 * (4 + 8 + 3 - 2));
  EXPECT_EQ(cycles(narrow(os, FoldOverlap::serial), {8, 3, 3}), 2 * (16 + 2 + 3 - 2));
}

TEST(GemmTiming, TheRateDependsOnTheInputType) {
  GemmConfig config = array(4, 4, GemmDataflow::weight_stationary);
  config.f32_cycles = 4;
  config.f16_cycles = 1;
  config.bf16_cycles = 2;
  const std::int64_t fold = 8 + 4 + 4 - 2;
  EXPECT_EQ(cycles(config, {4, 4, 4}, DType::f16), fold);
  EXPECT_EQ(cycles(config, {4, 4, 4}, DType::bf16), 2 * fold);
  EXPECT_EQ(cycles(config, {4, 4, 4}, DType::f32), 4 * fold);
  config.dataflow = GemmDataflow::ideal;
  EXPECT_EQ(cycles(config, {16, 4, 4}, DType::f32), 4 * (16 * 4 * 4 / 16));
}

TEST(GemmTiming, NoProductIsFasterThanItsOperandsMoveThroughScratch) {
  const GemmConfig ideal = array(64, 64, GemmDataflow::ideal);
  ScratchConfig scratch;
  scratch.bytes_per_cycle = 512;
  // 64 x 1 times 1 x 64: one cycle of multiplying; 128 + 128 bytes in, 16,384 out: 16,640 / 512 = 32.5.
  EXPECT_EQ(gemm_cycles(ideal, scratch, product(64, 1, 64), GemmStart::after_idle), Cycles(33));
  // The accumulator is read as well: 33,024 / 512 = 64.5.
  EXPECT_EQ(gemm_cycles(ideal, scratch, product(64, 1, 64, true), GemmStart::after_idle), Cycles(65));
  // 64 x 512 times 512 x 64: 512 cycles of multiplying; 147,456 bytes: 288.
  EXPECT_EQ(gemm_cycles(ideal, scratch, product(64, 512, 64), GemmStart::after_idle), Cycles(512));
}

// C2: a matrix-vector product is not a full tile.
TEST(GemmTiming, OneRowOfAFullTile) {
  const GemmShape one_row{1, 64, 64};
  const GemmShape full{64, 64, 64};
  // ideal: the multiply-accumulates of one row, 64 * 64 on 64 * 64.
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::ideal), one_row), 1);
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::ideal), full), 64);
  // weight stationary: loading the weights and draining the array remain, only streaming shrinks.
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::weight_stationary), one_row), 128 + 64 + 1 - 2);
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::weight_stationary), full), 128 + 64 + 64 - 2);
  // output stationary: a fold takes all rows, used or not.
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::output_stationary), one_row), 128 + 64 + 64 - 2);
  EXPECT_EQ(cycles(array(64, 64, GemmDataflow::output_stationary), full), 128 + 64 + 64 - 2);
}

TEST(GemmTiming, MoreWorkNeverTakesLess) {
  for (const GemmDataflow dataflow :
       {GemmDataflow::ideal, GemmDataflow::weight_stationary, GemmDataflow::output_stationary}) {
    for (const FoldOverlap folds : {FoldOverlap::serial, FoldOverlap::overlapped}) {
      const GemmConfig config = array(4, 8, dataflow, folds);
      for (std::int64_t m = 1; m < 20; ++m) {
        for (std::int64_t k = 1; k < 20; ++k) {
          for (std::int64_t n = 1; n < 20; ++n) {
            const std::int64_t here = cycles(config, {m, k, n});
            ASSERT_GT(here, 0);
            ASSERT_LE(here, cycles(config, {m + 1, k, n})) << m << " x " << k << " x " << n;
            ASSERT_LE(here, cycles(config, {m, k + 1, n})) << m << " x " << k << " x " << n;
            ASSERT_LE(here, cycles(config, {m, k, n + 1})) << m << " x " << k << " x " << n;
            // No dataflow beats the ideal one.
            ASSERT_GE(here, cycles(array(4, 8, GemmDataflow::ideal), {m, k, n}));
          }
        }
      }
    }
  }
}

/// 64 x 64 times 64 x 64, f16, on 64 x 64, weight stationary, overlapped: R + M + R + C - 2, without the first R when
/// it follows the product before it. Its operands need 64 cycles of scratch bandwidth.
constexpr Picoseconds cycle(1000);
constexpr Picoseconds first_product = (64 + 64 + 64 + 64 - 2) * cycle;
constexpr Picoseconds next_product = (64 + 64 + 64 - 2) * cycle;
constexpr Picoseconds issue_and_dispatch = (6 + 2) * cycle;

[[nodiscard]] SystemConfig weight_stationary_machine() {
  SystemConfig config = one_cube();
  config.pe.gemm = array(64, 64, GemmDataflow::weight_stationary, FoldOverlap::overlapped);
  return config;
}

// C1: one tile, and two in a row.
TEST(GemmTiming, QueuedProductsHideTheirWeightsUnderOneAnother) {
  in_child([] {
    Simulation simulation(weight_stationary_machine());
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.buffer({64, 64}, DType::f16);
          tl.dot(a, a);
          tl.dot(a, a);  // independent: queued behind the first
        },
        tl::Policy::stall_on_use);
    EXPECT_EQ(simulation.latency(), issue_and_dispatch + first_product + next_product);
  });
}

TEST(GemmTiming, AfterAGapTheWeightsAreLoadedAgain) {
  in_child([] {
    Simulation simulation(weight_stationary_machine());
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.buffer({64, 64}, DType::f16);
          tl.wait(tl.dot(a, a));
          tl.dot(a, a);  // comes issue and dispatch after the end of the first
        },
        tl::Policy::stall_on_use);
    EXPECT_EQ(simulation.latency(), 2 * (issue_and_dispatch + first_product));
  });
}

}  // namespace
}  // namespace kernwave::gemm_timing_test
