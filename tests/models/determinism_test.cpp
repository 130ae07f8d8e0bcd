// Times and order depend on the machine and the kernel, and on nothing else.
#include <gtest/gtest.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/contended_machine.h"
#include "tests/support/process.h"
#include "tests/support/simulation.h"

namespace kernwave::determinism_test {
namespace {

using testing::contended_machine;
using testing::from_child;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;

/// Every PE of a cube reads the same channels in the same instants, multiplies, and writes.
void contending_kernel(tl::Context& tl) {
  constexpr std::int64_t rounds = 6;
  const std::int64_t program = tl.program_id(0);
  const CubeId cube(program / 3);
  for (std::int64_t round = 0; round < rounds; ++round) {
    auto scope = tl.scratch_scope();
    const auto a = tl.load(HbmAddress(cube, Bytes(round * 8192)), {32, 64}, DType::f16);
    const auto b = tl.load(HbmAddress(cube, Bytes(0x40000 + round * 8192)), {64, 32}, DType::f16);
    const auto c = tl.dot(a, b);
    const Bytes place(0x100000 + (program * rounds + round) * 4096);
    tl.store(HbmAddress(cube, place), tl.max(c + 1.0F, 1));
  }
}

/// The latency, then the op log without source lines.
[[nodiscard]] std::string log_of(const SystemConfig& config, std::int64_t programs, DataMode mode,
                                 ConstructionOrder order, tl::Policy policy) {
  return from_child([&] {
    Simulation simulation(config, mode, order);
    simulation.run_grid({programs, 1, 1}, contending_kernel, policy);
    return std::to_string(simulation.latency().count()) + " ps\n" + simulation.log_text();
  });
}

[[nodiscard]] std::string contended_log(ConstructionOrder order = ConstructionOrder::ascending,
                                        DataMode mode = DataMode::full, tl::Policy policy = tl::Policy::lazy) {
  return log_of(contended_machine(), 6, mode, order, policy);
}

/// The latency, and 6 operations a round of each PE (two loads, dot, add, max, store).
[[nodiscard]] std::ptrdiff_t lines_of_a_full_log() { return 1 + 6 * 6 * 6; }

TEST(Determinism, TheOrderOfConstructionDoesNotMatter) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    const std::string ascending = contended_log(ConstructionOrder::ascending, DataMode::full, policy);
    EXPECT_EQ(std::count(ascending.begin(), ascending.end(), '\n'), lines_of_a_full_log());
    EXPECT_EQ(contended_log(ConstructionOrder::descending, DataMode::full, policy), ascending) << name_of(policy);
    EXPECT_EQ(contended_log(ConstructionOrder::interleaved, DataMode::full, policy), ascending) << name_of(policy);
  }
}

TEST(Determinism, TheMachineIsContendedIndeed) {
  // Were nobody in anybody's way, one program alone would take as long as six.
  const std::string alone =
      log_of(contended_machine(), 1, DataMode::full, ConstructionOrder::ascending, tl::Policy::lazy);
  const std::string six = contended_log();
  EXPECT_LT(std::stoll(alone), std::stoll(six));
}

TEST(Determinism, DataModeNoneTakesTheSameTimes) {
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    EXPECT_EQ(contended_log(ConstructionOrder::ascending, DataMode::none, policy),
              contended_log(ConstructionOrder::ascending, DataMode::full, policy))
        << name_of(policy);
  }
}

TEST(Determinism, PesThatAKernelDoesNotUseChangeNothing) {
  const auto run = [](std::int64_t cubes, std::int64_t pes_per_cube) {
    SystemConfig config = contended_machine();
    config.cubes = cubes;
    config.pes_per_cube = pes_per_cube;
    return log_of(config, 1, DataMode::full, ConstructionOrder::ascending, tl::Policy::lazy);
  };
  const std::string alone = run(1, 1);
  EXPECT_NE(alone, "");
  EXPECT_EQ(run(1, 8), alone);
  EXPECT_EQ(run(3, 2), alone);
}

// C8
TEST(Determinism, AnyNumberOfPesRuns) {
  for (const std::int64_t pes : {1, 3, 16}) {
    in_child([pes] {
      Simulation simulation(one_cube(pes));
      simulation.run_grid({2 * pes, 1, 1}, [](tl::Context& tl) {
        tl.store(HbmAddress(static_cast<std::uint64_t>(tl.program_id(0)) * 64),
                 tl.full({16}, static_cast<double>(tl.program_id(0)), DType::f32));
      });
      // Two programs on each PE, each with a fill and a store.
      EXPECT_EQ(simulation.rows().size(), static_cast<std::size_t>(4 * pes));
      for (std::int64_t program = 0; program < 2 * pes; ++program) {
        EXPECT_EQ(simulation.read(HbmAddress(static_cast<std::uint64_t>(program) * 64), DType::f32, 16),
                  std::vector<float>(16, static_cast<float>(program)));
      }
    });
  }
}

// ---- A21: processes of their own, whose address spaces differ

constexpr const char* log_file_variable = "KERNWAVE_TEST_OP_LOG";

/// Also what the runs below start: it leaves its log in the file that the environment names.
TEST(Determinism, ARunLeavesItsLog) {
  const std::string log = contended_log();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), lines_of_a_full_log());
  if (const char* file = std::getenv(log_file_variable)) {
    std::ofstream(file) << log << "an address: " << static_cast<const void*>(&log) << "\n";
  }
}

enum class Addresses : std::uint8_t { random, fixed };

/// What a new process running this executable leaves, and an address of its stack.
struct LeftByProcess {
  std::string log;
  std::string address;
};

[[nodiscard]] LeftByProcess in_new_process(Addresses addresses) {
  std::string file = (std::filesystem::temp_directory_path() / "kernwave_op_log_XXXXXX").string();
  const int descriptor = mkstemp(file.data());
  EXPECT_GE(descriptor, 0);
  close(descriptor);
  testing::Arguments before{log_file_variable + ("=" + file)};
  if (addresses == Addresses::fixed) before.insert(before.end(), {"setarch", "--addr-no-randomize"});
  const testing::Outcome outcome =
      testing::start_regression({"--gtest_filter=Determinism.ARunLeavesItsLog", "--gtest_brief=1"}, before);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors << outcome.output;
  const std::string all = text.str();
  const std::size_t end_of_log = all.find("an address: ");
  if (end_of_log == std::string::npos) return {};
  return {all.substr(0, end_of_log), all.substr(end_of_log)};
}

TEST(Determinism, TwentyProcessesWithRandomAddressesAgree) {
  const std::string expected = contended_log();
  std::set<std::string> addresses;
  for (int run = 0; run < 20; ++run) {
    const LeftByProcess left = in_new_process(Addresses::random);
    EXPECT_EQ(left.log, expected) << "run " << run;
    addresses.insert(left.address);
  }
  RecordProperty("distinct_addresses", static_cast<int>(addresses.size()));
}

TEST(Determinism, WithoutAddressRandomisationTheLogIsTheSame) {
  if (personality(0xFFFFFFFF) == -1) GTEST_SKIP() << "this system does not let a process choose";
  const LeftByProcess left = in_new_process(Addresses::fixed);
  EXPECT_EQ(left.log, contended_log());
}

}  // namespace
}  // namespace kernwave::determinism_test
