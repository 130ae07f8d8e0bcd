// The file of a timeline: the same every time, compressed or not, and what can go wrong with it.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/policies.h"
#include "tests/support/sanitizer.h"
#include "tests/support/simulation.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timeline_run.h"
#include "traces/timeline/timeline.h"

namespace kernwave::traces::timeline_file_test {
namespace {

using kernwave::testing::all_policies;
using kernwave::testing::busy_machine;
using kernwave::testing::from_child;
using kernwave::testing::in_child;
using kernwave::testing::one_cube;
using kernwave::testing::run_busy;
using kernwave::testing::run_with_timeline;
using kernwave::testing::Simulation;

class TimelineFiles : public kernwave::testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] std::string file() const { return path("timeline.pftrace"); }
};

[[nodiscard]] std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Long enough for every track to go into the file in many blocks.
[[nodiscard]] std::string busy_file(const std::string& path, Compression compression, ConstructionOrder order,
                                    tl::Policy policy = tl::Policy::lazy) {
  return from_child([&] {
    constexpr std::int64_t rounds = 40;
    const auto run = [policy](Simulation& simulation) { run_busy(simulation, policy, rounds); };
    run_with_timeline(path, busy_machine(), run, compression, order);
    return bytes_of(path);
  });
}

TEST_F(TimelineFiles, AreTheSameInEveryRunAndOrderOfConstruction) {
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    for (const tl::Policy policy : all_policies) {
      const std::string first = busy_file(file(), compression, ConstructionOrder::ascending, policy);
      EXPECT_GT(first.size(), 100'000U);
      EXPECT_TRUE(busy_file(path("again"), compression, ConstructionOrder::ascending, policy) == first);
      EXPECT_TRUE(busy_file(file(), compression, ConstructionOrder::descending, policy) == first);
      EXPECT_TRUE(busy_file(file(), compression, ConstructionOrder::interleaved, policy) == first);
    }
  }
}

TEST_F(TimelineFiles, CompressedHoldTheSame) {
  const std::string plain = busy_file(file(), Compression::none, ConstructionOrder::ascending);
  const std::string compressed = busy_file(path("t.gz"), Compression::gzip, ConstructionOrder::ascending);
  EXPECT_LT(compressed.size(), plain.size());
  ASSERT_EQ(std::system(("gunzip '" + path("t.gz") + "'").c_str()), 0);
  EXPECT_TRUE(bytes_of(path("t")) == plain);
}

void add_one(tl::Context& tl) { tl.store(HbmAddress(0), tl.load(HbmAddress(0), {1, 64}, DType::f32) + 1.0F); }

TEST_F(TimelineFiles, OnAFullDiskFailWhenTheyAreClosed) {
  for (const Compression compression : {Compression::none, Compression::gzip}) {
    in_child([compression] {
      EXPECT_EQ(testing::error_of<WriteError>([compression] {
                  run_with_timeline(
                      "/dev/full", one_cube(), [](Simulation& simulation) { simulation.run(add_one); }, compression);
                }),
                "the disk is full");
    });
  }
}

TEST_F(TimelineFiles, ThatCannotBeOpenedFailAtOnce) {
  EXPECT_EQ(testing::error_of<WriteError>([this] { Timeline(path("no/such/folder"), Compression::gzip, one_cube()); }),
            "its folder \"" + path("no/such") + "\" does not exist");
}

// ---- cost

/// Resident memory in KiB at the end of a run of that many additions.
[[nodiscard]] long memory_after(std::int64_t operations) {
  const std::string text = from_child([operations] {
    Connector connector;
    const SystemConfig config = one_cube();
    System system("system", config, DataMode::none, connector);
    Timeline timeline("/dev/null", Compression::none, config);
    system.set_observer(&timeline);
    system.set_channel_observer(&timeline);
    tl::launch(system.pe(PeId(0)), [operations](tl::Context& tl) {
      for (std::int64_t i = 0; i < operations / 2; ++i) {
        auto scope = tl.scratch_scope();
        static_cast<void>(tl.load(HbmAddress(static_cast<std::uint64_t>(i % 64) * 256), {1, 64}, DType::f16) + 1.0F);
      }
    });
    EXPECT_EQ(run_to_end(system.ledger()), RunEnd::finished);
    timeline.close({true, "", system.ledger().end()});
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::to_string(usage.ru_maxrss);
  });
  return text.empty() ? -1 : std::stol(text);
}

TEST(TimelineMemory, DoesNotGrowWithTheRun) {
  if (!testing::freed_memory_is_reused) GTEST_SKIP() << "AddressSanitizer keeps what was freed";
  const long small = memory_after(100'000);
  EXPECT_LT(memory_after(2'000'000), small + 1024);
}

}  // namespace
}  // namespace kernwave::traces::timeline_file_test
