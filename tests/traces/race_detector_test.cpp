// Races: which accesses of different PEs to the same bytes of HBM are caught, and which are in order.
#include "traces/checks/race_detector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"

namespace kernwave::race_detector_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;
using traces::Access;
using traces::AccessHistory;
using traces::RaceDetector;

constexpr Bytes largest_message(64);
const tl::Shape small{4, 8};      // 64 B of f16
const HbmAddress shared(0x1000);  // the bytes that PEs may meet at
const tl::Queues from_the_north{{Direction::north}, largest_message};

using Parts = std::vector<Simulation::Part>;

/// What is found when each part runs on a PE of its own, in one cube. South of a PE is the next one.
[[nodiscard]] std::vector<std::string> findings_of(const Parts& parts, tl::Policy policy = tl::Policy::lazy) {
  Simulation simulation(one_cube(3));
  RaceDetector detector(simulation.system().config());
  simulation.observe(detector);
  EXPECT_EQ(simulation.run_unchecked(parts, from_the_north, policy), RunEnd::finished);
  return detector.findings();
}

void expect_races(std::size_t count, const Parts& parts, tl::Policy policy = tl::Policy::lazy) {
  in_child([&] {
    const std::vector<std::string> findings = findings_of(parts, policy);
    EXPECT_EQ(findings.size(), count) << (findings.empty() ? "" : findings.front());
  });
}

void store(tl::Context& tl) { tl.store(shared, tl.zeros(small, DType::f16)); }
void load(tl::Context& tl) { tl.load(shared, small, DType::f16); }
void tell_south(tl::Context& tl) { tl.send(Direction::south, tl.zeros({4}, DType::f32)); }
void hear_north(tl::Context& tl) { tl.recv(Direction::north, {4}, DType::f32); }

/// One after another, as a program.
[[nodiscard]] tl::Kernel in_turn(std::vector<tl::Kernel> steps) {
  return [steps = std::move(steps)](tl::Context& tl) {
    for (const tl::Kernel& step : steps) step(tl);
  };
}

TEST(Races, OfAStoreAndALoadNameBothPesOperationsLinesAndTheBytes) {
  in_child([] {
    // Given PE 0, which stores 64 B at 0x1000, and PE 1, which loads 128 B from 0xfe0 on
    constexpr int store_line = __LINE__ + 1;
    const auto findings = findings_of({{0, [](tl::Context& tl) { tl.store(shared, tl.zeros(small, DType::f16)); }},
                                       {1, [](tl::Context& tl) { tl.load(HbmAddress(0xfe0), {64}, DType::f16); }}});
    constexpr int load_line = __LINE__ - 1;
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front(),
              fmt::format("PE 0, memory/dma_write of 4x8 f16 at {0}:{1}, and PE 1, memory/dma_read of 1x64 f16 at "
                          "{0}:{2} use the same bytes of HBM, cube 0 from offset 0x1000 to 0x103f, and no message puts "
                          "one before the other",
                          __FILE__, store_line, load_line));
  });
}

TEST(Races, NeedAWriteAndACommonByte) {
  expect_races(1, {{0, store}, {1, store}});
  expect_races(0, {{0, load}, {1, load}});
  expect_races(0, {{0, store}, {1, [](tl::Context& tl) { tl.load(shared + largest_message, small, DType::f16); }}});
  // The last byte
  expect_races(1, {{0, store}, {1, [](tl::Context& tl) { tl.load(shared + Bytes(63), {1}, DType::boolean); }}});
}

TEST(Races, AreToldOnceForEachPairOfLines) {
  const auto stores = [](tl::Context& tl) {
    for (int i = 0; i < 3; ++i) store(tl);
  };
  expect_races(1, {{0, stores}, {1, stores}});
  expect_races(3, {{0, stores}, {1, stores}, {2, stores}});  // 0 and 1, 0 and 2, 1 and 2
}

TEST(Races, ThereAreNoneBetweenProgramsThatRunInTurnOnOnePe) {
  in_child([] {
    Simulation simulation;  // which expects that there is no race
    simulation.run_grid({2, 1, 1}, store);
  });
}

