// What a run is checked for, and how it ends when something is found.
#include "platform/run/run_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "platform/run/simulate.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/own_workload.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::run_checks_test {
namespace {

using testing::contains;
using testing::error_of;
using testing::in_child;
using testing::Outcome;
using testing::own_request;
using testing::OwnWorkload;
using testing::words;

constexpr CheckRequest strict{true, false};
constexpr CheckRequest trap_nan{false, true};

[[nodiscard]] std::string error_of_run(const OwnWorkload& workload, DataMode data, const CheckRequest& checks = {}) {
  return error_of([&] { (void)simulate_isolated(own_request(data, checks), workload); });
}

/// A run with data that ends well warns of this alone, in its outcome and in its document.
void expect_warning(const tl::Kernel& kernel, const std::string& warning) {
  in_child([&] {
    const RunOutcome outcome = simulate(own_request(DataMode::full), OwnWorkload(kernel), {});
    EXPECT_EQ(outcome.warnings, std::vector<std::string>{warning});
    EXPECT_EQ(outcome.document.at("warnings"), Json::array({warning}));
    EXPECT_TRUE(outcome.document.at("complete").as_bool());
  });
}

/// The start of the message, and nothing but one line.
void expect_one_line(const std::string& message, const std::string& start) {
  EXPECT_EQ(message.substr(0, start.size()), start);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

// ---- races ------------------------------------------------------------------------------------------------------

/// Programs 0 and 1 store to the same bytes.
void race(tl::Context& tl) {
  if (tl.program_id(0) < 2) tl.store(HbmAddress(0x40), tl.zeros({4, 8}, DType::f16));
}
constexpr int race_line = __LINE__ - 2;

[[nodiscard]] std::string race_warning() {
  const std::string store = fmt::format("memory/dma_write of 4x8 f16 at {}:{}", __FILE__, race_line);
  return fmt::format(
      "race: PE 0, {0}, and PE 1, {0} use the same bytes of HBM, cube 0 from offset "
      "0x40 to 0x7f, and no message puts one before the other",
      store);
}

TEST(RacesOfARun, AreWarningsWithData) { expect_warning(race, race_warning()); }

TEST(RacesOfARun, AreErrorsWhenTheRunIsStrictWithDataAndWithout) {
  const OwnWorkload workload(race);
  EXPECT_EQ(error_of_run(workload, DataMode::full, strict), race_warning());
  EXPECT_EQ(error_of_run(workload, DataMode::none, strict), race_warning());
}

TEST(RacesOfARun, AreNotLookedForWithoutDataUnlessItIsStrict) {
  EXPECT_EQ(simulate_isolated(own_request(DataMode::none), OwnWorkload(race)).at("warnings"), Json::array());
}

TEST(RacesOfARun, AreToldBesideAKernelError) {
  const OwnWorkload workload([](tl::Context& tl) {
    race(tl);
    if (tl.program_id(0) == 1) throw std::runtime_error("enough");
  });
  const std::string error = "kernel error: PE 1, program (1, 0, 0): enough\n";
  EXPECT_EQ(error_of_run(workload, DataMode::full), error + "warning: " + race_warning());
  EXPECT_EQ(error_of_run(workload, DataMode::full, strict), error + race_warning());
}

TEST(RacesOfARun, OfManyLinesAreToldUpToTwenty) {
  // Given a program whose loads of 25 lines meet the store of another
  const OwnWorkload workload([](tl::Context& tl) {
    const auto x = tl.zeros({4}, DType::f32);
    if (tl.program_id(0) == 2) tl.store(HbmAddress(0), x);
    if (tl.program_id(0) != 0) return;
    tl.wait(tl.load(HbmAddress(0x1000), {4}, DType::f32));  // until long after the store
    for (int line = 1; line <= 25; ++line) tl.load(HbmAddress(0), {4}, DType::f32, {}, {"kernel.cpp", line});
  });
  const std::string message = error_of_run(workload, DataMode::none, strict);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20) << message;
  EXPECT_TRUE(contains(message, "\nrace: and 5 more")) << message;
}

// ---- reads of what nobody has written -----------------------------------------------------------------------------

void read_a_buffer(tl::Context& tl) {
  if (tl.program_id(0) == 2) tl.exp(tl.buffer({4, 8}, DType::f32));
}
constexpr int read_line = __LINE__ - 2;

[[nodiscard]] std::string read_warning() {
  return fmt::format(
      "PE 2, math/exp of 4x8 f32 at {}:{} reads what nobody has written: its operand 4x8 f32 in scratch, "
      "from byte 0 of it on",
      __FILE__, read_line);
}

TEST(ReadsOfWhatNobodyHasWritten, AreWarningsWithData) { expect_warning(read_a_buffer, read_warning()); }

TEST(ReadsOfWhatNobodyHasWritten, AreErrorsWhenTheRunIsStrict) {
  EXPECT_EQ(error_of_run(OwnWorkload(read_a_buffer), DataMode::full, strict), read_warning());
}

TEST(ReadsOfWhatNobodyHasWritten, AreNotLookedForWithoutData) {
  const Json result = simulate_isolated(own_request(DataMode::none, strict), OwnWorkload(read_a_buffer));
  EXPECT_EQ(result.at("warnings"), Json::array());
}

TEST(ReadsOfWhatNobodyHasWritten, AreToldBesideADeadlock) {
  const OwnWorkload workload([](tl::Context& tl) {
    read_a_buffer(tl);
    if (tl.program_id(0) == 2) tl.recv(Direction::north, {4}, DType::f32);
  });
  const std::string message = error_of_run(workload, DataMode::full);
  EXPECT_EQ(message.find("deadlock: "), 0U) << message;
  EXPECT_TRUE(contains(message, "\nwarning: " + read_warning())) << message;
}

// ---- the first NaN ------------------------------------------------------------------------------------------------

void make_a_nan(tl::Context& tl) {
  if (tl.program_id(0) != 1) return;
  const auto x = tl.full({4, 8}, -1.0, DType::f32);
  tl.exp(tl.log(x));
}
constexpr int nan_line = __LINE__ - 2;

[[nodiscard]] std::string nan_warning() {
  return fmt::format(
      "PE 1, math/log of 4x8 f32 at {}:{} makes the first NaN: element (0, 0), from operands without one", __FILE__,
      nan_line);
}

TEST(FirstNan, IsAWarningWithData) { expect_warning(make_a_nan, nan_warning()); }

TEST(FirstNan, IsAnErrorWhenTheRunIsStrictOrTheTrapIsSet) {
  const OwnWorkload workload(make_a_nan);
  EXPECT_EQ(error_of_run(workload, DataMode::full, strict), nan_warning());
  EXPECT_EQ(error_of_run(workload, DataMode::full, trap_nan), "kernel error: " + nan_warning());
  EXPECT_EQ(error_of_run(workload, DataMode::full, {true, true}), "kernel error: " + nan_warning());
}

TEST(FirstNan, IsToldThoughTheRunEndsInItsInstant) {
  const OwnWorkload workload([](tl::Context& tl) { tl.log(tl.full({4}, -1.0, DType::f32)); });
  expect_one_line(error_of_run(workload, DataMode::full, trap_nan), "kernel error: PE 0, math/log of 1x4 f32 at ");
}

// ---- no progress ------------------------------------------------------------------------------------------------

TEST(NoProgressOfARun, NamesEachPeThatWaitsAndForHowLongNothingMoved) {
  // Given programs that wait for messages, and somebody outside who holds the activity that is to send them and never
  // does, while his clock ticks
  OwnWorkload workload([](tl::Context& tl) {
    if (tl.program_id(0) > 0) tl.recv(Direction::north, {4}, DType::f32);
  });
  workload.prepare = [](System& system) {
    system.ledger().activity_begins();
    sc_core::sc_spawn(
        [] {
          while (true) sc_core::wait(to_sc_time(Picoseconds(1'000'000)));
        },
        "clock");
  };
  RunRequest request = own_request(DataMode::none);
  request.configuration = load_configuration({"ahbm", {"run.no_progress_limit=50 us"}});
  const std::string message = error_of([&] { (void)simulate_isolated(request, workload); });
  EXPECT_EQ(
      message.find("no progress: for 50.000 us of simulated time (run.no_progress_limit = 50 us) no operation has "
                   "completed or been issued, and these kernels have not ended:\n"),
      0U)
      << message;
  for (const char* line : {"  PE 1 waits for receive: comm/ipcq_recv of 1x4 f32 from PE 0 (north), issued at ",
                           "  PE 2 waits for receive: comm/ipcq_recv of 1x4 f32 from PE 1 (north), issued at "}) {
    EXPECT_TRUE(contains(message, line)) << message;
  }
}

// ---- stacks -----------------------------------------------------------------------------------------------------

/// Goes down until it may not.
[[gnu::noinline]] std::int64_t deep(std::int64_t depth) {  // NOLINT(misc-no-recursion): that is the point
  volatile std::int64_t here[512] = {depth};               // NOLINT(cppcoreguidelines-avoid-c-arrays)
  return depth == 0 ? here[0] : deep(depth - 1) + here[511];
}

TEST(StackOverflow, OfAKernelNamesItsThreadAndEndsWithExitCode1) {
  const auto overflow = [] {
    const OwnWorkload workload([](tl::Context& tl) {
      if (tl.program_id(0) == 1) (void)deep(100'000);  // 4 KiB each
    });
    (void)simulate(own_request(DataMode::none), workload);
  };
  EXPECT_EXIT(
      overflow(), ::testing::ExitedWithCode(1),
      "kernwave: stack overflow in system.cube0.pe1.cpu.run: a kernel has 2 MiB of stack \\(run.kernel_stack\\); "
      "keep large arrays on the heap");
}

TEST(StackOverflow, OfADeepKernelIsNoneWithALargerStack) {
  in_child([] {
    std::int64_t sum = -1;
    const OwnWorkload workload([&sum](tl::Context& tl) {
      if (tl.program_id(0) == 1) sum = deep(2'000);  // 8 MiB
    });
    RunRequest request = own_request(DataMode::none);
    request.configuration = load_configuration({"ahbm", {"run.kernel_stack=16 MiB"}});
    (void)simulate(request, workload);
    EXPECT_EQ(sum, 0);
  });
}

// ---- the command line ---------------------------------------------------------------------------------------------

class RunOptionsOfChecks : public testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] Outcome run(const std::string& line) const {
    return testing::start(testing::kernwave_executable(), words(line), folder_);
  }
};

const std::string decode = "run gqa_attention_decode_short --model llama-3.1-8b --s-kv 100 ";

TEST_F(RunOptionsOfChecks, ChangeNothingOfARunThatIsSound) {
  const auto latency_with = [this](const std::string& options) {
    const Outcome outcome = run(decode + options + " --json result.json");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    const Json result = parse_json(read_file(path("result.json")), "result.json");
    EXPECT_EQ(result.at("warnings"), Json::array());
    return result.at("latency_ps").as_int();
  };
  const std::int64_t latency = latency_with("");
  EXPECT_EQ(latency_with("--strict --trap-nan"), latency);
  EXPECT_EQ(latency_with("--strict --data none"), latency);
}

TEST_F(RunOptionsOfChecks, RefuseTheTrapWithoutData) {
  const Outcome outcome = run(decode + "--data none --trap-nan");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors.find("kernwave: --trap-nan: needs --data full: data mode none computes no numbers\n"), 0U)
      << outcome.errors;
}

TEST_F(RunOptionsOfChecks, AreInTheHelp) {
  const std::string help = run("run --help").output;
  for (const char* option : {"--strict", "--trap-nan"}) EXPECT_TRUE(contains(help, option)) << help;
}

}  // namespace
}  // namespace kernwave::platform::run_checks_test
