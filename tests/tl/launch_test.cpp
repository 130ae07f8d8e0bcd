// From a grid of programs to the PEs that run them.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/tl/launch.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
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
[[nodiscard]] std::string refusal(const std::vector<Pe*>& pes, const tl::Grid& grid, const tl::Queues& queues = {}) {
  try {
    tl::launch(
        pes, grid, [](tl::Context&) {}, tl::Policy::lazy, queues);
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

TEST(Launch, OnAPeRunInTheOrderOfTheCallsEachWhenTheOneBeforeHasDrained) {
  in_child([] {
    // Given a product and a store to the PE's own cube behind it, twice on PE 1 and once on PE 0
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    Simulation simulation(config);
    std::vector<std::string> ran;
    std::vector<Picoseconds> began;
    const auto kernel = [&ran, &began](const char* name) {
      return [&ran, &began, name](tl::Context& tl) {
        ran.emplace_back(name);
        began.push_back(now());
        const auto a = tl.zeros({16, 16}, DType::f16);
        tl.store(HbmAddress(CubeId(tl.pe_id().count()), Bytes(0x1000)), tl.dot(a, a));
      };
    };
    tl::launch(simulation.pe(1), kernel("first"));
    tl::launch({&simulation.pe(0), &simulation.pe(1)}, {2, 1, 1}, kernel("second"));
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    // then PE 1 takes twice as long as PE 0, whose accounts sum to the latency.
    ASSERT_EQ(ran.size(), 3U);
    const Picoseconds one = simulation.pe(0).cpu().account().total();
    EXPECT_EQ(began[0], Picoseconds(0));
    EXPECT_EQ(began[1], Picoseconds(0));
    EXPECT_EQ(began[2], one);
    EXPECT_EQ(ran[2], "second");
    EXPECT_EQ(simulation.pe(1).cpu().account().total(), one + one);
    EXPECT_EQ(simulation.latency(), one + one);
  });
}

TEST(Launch, OfAProcessOfTheUsersBeginsThenAndThePeIsIdleBefore) {
  in_child([] {
    // Given a run that is held for a process that launches at 5 us
    Simulation simulation(one_cube(1));
    const auto product = [](tl::Context& tl) {
      const auto a = tl.zeros({16, 16}, DType::f16);
      tl.store(HbmAddress(0x1000), tl.dot(a, a));
    };
    Picoseconds drained_at;
    sc_core::sc_event drained;
    simulation.system().ledger().hold();
    tl::launch(simulation.pe(), product);
    sc_core::sc_spawn([&] {
      sc_core::wait(to_sc_time(Picoseconds(5'000'000)));
      tl::launch({&simulation.pe()}, {1, 1, 1}, product, tl::Policy::lazy, {}, [&drained](PeId) { drained.notify(); });
      sc_core::wait(drained);
      drained_at = now();
      simulation.system().ledger().release();
    });
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    const StallAccount account = simulation.pe().cpu().account();
    const Picoseconds one = drained_at - Picoseconds(5'000'000);
    EXPECT_EQ(simulation.latency(), drained_at);
    EXPECT_EQ(account.of(TimeCause::idle), Picoseconds(5'000'000) - one);
    EXPECT_EQ(account.total(), drained_at);
    const traces::PathSummary path = simulation.critical_path();
    EXPECT_EQ(path.causes[static_cast<std::size_t>(traces::PathCause::launch)], Picoseconds(5'000'000) - one);
    EXPECT_EQ(path.causes[static_cast<std::size_t>(traces::PathCause::unexplained)], Picoseconds(0));
  });
}

TEST(Launch, AgainKeepsTheSlotsOfQueuesAndGoesOnCountingMessages) {
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    config.pe.ipcq.depth = 2;
    Simulation simulation(config);
    const tl::Queues from_west{{Direction::west}, Bytes(64)};
    const auto send = [](float value) {
      return [value](tl::Context& tl) { tl.send(Direction::east, tl.full({4}, value, DType::f32)); };
    };
    const auto receive = [](std::int64_t at) {
      return [at](tl::Context& tl) {
        tl.store(HbmAddress(CubeId(1), Bytes(at)), tl.recv(Direction::west, {4}, DType::f32));
      };
    };
    for (int i = 0; i < 3; ++i) {
      tl::launch(simulation.pe(0), send(static_cast<float>(i)));
      tl::launch(simulation.pe(1), receive(std::int64_t{0x1000} * i), tl::Policy::lazy, from_west);
    }
    EXPECT_EQ(refusal({&simulation.pe(1)}, {1, 1, 1}, {{Direction::west}, Bytes(128)}),
              "launch: on PE 1, slots for messages from the west have 64 B since an earlier launch, not 128");
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(simulation.read(HbmAddress(CubeId(1), Bytes(0x1000 * i)), DType::f32, 1)[0], static_cast<float>(i));
    }
  });
}

