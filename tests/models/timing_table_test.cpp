// Measured times on a grid: exact at the points, linear between them, and what becomes of what lies outside.
#include "models/timing/timing_table.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "models/pe/gemm_timing.h"
#include "models/protocol/descriptor.h"
#include "platform/host/child_process.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/simulation.h"

namespace kernwave::timing_table_test {
namespace {

using testing::contains;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;

TEST(TimingGrid, IsExactAtItsPointsAndLinearBetweenThemRoundedUp) {
  const TimingGrid line({{10, 20, 50}}, {100, 107, 407});
  EXPECT_EQ(line.at({10}), 100);
  EXPECT_EQ(line.at({20}), 107);
  EXPECT_EQ(line.at({50}), 407);
  EXPECT_EQ(line.at({15}), 104);  // 103.5
  EXPECT_EQ(line.at({21}), 117);  // 107 + 300 / 30
}

TEST(TimingGrid, IsLinearAlongEachAxis) {
  // 0 4 / 8 20 / 40 60 / 80 128: last axis fastest.
  const TimingGrid cube({{0, 2}, {0, 4}, {0, 8}}, {0, 4, 8, 20, 40, 60, 80, 128});
  // In the middle: the mean of the eight corners, 340 / 8 = 42.5.
  EXPECT_EQ(cube.at({1, 2, 4}), 43);
  // At (0, 1, 2): (3/4)(3/4) 0 + (3/4)(1/4) 4 + (1/4)(3/4) 8 + (1/4)(1/4) 20 = 0.75 + 1.5 + 1.25 = 3.5.
  EXPECT_EQ(cube.at({0, 1, 2}), 4);
}

TEST(TimingGrid, GoesOnBeyondItsEdgesButNotBelowZero) {
  const TimingGrid line({{10, 20}}, {100, 150});
  EXPECT_EQ(line.at({40}), 250);
  EXPECT_EQ(line.at({5}), 75);
  const TimingGrid steep({{10, 20}}, {10, 110});
  EXPECT_EQ(steep.at({0}), 0);  // -90
  EXPECT_FALSE(steep.holds({9}));
  EXPECT_TRUE(steep.holds({10}));
  EXPECT_TRUE(steep.holds({20}));
  EXPECT_FALSE(steep.holds({21}));
}

TEST(TimingGrid, StaysExactAtItsLimits) {
  constexpr std::int64_t far = TimingGrid::most_coordinate;
  constexpr std::int64_t most = TimingGrid::most_value;
  const TimingGrid cube({{0, far}, {0, far}, {0, far}}, {0, 0, 0, 0, 0, 0, 0, most});
  EXPECT_EQ(cube.at({far, far, far}), most);
  EXPECT_EQ(cube.at({far / 2, far / 2, far / 2}), most / 8);
}

TEST(TimingGrid, RefusesWhatIsNoGrid) {
  const auto error = [](std::vector<std::vector<std::int64_t>> axes, std::vector<std::int64_t> values) {
    return testing::error_of<std::invalid_argument>([&] { (void)TimingGrid(std::move(axes), std::move(values)); });
  };
  EXPECT_EQ(error({}, {}), "a grid has 1 to 3 axes, not 0");
  EXPECT_EQ(error({{}}, {}), "an axis needs at least one point");
  EXPECT_EQ(error({{1, 1}}, {1, 2}), "the points of an axis must ascend: 1 stands before 1");
  EXPECT_EQ(error({{1, 2}, {1, 2}}, {1, 2, 3}), "3 values for 4 points of the axes");
  EXPECT_EQ(error({{1, 2}}, {1, -2}), "the value -2 is not among 0 to 1099511627776");
  EXPECT_EQ(error({{-1, 2}}, {1, 2}), "the points of an axis must be 0 to 16777216");
}

// ---- tables

[[nodiscard]] GemmDescriptor product(std::int64_t m, std::int64_t k, std::int64_t n, DType type, bool accumulate) {
  const auto matrix = [](std::int64_t rows, std::int64_t cols, DType dtype) {
    const auto width = static_cast<std::int32_t>(cols);
    return ScratchOperand{ScratchAddress(0), static_cast<std::int32_t>(rows), width, width, 1, dtype};
  };
  return {matrix(m, k, type), matrix(k, n, type), matrix(m, n, DType::f32), accumulate};
}

const std::vector<std::int64_t> extents_m{4, 16, 64};
const std::vector<std::int64_t> extents_k{32, 64};
const std::vector<std::int64_t> extents_n{32, 64, 96};

/// What the built-in formula says of all shapes of the extents.
[[nodiscard]] TimingTable measured(const PeConfig& config) {
  TimingTable table{"measured.toml", TimingSubject::gemm, TimingUnit::cycles, 0, OutsideTable::refuse, {}};
  for (const DType type : {DType::f16, DType::f32}) {
    for (const bool accumulate : {false, true}) {
      for (const bool follows : {false, true}) {
        std::vector<std::int64_t> cycles;
        for (const std::int64_t m : extents_m) {
          for (const std::int64_t k : extents_k) {
            for (const std::int64_t n : extents_n) {
              cycles.push_back(gemm_cycles(config.gemm, config.scratch, product(m, k, n, type, accumulate),
                                           follows ? GemmStart::back_to_back : GemmStart::after_idle)
                                   .count());
            }
          }
        }
        table.entries.push_back({{{"type", std::string(name_of(type))},
                                  {"accumulates", accumulate ? "true" : "false"},
                                  {"back_to_back", follows ? "true" : "false"}},
                                 {"m", "k", "n"},
                                 TimingGrid({extents_m, extents_k, extents_n}, cycles)});
      }
    }
  }
  return table;
}

/// A systolic array whose products take longer after a gap, at a period of no whole number of picoseconds.
[[nodiscard]] SystemConfig systolic() {
  SystemConfig config = one_cube();
  config.pe.clock = Frequency(1'300'000'000);
  config.pe.gemm.rows = 32;
  config.pe.gemm.cols = 16;
  config.pe.gemm.dataflow = GemmDataflow::weight_stationary;
  config.pe.gemm.folds = FoldOverlap::overlapped;
  return config;
}

void all_products(tl::Context& tl) {
  for (const DType type : {DType::f16, DType::f32}) {
    for (const std::int64_t m : extents_m) {
      for (const std::int64_t k : extents_k) {
        for (const std::int64_t n : extents_n) {
          const auto scope = tl.scratch_scope();
          const auto a = tl.full({m, k}, 0.5, type);
          const auto b = tl.full({k, n}, 2.0, type);
          const auto c = tl.dot(a, b);
          tl.dot(a, b, c);
          tl.wait(c);
        }
      }
    }
  }
}

/// Every operation of a run with its times, and the bound of its products.
[[nodiscard]] std::string run_of(const SystemConfig& config, tl::Policy policy) {
  return platform::text_from_child([&] {
    Simulation simulation(config);
    simulation.run(all_products, policy);
    return simulation.log_text() + std::to_string(simulation.pe().gemm_work().dataflow.count());
  });
}

TEST(TimingTables, FilledFromTheFormulaAreTheFormula) {
  const SystemConfig formula = systolic();
  SystemConfig table = formula;
  apply(measured(formula.pe), table.pe);
  table.pe.gemm.rows = 1;  // of no consequence any more
  for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::stall_on_use}) {
    EXPECT_EQ(run_of(table, policy), run_of(formula, policy));
  }
}

/// f16 products of 16 x 32 . 32 x n take n cycles; 7 more for each command.
[[nodiscard]] TimingTable narrow(OutsideTable outside) {
  return {"narrow.toml",
          TimingSubject::gemm,
          TimingUnit::cycles,
          7,
          outside,
          {{{{"type", "f16"}}, {"m", "n"}, TimingGrid({{16}, {32, 64}}, {32, 64})}}};
}

/// Of one product m x 32 . 32 x n.
[[nodiscard]] Picoseconds time_of(OutsideTable outside, std::int64_t m, std::int64_t n) {
  SystemConfig config = one_cube();
  apply(narrow(outside), config.pe);
  Simulation simulation(config);
  simulation.run([m, n](tl::Context& tl) { tl.dot(tl.zeros({m, 32}, DType::f16), tl.zeros({32, n}, DType::f16)); });
  return simulation.pe().statistics(Engine::gemm).busy;
}

TEST(TimingTables, AddTheirFixedCostToWhatLiesBetweenTheirEntries) {
  in_child([] { EXPECT_EQ(time_of(OutsideTable::refuse, 16, 40), Picoseconds((40 + 7) * 1000)); });
}

TEST(TimingTables, OutsideAskTheFormulaOrGoOn) {
  // By the formula: 64 * 32 * 64 on 64 x 64 multiply-accumulators takes 32 cycles; 4,096 + 4,096 + 16,384 B through the
  // scratch port of 512 B a cycle take 48.
  in_child([] { EXPECT_EQ(time_of(OutsideTable::formula, 64, 64), Picoseconds(48 * 1000)); });
  in_child([] { EXPECT_EQ(time_of(OutsideTable::extrapolate, 16, 96), Picoseconds((96 + 7) * 1000)); });
}

TEST(TimingTables, OtherwiseRefuseWithTheCommandsNameAndLine) {
  in_child([] {
    SystemConfig config = one_cube();
    apply(narrow(OutsideTable::refuse), config.pe);
    Simulation simulation(config);
    const int line = __LINE__ + 3;
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      const auto a = tl.zeros({16, 32}, DType::f16);
      tl.dot(a, tl.zeros({32, 65}, DType::f16));
    });
    EXPECT_EQ(message,
              "PE 0: gemm/dot of 16x32 f16 . 32x65 f16, issued at tests/models/timing_table_test.cpp:" +
                  std::to_string(line) +
                  ", narrow.toml has no time for m = 16, k = 32, n = 65, type f16, accumulates false, back_to_back "
                  "false");
  });
}

TEST(TimingTables, ThatAreNoneAreRefusedBeforeTheRun) {
  PeConfig config;
  const auto error = [&config](const TimingTable& table) {
    return testing::error_of<std::invalid_argument>([&] { apply(table, config); });
  };
  TimingTable table = narrow(OutsideTable::refuse);
  table.entries[0].axes[1] = "w";
  EXPECT_EQ(error(table), "narrow.toml: gemm has no axis \"w\"");
  table = narrow(OutsideTable::refuse);
  table.entries[0].conditions[0].value = "f8";
  EXPECT_EQ(error(table), "narrow.toml: type is none of f32, f16, bf16, int32, bool: \"f8\"");
  EXPECT_FALSE(config.gemm.timing);
}

}  // namespace
}  // namespace kernwave::timing_table_test