// ---- messages ---------------------------------------------------------------------------------------------------

TEST(RaceOrder, OfAMessagePutsWhatTheSenderDidBeforeWhatTheReceiverDoesAfter) {
  for (const tl::Policy policy : testing::all_policies) {
    expect_races(0, {{0, in_turn({store, tell_south})}, {1, in_turn({hear_north, load})}}, policy);
    expect_races(0, {{0, in_turn({load, tell_south})}, {1, in_turn({hear_north, store})}}, policy);
  }
}

TEST(RaceOrder, IsMadeByNothingElse) {
  // What the receiver did before it has received
  expect_races(1, {{0, in_turn({store, tell_south})}, {1, in_turn({load, hear_north})}});
  // What the sender does after it has sent, though the receiver has long had the message
  const auto wait_long = [](tl::Context& tl) {
    for (int i = 0; i < 100; ++i) tl.full({256}, 1.0, DType::f32);
  };
  expect_races(1, {{0, in_turn({tell_south, wait_long, store})}, {1, in_turn({hear_north, load})}});
  // A message to somebody else
  expect_races(1, {{0, in_turn({store, tell_south})}, {1, hear_north}, {2, load}});
}

TEST(RaceOrder, LeadsOverAThirdPe) {
  expect_races(
      0, {{0, in_turn({store, tell_south})}, {1, in_turn({hear_north, tell_south})}, {2, in_turn({hear_north, load})}});
  // Not if the one between has sent before it received
  expect_races(
      1, {{0, in_turn({store, tell_south})}, {1, in_turn({tell_south, hear_north})}, {2, in_turn({hear_north, load})}});
}

TEST(RaceOrder, OfAPendingReceiveBeginsWithTheWaitForIt) {
  const auto ask = [](const std::function<void(tl::Context&, const tl::Tensor&)>& then) {
    return [then](tl::Context& tl) { then(tl, tl.recv_async(Direction::north, {4}, DType::f32)); };
  };
  const tl::Kernel sender = in_turn({store, tell_south});
  const auto load_after_the_landing = [](tl::Context& tl, const tl::Tensor&) {
    for (int i = 0; i < 100; ++i) tl.full({256}, 1.0, DType::f32);
    load(tl);
  };
  const auto load_after_a_wait = [](tl::Context& tl, const tl::Tensor& message) {
    tl.wait(message);
    load(tl);
  };
  const auto load_after_a_use = [](tl::Context& tl, const tl::Tensor& message) {
    tl.exp(message);
    load(tl);
  };
  expect_races(1, {{0, sender}, {1, ask(load_after_the_landing)}});
  expect_races(0, {{0, sender}, {1, ask(load_after_a_wait)}});
  expect_races(0, {{0, sender}, {1, ask(load_after_a_use)}});
}

TEST(RaceOrder, MatchesTheMessagesOfOneDirectionOneByOne) {
  // The second message says that the store is done; the first one does not.
  const tl::Kernel sender = in_turn({tell_south, store, tell_south});
  expect_races(0, {{0, sender}, {1, in_turn({hear_north, hear_north, load})}});
  expect_races(1, {{0, sender}, {1, in_turn({hear_north, load, hear_north})}});
}

// ---- strided accesses and composites ------------------------------------------------------------------------------

TEST(Races, OfStridedAccessesCountByteByByte) {
  // 4 rows of 16 B, 32 B apart: PE 0 the even halves, PE 1 the odd ones
  const auto halves = [](Bytes first) {
    return [first](tl::Context& tl) {
      tl.store(shared + first, tl.zeros(small, DType::f16), tl::StoreOptions().strides(16));
    };
  };
  expect_races(0, {{0, halves(Bytes(0))}, {1, halves(Bytes(16))}});
  in_child([&] {
    const auto findings = findings_of({{0, halves(Bytes(0))}, {1, halves(Bytes(14))}});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_NE(findings.front().find("from offset 0x100e to 0x100f"), std::string::npos) << findings.front();
  });
  // Unequal strides: rows at 0, 32, 64, 96 and one at 48
  const auto between = [](tl::Context& tl) { tl.load(shared + Bytes(48), {8}, DType::f16); };
  expect_races(0, {{0, halves(Bytes(0))}, {1, between}});
}