TEST(Launch, APeOfWhichAnEarlierGridMadeNoUseTakesAProgram) {
  in_child([] {
    Simulation simulation(one_cube(2));
    EXPECT_EQ(refusal({&simulation.pe(0), &simulation.pe(1)}, {1, 1, 1}), "");
    EXPECT_EQ(refusal({&simulation.pe(1)}, {1, 1, 1}), "");
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
  });
}

TEST(Launch, AListWithAPeTwiceOrWithNoneIsRefused) {
  in_child([] {
    Simulation simulation(one_cube(2));
    Pe* const first = &simulation.pe(0);
    Pe* const second = &simulation.pe(1);
    EXPECT_EQ(refusal({first, second, first}, {1, 1, 1}), "launch: PE 0 stands in the list twice");
    EXPECT_EQ(refusal({second, nullptr}, {2, 1, 1}), "launch: one of the PEs is nullptr");
    EXPECT_FALSE(first->cpu().has_program());
    EXPECT_FALSE(second->cpu().has_program());
  });
}

// N20
TEST(Launch, AfterTheSimulationHasBegunFindsOnlySlotsThatWereDeclaredBefore) {
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    Simulation simulation(config);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(
        refusal({&simulation.pe(1)}, {1, 1, 1}, {{Direction::west}, Bytes(64)}),
        "launch: PE 1 has no slots for messages from the west: no launch before the simulation began has declared "
        "them");
    EXPECT_FALSE(simulation.pe(1).cpu().has_program());
    EXPECT_EQ(simulation.system().ledger().state(), RunLedger::State::finished);  // there is nothing to wait for
    EXPECT_EQ(refusal({&simulation.pe(1)}, {1, 1, 1}), "");
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_TRUE(simulation.pe(1).cpu().drained());
  });
}

// N20
TEST(Launch, FromAKernelIsAnErrorOfThatKernel) {
  in_child([] {
    Simulation simulation(one_cube(2));
    const std::string message =
        simulation.run_failing([&simulation](tl::Context&) { tl::launch(simulation.pe(1), [](tl::Context&) {}); });
    EXPECT_EQ(message, "PE 0, program (0, 0, 0): launch: PE 1: a kernel launches nothing");
  });
}

TEST(Launch, AnEmptyKernelIsRefused) {
  in_child([] {
    Simulation simulation;
    EXPECT_EQ(testing::error_of<std::invalid_argument>([&] { tl::launch(simulation.pe(), tl::Kernel()); }),
              "launch: the kernel is empty");
  });
}

TEST(Launch, AGridTakesNoMemoryAndIsCountedIn64Bits) {
  in_child([] {
    Simulation simulation;
    constexpr std::int64_t large = std::int64_t{1} << 32;
    EXPECT_EQ(refusal({&simulation.pe()}, {large, large, 1}),
              "launch: a grid of 4294967296 x 4294967296 x 1 has more programs than 64 bits can count");
    // 2^62 programs, of which the third ends the run.
    tl::launch({&simulation.pe()}, {4, large, large / 16}, [](tl::Context& tl) {
      if (tl.program_id(0) == 2) throw std::runtime_error("enough");
    });
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::failed);
    EXPECT_EQ(simulation.system().ledger().failures()[0].message, "PE 0, program (2, 0, 0): enough");
  });
}

TEST(Launch, SlotsThatDoNotFitAreRefusedAndNoneIsOpened) {
  in_child([] {
    // Given two PEs of a line and a queue that is too large for scratch, as it is or doubled
    SystemConfig config = one_cube(2);
    Simulation simulation(config);
    for (const std::int64_t bytes : {std::int64_t{600} << 10, std::int64_t{1} << 62, std::int64_t{-1}}) {
      const std::string message = testing::error_of<std::invalid_argument>([&] {
        tl::launch({&simulation.pe(0), &simulation.pe(1)}, {2, 1, 1}, [](tl::Context&) {}, tl::Policy::lazy,
                   {{Direction::north, Direction::south}, Bytes(bytes)});
      });
      EXPECT_NE(message.find("on PE "), std::string::npos) << message;
      EXPECT_NE(message.find(std::to_string(bytes)), std::string::npos) << message;
      EXPECT_EQ(simulation.pe(0).ipcq().slots_size(), Bytes(0));
      EXPECT_FALSE(simulation.pe(0).cpu().has_program());
    }
    // A side that is named twice is one queue.
    tl::launch(simulation.pe(1), [](tl::Context&) {}, tl::Policy::lazy,
               {{Direction::north, Direction::north}, Bytes(1024)});
    EXPECT_EQ(simulation.pe(1).ipcq().slots_size(), Bytes(2 * 1024));
  });
}

