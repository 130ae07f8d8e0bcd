// Resets of PEs while a machine runs: what ends, what runs out, what the other PEs see, and what comes after.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "models/system/pe_resets.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"
#include "tests/support/traced.h"

namespace kernwave::pe_resets_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

[[nodiscard]] HbmAddress at(std::int64_t offset, std::int64_t cube = 0) {
  return HbmAddress(CubeId(cube), Bytes(offset));
}

void simulate_until(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now()), sc_core::SC_RUN_TO_TIME); }

/// Goes on until the reset that was asserted is over. Returns how long it took.
Picoseconds finish_reset(Simulation& simulation, const std::vector<PeId>& pes) {
  const Picoseconds asserted = now();
  const auto goes_on = [&] {
    return std::any_of(pes.begin(), pes.end(), [&](PeId pe) { return simulation.system().resets()->in_reset(pe); });
  };
  do {
    sc_core::sc_start(to_sc_time(Picoseconds(1)), sc_core::SC_RUN_TO_TIME);
  } while (goes_on() && now() < asserted + Picoseconds(10'000'000));
  EXPECT_FALSE(goes_on());
  return now() - asserted;
}

/// Two cubes of two PEs: PE p and PE p + 2 are each other's neighbours to the east and to the west.
[[nodiscard]] SystemConfig two_cubes() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 2;
  config.pe.dma.burst = Bytes(1024);
  config.pe.dma.max_outstanding = 3;
  return config;
}

const tl::Queues from_west{{Direction::west}, Bytes(4096)};

constexpr std::int64_t rounds = 3;

/// Uses all engines and a queue: loads, products by `dot` and by composites, vector operations, stores, and messages
/// around a ring.
[[nodiscard]] tl::Kernel everything(std::int64_t cube) {
  return [cube](tl::Context& tl) {
    const std::int64_t own = tl.pe_id().count() * 0x100000;
    const auto sum = tl.full({32, 32}, 0.0, DType::f32);
    for (std::int64_t i = 0; i < rounds; ++i) {
      const auto scope = tl.scratch_scope();
      const auto a = tl.load(at(own + i * 0x4000, cube), {32, 64}, DType::f16);
      const auto b = tl.load(at(own + i * 0x4000 + 0x2000, cube), {64, 32}, DType::f16);
      const auto p = tl.dot(a, b);
      const auto q = tl.buffer({32, 32}, DType::f32);
      tl.composite(a, tl.ref(at(own + 0x20000, cube), {64, 32}, DType::f16), tl::CompositeOptions().out(q).tile(16));
      const auto r = p + q;
      tl.send(Direction::east, r);
      const auto theirs = tl.recv(Direction::west, {32, 32}, DType::f32);
      tl.add(sum, theirs, tl::out(sum));
      tl.store(at(own + 0x40000 + i * 0x2000, cube), theirs);
    }
    tl.store(at(own + 0x80000, cube), sum);
  };
}

[[nodiscard]] std::vector<Simulation::Part> everything_everywhere() {
  return {{0, everything(0)}, {1, everything(0)}, {2, everything(1)}, {3, everything(1)}};
}

void fill_inputs(Simulation& simulation) {
  for (std::int64_t pe = 0; pe < 4; ++pe) {
    const auto values = testing::tabulate({1024, 64}, DType::f16, [pe](std::int64_t row, std::int64_t col) {
      return static_cast<double>((row * 7 + col * 3 + pe) % 31 - 15) / 8;
    });
    testing::put(simulation, at(pe * 0x100000, pe / 2), values);
  }
}