TEST(Races, IncludeWhatACompositeReads) {
  const auto composite = [](tl::Context& tl) {
    const auto a = tl.zeros({4, 16}, DType::f16);
    const auto out = tl.buffer({4, 32}, DType::f32);
    tl.composite(a, tl.ref(shared, {16, 32}, DType::f16), tl::CompositeOptions().out(out).tile(16));
  };
  in_child([&] {
    // The Ref has 16 rows of 64 B; PE 1 writes the second one.
    const auto findings = findings_of(
        {{0, composite}, {1, [](tl::Context& tl) { tl.store(shared + Bytes(64), tl.zeros(small, DType::f16)); }}});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings.front().find("PE 0, composite/gemm of 4x16 f16 . 16x32 f16"), 0U) << findings.front();
    EXPECT_NE(findings.front().find("from offset 0x1040 to 0x107f"), std::string::npos) << findings.front();
  });
  expect_races(0, {{0, in_turn({composite, tell_south})}, {1, in_turn({hear_north, store})}});
}

// ---- the history ------------------------------------------------------------------------------------------------

/// Adds an access; returns the sites that it collides with. Nobody is ordered.
[[nodiscard]] std::vector<std::uint32_t> add(AccessHistory& history, std::int64_t begin, std::int64_t end,
                                             const Access& access) {
  std::vector<std::uint32_t> sites;
  const Bytes size(end - begin);
  history.add(
      {HbmAddress(CubeId(0), Bytes(begin)), 1, size, size}, access, [](const Access&) { return false; },
      [&sites](const Access& earlier, std::int64_t, std::int64_t) { sites.push_back(earlier.site); });
  return sites;
}

TEST(AccessHistories, JoinNeighboursThatWereUsedAlike) {
  AccessHistory history;
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_TRUE(add(history, 64 * i, 64 * (i + 1), {PeId(0), 1, 7}).empty());
  EXPECT_EQ(history.intervals(), 1U);
  // Backwards too, and again
  for (std::int64_t i = 99; i >= 0; --i) EXPECT_TRUE(add(history, 64 * i, 64 * (i + 1), {PeId(0), 2, 8}).empty());
  EXPECT_EQ(history.intervals(), 1U);
}

TEST(AccessHistories, AreCutWhereAnAccessBeginsAndEnds) {
  AccessHistory history;
  EXPECT_TRUE(add(history, 0, 100, {PeId(0), 1, 0, false}).empty());
  EXPECT_TRUE(add(history, 40, 60, {PeId(1), 1, 1, false}).empty());
  EXPECT_EQ(history.intervals(), 3U);  // 0 to 40, to 60, to 100
  EXPECT_EQ(add(history, 0, 40, {PeId(1), 1, 2, true}), std::vector<std::uint32_t>{0});
  EXPECT_EQ(add(history, 59, 60, {PeId(2), 1, 3, true}), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(add(history, 100, 110, {PeId(2), 1, 4, true}), std::vector<std::uint32_t>{});
}

TEST(AccessHistories, ForgetWhatALaterAccessStandsFor) {
  AccessHistory history;
  EXPECT_TRUE(add(history, 0, 8, {PeId(0), 1, 0, false}).empty());
  EXPECT_TRUE(add(history, 0, 8, {PeId(0), 1, 1, true}).empty());   // for the read before it
  EXPECT_TRUE(add(history, 0, 8, {PeId(0), 2, 2, false}).empty());  // not for the write
  EXPECT_EQ(add(history, 0, 8, {PeId(1), 1, 3, false}), std::vector<std::uint32_t>{1});
  EXPECT_EQ(add(history, 0, 8, {PeId(2), 1, 4, true}), (std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace kernwave::race_detector_test