// ---- whose context it is

/// The message of a run of two PEs, of which PE 1 uses what it finds of PE 0's.
[[nodiscard]] std::string of_a_foreign_use(const std::function<void(tl::Context&)>& prepare,
                                           const std::function<void(tl::Context& own, tl::Context& other)>& use) {
  Simulation simulation(one_cube(2));
  tl::Context* other = nullptr;
  const auto lender = [&](tl::Context& tl) {
    other = &tl;
    prepare(tl);
    tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
    tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
  };
  const auto borrower = [&](tl::Context& tl) {
    tl.wait(tl.load(HbmAddress(0), {1}, DType::f32));  // until the other one has begun
    use(tl, *other);
  };
  return simulation.run_failing_parts({{0, lender}, {1, borrower}}, {});
}

TEST(Contexts, OfAnotherPeAreNamed) {
  const auto nothing = [](tl::Context&) {};
  const auto expect_refused = [&](const char* operation, const std::function<void(tl::Context&)>& use) {
    in_child([&] {
      const std::string message = of_a_foreign_use(nothing, [&](tl::Context&, tl::Context& other) { use(other); });
      EXPECT_EQ(message.find(std::string("PE 0, ") + operation + " at "), 0U) << message;
      EXPECT_NE(message.find("context of PE 0's program, and system.cube0.pe1.cpu.run uses it"), std::string::npos)
          << message;
    });
  };
  expect_refused("load", [](tl::Context& tl) { tl.load(HbmAddress(0), {4}, DType::f32); });
  expect_refused("zeros", [](tl::Context& tl) { tl.zeros({4}, DType::f32); });
  expect_refused("buffers", [](tl::Context& tl) { (void)tl.buffers(2, {4}, DType::f32); });
  expect_refused("program_id", [](tl::Context& tl) { (void)tl.program_id(0); });
  expect_refused("scratch_scope", [](tl::Context& tl) { (void)tl.scratch_scope(); });
  expect_refused("recv", [](tl::Context& tl) { (void)tl.recv(Direction::north, {4}, DType::f32); });
}

TEST(Contexts, OfAnotherPeAreNamedWhereItsTensorsAreUsedToo) {
  in_child([] {
    std::vector<tl::Tensor> kept;
    const std::string message =
        of_a_foreign_use([&kept](tl::Context& tl) { kept.push_back(tl.zeros({4}, DType::f32)); },
                         [&kept](tl::Context&, tl::Context& other) { other.exp(kept[0]); });
    EXPECT_EQ(message.find("PE 0, exp at "), 0U) << message;
    EXPECT_NE(message.find("system.cube0.pe1.cpu.run uses it"), std::string::npos) << message;
  });
}

TEST(Contexts, DoNotWaitForAnotherPesOperation) {
  in_child([] {
    std::vector<tl::Pending> kept;
    int line = 0;
    const std::string message = of_a_foreign_use(
        [&kept](tl::Context& tl) { kept.push_back(tl.store(HbmAddress(0x1000), tl.zeros({4}, DType::f32))); },
        [&](tl::Context& own, tl::Context&) {
          line = __LINE__ + 1;
          own.wait(kept[0]);
        });
    EXPECT_EQ(message, "PE 1, wait at " + std::string(__FILE__) + ":" + std::to_string(line) +
                           ": the operation belongs to another program's context");
  });
}

TEST(Contexts, AreNotForProcessesOfTheUsers) {
  in_child([] {
    Simulation simulation;
    tl::Context* kept = nullptr;
    std::string message;
    sc_core::sc_spawn(
        [&] {
          sc_core::wait(to_sc_time(Picoseconds(100'000)));
          message = testing::error_of<tl::KernelError>([&] { kept->zeros({4}, DType::f32); });
        },
        "mine");
    simulation.run([&kept](tl::Context& tl) {
      kept = &tl;
      tl.wait(tl.load(HbmAddress(0), {64, 128}, DType::f16));
    });
    EXPECT_EQ(message.find("PE 0, zeros at "), 0U) << message;
    EXPECT_NE(message.find("and mine uses it"), std::string::npos) << message;
  });
}

}  // namespace
}  // namespace kernwave::launch_test