[[nodiscard]] std::vector<float> results_of(Simulation& simulation) {
  std::vector<float> all;
  for (std::int64_t pe = 0; pe < 4; ++pe) {
    for (std::int64_t i = 0; i < rounds; ++i) {
      const auto part = simulation.read(at(pe * 0x100000 + 0x40000 + i * 0x2000, pe / 2), DType::f32, 1024);
      all.insert(all.end(), part.begin(), part.end());
    }
    const auto sum = simulation.read(at(pe * 0x100000 + 0x80000, pe / 2), DType::f32, 1024);
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return all;
}

/// What was issued at or after `from`, with times from there on and numbers from the first of each PE on.
[[nodiscard]] std::vector<std::string> operations_since(const Simulation& simulation, Picoseconds from) {
  std::vector<std::string> lines;
  std::vector<std::int64_t> first(4, -1);
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.issued < from) continue;
    std::int64_t& zero = first[static_cast<std::size_t>(row.descriptor.id.pe.count())];
    if (zero < 0 || row.descriptor.id.sequence < zero) zero = row.descriptor.id.sequence;
  }
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.issued < from) continue;
    const auto pe = row.descriptor.id.pe.count();
    lines.push_back("PE " + std::to_string(pe) + " " +
                    std::to_string(row.descriptor.id.sequence - first[static_cast<std::size_t>(pe)]) + "." +
                    std::to_string(row.descriptor.id.part) + " " + describe(row.descriptor) + " " +
                    std::to_string((row.issued - from).count()) + " " + std::to_string((row.start - from).count()) +
                    " " + std::to_string((row.end - from).count()));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

struct Outcome {
  std::vector<std::string> operations;
  std::vector<float> results;
};

/// Of a machine that nobody resets, launched at that instant.
[[nodiscard]] std::string text_of(const Outcome& outcome) {
  std::string text;
  for (const std::string& line : outcome.operations) text += line + "\n";
  for (const float value : outcome.results) text += std::to_string(value) + " ";
  return text;
}

[[nodiscard]] std::string fresh_run(tl::Policy policy) {
  return testing::from_child([policy] {
    Simulation simulation(two_cubes());
    fill_inputs(simulation);
    simulation.run_parts(everything_everywhere(), from_west, policy);
    return text_of({operations_since(simulation, Picoseconds(0)), results_of(simulation)});
  });
}

/// Runs `body` once for each policy, in a process of its own, with the text of a run of a machine that nobody resets.
void for_each_policy(const std::function<void(tl::Policy, const std::string& fresh)>& body) {
  for (const tl::Policy policy : testing::all_policies) {
    const std::string fresh = fresh_run(policy);
    SCOPED_TRACE(static_cast<int>(policy));
    in_child([&] { body(policy, fresh); });
  }
}

// ---- what a reset that may come costs

TEST(PeResets, ThatNobodyAssertsChangeNoTime) {
  for (const tl::Policy policy : testing::all_policies) {
    const std::string allowed = testing::from_child([policy] {
      Simulation simulation(two_cubes());
      simulation.system().allow_reset();
      fill_inputs(simulation);
      simulation.run_parts(everything_everywhere(), from_west, policy);
      return text_of({operations_since(simulation, Picoseconds(0)), results_of(simulation)});
    });
    EXPECT_EQ(allowed, fresh_run(policy)) << static_cast<int>(policy);
  }
}

TEST(PeResets, AreRefusedByAMachineThatDoesNotAllowThem) {
  in_child([] {
    Simulation simulation;
    EXPECT_THROW(simulation.system().reset({PeId(0)}), std::logic_error);
  });
}

// ---- what ends

