// From a grid of programs to the PEs that run them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::launch_test {
namespace {

using testing::in_child;
using testing::in_child_for_each_policy;
using testing::one_cube;
using testing::Simulation;
using testing::vector_of;

/// What a program noted about itself.
struct Visit {
  std::int64_t pe;
  std::array<std::int64_t, 3> id;
};

TEST(Launch, EveryProgramOfTheGridRunsOnceOnThePeOfItsNumber) {
  in_child([] {
    Simulation simulation(one_cube(4));
    std::vector<Visit> visits;
    constexpr tl::Grid grid{3, 2, 2};
    simulation.run_grid(grid, [&](tl::Context& tl) {
      visits.push_back({tl.pe_id().count(), {tl.program_id(0), tl.program_id(1), tl.program_id(2)}});
      EXPECT_EQ(tl.num_programs(0), 3);
      EXPECT_EQ(tl.num_programs(1), 2);
      EXPECT_EQ(tl.num_programs(2), 2);
    });
    ASSERT_EQ(visits.size(), 12U);
    std::array<std::int64_t, 12> times_run{};
    std::array<std::int64_t, 4> last_on_pe{-1, -1, -1, -1};
    for (const Visit& visit : visits) {
      const std::int64_t number = visit.id[0] + 3 * (visit.id[1] + 2 * visit.id[2]);
      ++times_run.at(static_cast<std::size_t>(number));
      EXPECT_EQ(visit.pe, number % 4);
      std::int64_t& last = last_on_pe.at(static_cast<std::size_t>(visit.pe));
      EXPECT_LT(last, number);  // dealt in order, run in turn
      last = number;
    }
    EXPECT_EQ(times_run, (std::array<std::int64_t, 12>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  });
}

TEST(Launch, PesBeyondTheGridStayIdle) {
  in_child([] {
    Simulation simulation(one_cube(4));
    simulation.run_grid({2, 1, 1}, [](tl::Context& tl) { tl.zeros({4}, DType::f32); });
    for (std::int64_t pe = 0; pe < 4; ++pe) {
      EXPECT_EQ(simulation.pe(pe).cpu().operations(), pe < 2 ? 1 : 0) << "PE " << pe;
      EXPECT_EQ(simulation.pe(pe).cpu().has_program(), pe < 2) << "PE " << pe;
    }
  });
}

TEST(Launch, ThreeHundredProgramsOnThreePes) {
  in_child([] {
    Simulation simulation(one_cube(3));
    simulation.run_grid({300, 1, 1}, [](tl::Context& tl) {
      tl.store(HbmAddress(static_cast<std::uint64_t>(4 * tl.program_id(0))),
               tl.full({1}, static_cast<double>(tl.program_id(0)), DType::int32));
    });
    EXPECT_EQ(
        testing::get(simulation, HbmAddress(0), {300}, DType::int32),
        testing::tabulate({300}, DType::int32, [](std::int64_t, std::int64_t i) { return static_cast<double>(i); }));
  });
}

TEST(Launch, TheProgramsOfAPeStartWithEmptyScratchAndSeeEachOthersStores) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    testing::put(simulation, HbmAddress(0), vector_of(DType::f32, {1, 2, 3}));
    simulation.run_grid(
        {4, 1, 1},
        [](tl::Context& tl) {
          EXPECT_EQ(tl.scratch_used(), Bytes(0));
          const auto x = tl.load(HbmAddress(0), {3}, DType::f32);
          EXPECT_EQ(x.address(), ScratchAddress(0));
          tl.store(HbmAddress(0), x + x);
        },
        policy);
    EXPECT_EQ(testing::get(simulation, HbmAddress(0), {3}, DType::f32), vector_of(DType::f32, {16, 32, 48}));
  });
}

TEST(Launch, ATensorOfAnEarlierProgramIsAnError) {
  in_child([] {
    Simulation simulation;
    std::vector<tl::Tensor> kept;
    tl::launch({&simulation.pe()}, {2, 1, 1}, [&kept](tl::Context& tl) {
      if (tl.program_id(0) == 1) tl.wait(kept[0]);
      kept.push_back(tl.zeros({5}, DType::f32));
    });
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    ASSERT_EQ(simulation.system().ledger().failures().size(), 1U);
    const std::string message = simulation.system().ledger().failures()[0].message;
    EXPECT_NE(message.find("PE 0, wait"), std::string::npos) << message;
    EXPECT_NE(message.find("scope"), std::string::npos) << message;
  });
}

TEST(Launch, AnErrorNamesThePeOfItsProgram) {
  in_child([] {
    Simulation simulation(one_cube(4));
    tl::launch({&simulation.pe(0), &simulation.pe(3)}, {2, 1, 1}, [](tl::Context& tl) {
      if (tl.program_id(0) == 1) tl.zeros({0}, DType::f32);
    });
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    ASSERT_EQ(simulation.system().ledger().failures().size(), 1U);
    EXPECT_EQ(simulation.system().ledger().failures()[0].message.substr(0, 11), "PE 3, zeros");
  });
}

/// The message of the std::invalid_argument that `launch` throws, empty when it throws none.
[[nodiscard]] std::string refusal(const std::vector<Pe*>& pes, const tl::Grid& grid) {
  try {
    tl::launch(pes, grid, [](tl::Context&) {});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Launch, AnEmptyListOrGridIsRefused) {
  in_child([] {
    Simulation simulation;
    EXPECT_NE(refusal({}, {1, 1, 1}).find("no PE"), std::string::npos);
    EXPECT_NE(refusal({&simulation.pe()}, {0, 1, 1}).find("0 x 1 x 1"), std::string::npos);
    EXPECT_NE(refusal({&simulation.pe()}, {4, 1, 0}).find("4 x 1 x 0"), std::string::npos);
    EXPECT_NE(refusal({&simulation.pe()}, {4, -2, 1}).find("4 x -2 x 1"), std::string::npos);
    EXPECT_FALSE(simulation.pe().cpu().has_program());
  });
}

}  // namespace
}  // namespace kernwave::launch_test