TEST(PeResets, EndTheKernelWhereItWaitsAndForgetThoseThatFollow) {
  in_child([] {
    Simulation simulation(one_cube(2));
    simulation.system().allow_reset();
    bool began_second = false;
    bool unwound = false;
    struct Note {
      bool& set;
      ~Note() { set = true; }
    };
    // A load of 16 KiB takes 20 + 100 + 128 ns from its issue of 8 ns on.
    tl::launch(simulation.pe(0), [&unwound](tl::Context& tl) {
      const Note note{unwound};
      tl.wait(tl.load(at(0), {64, 128}, DType::f16));
      ADD_FAILURE() << "the kernel goes on";
    });
    tl::launch(simulation.pe(0), [&began_second](tl::Context&) { began_second = true; });
    tl::launch(simulation.pe(1), [](tl::Context& tl) { tl.wait(tl.load(at(0), {64, 128}, DType::f16)); });
    // When it is reset at 100 ns
    simulate_until(Picoseconds(100'000));
    simulation.system().reset({PeId(0)});
    sc_core::sc_start(to_sc_time(Picoseconds(1)));
    EXPECT_TRUE(unwound);
    // then the read that the memory has runs out, until 136 + 160 ns after the other PE's, and nobody fails.
    EXPECT_TRUE(simulation.system().resets()->in_reset(PeId(0)));
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_FALSE(simulation.system().resets()->in_reset(PeId(0)));
    EXPECT_FALSE(began_second);
    EXPECT_TRUE(simulation.pe(0).cpu().drained());
    EXPECT_EQ(simulation.pe(0).cpu().account().total(), Picoseconds(100'000));
    EXPECT_EQ(simulation.pe(0).cpu().account().of(TimeCause::load), Picoseconds(92'000));
  });
}

TEST(PeResets, OfAKernelThatPaysForAnIssueCountThatPartOfIt) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.issue.math = Cycles(1000);
    Simulation simulation(config);
    simulation.system().allow_reset();
    tl::launch(simulation.pe(), [](tl::Context& tl) { tl.full({4}, 1.0, DType::f32); });
    simulate_until(Picoseconds(300'000));
    simulation.system().reset({PeId(0)});
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(simulation.pe().cpu().account().of(TimeCause::issue), Picoseconds(300'000));
    EXPECT_EQ(simulation.pe().cpu().operations(), 0);
    EXPECT_TRUE(simulation.rows().empty());
  });
}

TEST(PeResets, PassThroughHandlersOfAKernelThatCatchesEverything) {
  in_child([] {
    Simulation simulation(one_cube());
    simulation.system().allow_reset();
    int caught = 0;
    tl::launch(simulation.pe(), [&caught](tl::Context& tl) {
      for (int i = 0; i < 3; ++i) {
        try {
          tl.wait(tl.load(at(0), {64, 128}, DType::f16));
          ADD_FAILURE() << "a load of a kernel that was reset is complete";
        } catch (...) {
          ++caught;
        }
      }
    });
    simulate_until(Picoseconds(50'000));
    simulation.system().reset({PeId(0)});
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(caught, 3);
    EXPECT_EQ(simulation.pe().cpu().operations(), 1);
  });
}

// ---- what runs out

TEST(PeResets, LetStoresEndThatTheMemoryHasAndDropTheOthers) {
  in_child([] {
    Simulation simulation(one_cube());
    simulation.system().allow_reset();
    // Two stores: each is set up for 20 ns, and asks the memory for its bytes then; the answer comes after 100 ns.
    tl::launch(simulation.pe(), [](tl::Context& tl) {
      const auto x = tl.full({64}, 3.0, DType::f32);
      tl.store(at(0), x);
      tl.store(at(0x10000), x);
    });
    // full: issue 2, dispatch 2, 1 cycle. Stores: issue until 13 and 21 ns, dispatch until 15 and 23; the second setup
    // is done at 55 ns.
    simulate_until(Picoseconds(45'000));
    simulation.system().reset({PeId(0)});
    EXPECT_EQ(run_to_end(simulation.system().ledger()), RunEnd::finished);
    EXPECT_EQ(simulation.read(at(0), DType::f32, 64), std::vector<float>(64, 3.0F));
    EXPECT_EQ(simulation.read(at(0x10000), DType::f32, 64), std::vector<float>(64, 0.0F));
  });
}

TEST(PeResets, LeaveScratchAsItWasAtTheStart) {
  in_child([] {
    Simulation simulation(one_cube());
    simulation.system().allow_reset();
    tl::launch(simulation.pe(), [](tl::Context& tl) { tl.wait(tl.full({1024}, 3.0, DType::f32)); });
    simulate_until(Picoseconds(1'000'000));
    simulation.system().reset({PeId(0)});
    (void)finish_reset(simulation, {PeId(0)});
    ScratchOperand first;
    EXPECT_EQ(*simulation.pe().scratch().tensor(first).data, 0);
  });
}

// ---- the other PEs

TEST(PeResets, LeaveMessagesThatLandedToTheirReceiver) {
  in_child([] {
    Simulation simulation(two_cubes());
    simulation.system().allow_reset();
    const auto sender = [](double value) {
      return [value](tl::Context& tl) {
        tl.send(Direction::east, tl.full({4}, value, DType::f32));
        tl.send(Direction::east, tl.full({4}, value + 1, DType::f32));
        tl.send(Direction::east, tl.full({4}, value + 2, DType::f32));
      };
    };
    const auto receiver = [](tl::Context& tl) {
      {
        const auto scope = tl.scratch_scope();
        tl.store(at(0, 1), tl.recv(Direction::west, {4}, DType::f32));
      }
      tl.wait(tl.load(at(0), {512, 512}, DType::f16));  // 2 us and more of another cube's memory
      for (std::int64_t i = 1; i < 4; ++i) {
        const auto scope = tl.scratch_scope();
        tl.store(at(64 * i, 1), tl.recv(Direction::west, {4}, DType::f32));
      }
    };
    tl::launch(simulation.pe(0), sender(1), tl::Policy::lazy, {{Direction::west}, Bytes(64)});
    tl::launch(simulation.pe(2), receiver, tl::Policy::lazy, {{Direction::west}, Bytes(64)});
    // Given two messages that have landed, of which one is received, and a third that waits for the window
    simulate_until(Picoseconds(1'000'000));
    EXPECT_EQ(simulation.pe(2).ipcq().receives(), 1);
    EXPECT_EQ(simulation.pe(0).ipcq().sends().operations, 2);
    // when the sender is reset, and another kernel sends
    simulation.system().reset({PeId(0)});
    (void)finish_reset(simulation, {PeId(0)});
    simulation.run_parts({{0, sender(11)}}, {{Direction::west}, Bytes(64)});
    // then the receiver gets the second message of the first kernel, and the first two of the second kernel.
    const std::vector<float> values{1, 2, 11, 12};
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(simulation.read(at(64 * static_cast<std::int64_t>(i), 1), DType::f32, 4),
                std::vector<float>(4, values[i]));
    }
  });
}

TEST(PeResets, LetWhoSendsToThePeWaitUntilTheyAreOver) {
  in_child([] {
    Simulation simulation(two_cubes());
    simulation.system().allow_reset();
    const auto sender = [](tl::Context& tl) {
      for (int i = 0; i < 4; ++i) tl.send(Direction::east, tl.full({4}, 1.0 + i, DType::f32));
    };
    const auto receiver = [](tl::Context& tl) {
      for (std::int64_t i = 0; i < 2; ++i) tl.store(at(64 * i, 1), tl.recv(Direction::west, {4}, DType::f32));
    };
    const auto sleeper = [](tl::Context& tl) { tl.wait(tl.load(at(0, 1), {512, 512}, DType::f16)); };
    // Given a message that a PE has not received, so that the next one waits
    tl::launch(simulation.pe(0), sender, tl::Policy::lazy, {{Direction::west}, Bytes(64)});
    tl::launch(simulation.pe(2), sleeper, tl::Policy::lazy, {{Direction::west}, Bytes(64)});
    simulate_until(Picoseconds(1'000'000));
    EXPECT_FALSE(simulation.pe(0).cpu().drained());
    // when that PE is reset, and a kernel receives
    simulation.system().reset({PeId(2)});
    (void)finish_reset(simulation, {PeId(2)});
    simulation.run_parts({{2, receiver}}, {{Direction::west}, Bytes(64)});
    // then that message is lost, and those come that had waited.
    EXPECT_EQ(simulation.read(at(0, 1), DType::f32, 4), std::vector<float>(4, 2.0F));
    EXPECT_EQ(simulation.read(at(64, 1), DType::f32, 4), std::vector<float>(4, 3.0F));
  });
}

// ---- what comes after

TEST(PeResets, DoNotDependOnTheOrderOfProcesses) {
  // PEs are reset in the very instants in which operations are issued, served, answered and received.
  std::vector<std::string> texts;
  for (const auto order :
       {ConstructionOrder::ascending, ConstructionOrder::descending, ConstructionOrder::interleaved}) {
    texts.push_back(testing::from_child([order] {
      Simulation simulation(two_cubes(), DataMode::full, order);
      simulation.system().allow_reset();
      fill_inputs(simulation);
      for (const std::int64_t instant : {8'000, 10'000, 30'000, 131'000, 152'000, 500'000}) {
        for (const auto& part : everything_everywhere()) {
          tl::launch(simulation.pe(part.pe), part.kernel, tl::Policy::lazy, from_west);
        }
        simulate_until(now() + Picoseconds(instant));
        const std::vector<PeId> all{PeId(0), PeId(1), PeId(2), PeId(3)};
        simulation.system().reset(all);
        (void)finish_reset(simulation, all);
      }
      simulation.run_parts(everything_everywhere(), from_west);
      return simulation.log_text();
    }));
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

TEST(PeResets, AThousandAtRandomInstantsLeaveAMachineAsFreshAsItWas) {
  for_each_policy([](tl::Policy policy, const std::string& fresh) {
    Simulation simulation(two_cubes());
    simulation.system().allow_reset();
    fill_inputs(simulation);
    std::mt19937 random(5);
    const std::vector<PeId> all{PeId(0), PeId(1), PeId(2), PeId(3)};
    std::vector<std::size_t> pools_early;
    std::int64_t resets = 0;
    const auto pools = [&simulation] {
      std::vector<std::size_t> sizes;
      for (std::int64_t id = 0; id < 4; ++id) {
        Pe& pe = simulation.pe(id);
        for (const std::size_t size :
             {pe.cpu().command_pool().size(), pe.scheduler().command_pool().size(),
              pe.dma().read().request_pool().size(), pe.dma().write().request_pool().size(), pe.ipcq().pool().size()}) {
          sizes.push_back(size);
        }
      }
      return sizes;
    };
    while (resets < 1000) {
      // Given kernels on all PEs that send each other messages
      for (const auto& part : everything_everywhere()) {
        tl::launch(simulation.pe(part.pe), part.kernel, policy, from_west);
      }
      // when some of them are reset at a random instant, and the others, which may wait for them, at a later one
      simulate_until(now() + Picoseconds(std::uniform_int_distribution<std::int64_t>(1, 3'000'000)(random)));
      std::vector<PeId> some;
      for (const PeId pe : all) {
        if (std::uniform_int_distribution<int>(0, 1)(random) == 0) some.push_back(pe);
      }
      simulation.system().reset(some);
      simulate_until(now() + Picoseconds(std::uniform_int_distribution<std::int64_t>(1, 200'000)(random)));
      simulation.system().reset(all);
      (void)finish_reset(simulation, all);
      resets += static_cast<std::int64_t>(some.size() + all.size());
      if (resets > 300 && pools_early.empty()) pools_early = pools();
    }
    EXPECT_EQ(pools(), pools_early);
    // then kernels on all of them take the time that they take on a machine that has just begun, to the picosecond,
    // and their results are the same. (The credits of messages are on their way for a hop.)
    simulate_until(now() + Picoseconds(1'000'000));
    const Picoseconds launched = now();
    simulation.run_parts(everything_everywhere(), from_west, policy);
    EXPECT_EQ(text_of({operations_since(simulation, launched), results_of(simulation)}), fresh);
  });
}

// ---- what shows them

class PeResetsInAWaveform : public testing::TracedTest {};

TEST_F(PeResetsInAWaveform, LeaveEveryQueueOfThePeEmpty) {
  in_child([this] {
    testing::Traced traced(two_cubes(), options());
    Simulation& simulation = traced.simulation();
    simulation.system().allow_reset();
    std::int64_t shown = 0;
    // Given a PE with loads, products and messages on their way
    for (const auto& part : everything_everywhere()) {
      tl::launch(simulation.pe(part.pe), part.kernel, tl::Policy::stall_on_use, from_west);
    }
    simulate_until(Picoseconds(400'000));
    const std::vector<PeId> all{PeId(0), PeId(1), PeId(2), PeId(3)};
    simulation.system().reset(all);
    (void)finish_reset(simulation, all);
    const testing::Vcd vcd = traced.close();
    for (const auto& [name, signal] : vcd.signals) {
      const bool counts = name.find("pe0.") != std::string::npos && name.find("state") == std::string::npos &&
                          name.find("operation") == std::string::npos;
      if (!counts) continue;
      if (signal.most() > 0) ++shown;
      EXPECT_EQ(signal.changes.back().second, 0U) << name;
    }
    EXPECT_GT(shown, 5);
  });
}

}  // namespace
}  // namespace kernwave::pe_resets_test
