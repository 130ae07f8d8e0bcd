// Ctrl-C in the middle of a run, and the line that shows how far it is.
#include "platform/run/interrupt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>

#include "platform/files.h"
#include "platform/json/json.h"
#include "platform/run/progress.h"
#include "tests/support/error_text.h"
#include "tests/support/process.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::interrupt_test {
namespace {

namespace fs = std::filesystem;

using testing::contains;
using testing::kernwave_executable;
using testing::Outcome;
using testing::Process;
using testing::words;

/// Most of a minute, unless somebody ends it.
const std::string long_run = "run gqa_attention_prefill_long --model llama-3.1-70b --s-q 8192 --s-kv 128K --data none ";
/// Its progress is looked at once at least, at the beginning.
const std::string short_run = "run gqa_attention_prefill_short --model llama-3.1-8b --s-kv 8192 --data none ";

class Interrupts : public kernwave::testing::TemporaryFolderTest {
 protected:
  /// Waits until `condition` holds, or the time limit has passed.
  [[nodiscard]] static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 6000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  /// Outputs have their temporary files: the run begins.
  [[nodiscard]] bool begun() const {
    return std::any_of(fs::directory_iterator(folder_), fs::directory_iterator(),
                       [](const fs::directory_entry& entry) { return entry.path().extension() == ".tmp"; });
  }

  [[nodiscard]] Json document(const std::string& name) const { return parse_json(read_file(path(name)), name); }
};

// A14
TEST_F(Interrupts, EndARunWithAllItsOutputsWholeAndMarked) {
  Process process(kernwave_executable(), words(long_run + "--json out.json --op-log log.sqlite"), folder_);
  ASSERT_TRUE(eventually([&] { return begun(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.interrupt();
  const Outcome outcome = process.outcome();
  EXPECT_EQ(outcome.exit_code, interrupted_exit_code);
  EXPECT_TRUE(std::regex_match(
      outcome.errors, std::regex("kernwave: interrupted at [0-9.]+ [mun]s of simulated time; outputs hold what "
                                 "happened up to there\n")))
      << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "interrupted before the end")) << outcome.output;
  EXPECT_EQ(entries(), 2U) << "a temporary file is left";

  const Json result = document("out.json");
  EXPECT_FALSE(result.at("complete").as_bool());
  EXPECT_EQ(result.at("reason").as_string(), "interrupted");
  EXPECT_TRUE(result.at("error").is_null());
  const std::int64_t end = result.at("latency_ps").as_int();
  EXPECT_GT(end, 0);

  // The log says so too, and holds operations that ended by then.
  const std::string log = path("log.sqlite");
  EXPECT_EQ(testing::query_text(log, "SELECT value FROM run WHERE key IN ('complete', 'reason') ORDER BY key"),
            "0\ninterrupted\n");
  const auto last = testing::query(log, "SELECT MAX(end_ps) FROM operations");
  EXPECT_GT(std::stoll(last.at(0).at(0)), 0);
  EXPECT_LE(std::stoll(last.at(0).at(0)), end);
}

TEST_F(Interrupts, AndNothingElseLeaveHalfAFileUnderItsFinalName) {
  write_file_atomically(path("out.json"), "older");
  write_file_atomically(path("log.csv"), "older");
  Process process(kernwave_executable(), words(long_run + "--quiet --json out.json --op-log log.csv"), folder_);
  ASSERT_TRUE(eventually([&] { return begun(); }));
  // Whenever one looks, while it runs and while it ends, there is the older file or the new one.
  int looks = 0;
  while (process.runs()) {
    const std::string log = read_file(path("log.csv"));
    EXPECT_TRUE(log == "older" || log.back() == '\n');
    const std::string json = read_file(path("out.json"));
    if (json != "older") {
      EXPECT_NO_THROW((void)parse_json(json, "out.json"));
    }
    if (++looks == 20) process.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(process.outcome().exit_code, interrupted_exit_code);
  EXPECT_GE(looks, 20);
  EXPECT_NE(read_file(path("log.csv")), "older");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Interrupts, ASecondTimeEndTheProcessAtOnce) {
  write_file_atomically(path("log.csv"), "older");
  Process process(kernwave_executable(), words(long_run + "--op-log log.csv"), folder_);
  ASSERT_TRUE(eventually([&] { return begun(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  while (process.runs()) {
    process.interrupt();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(process.outcome().signal, SIGINT);
  EXPECT_EQ(read_file(path("log.csv")), "older");
}

TEST_F(Interrupts, EndTheHeadlineWithoutItsFiles) {
  Process process(kernwave_executable(), words("headline --data none --out out"), folder_);
  ASSERT_TRUE(eventually([&] { return fs::exists(path("out")); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.interrupt();
  const Outcome outcome = process.outcome();
  EXPECT_EQ(outcome.exit_code, interrupted_exit_code);
  EXPECT_EQ(outcome.errors, "kernwave: interrupted\n");
  EXPECT_TRUE(fs::is_empty(path("out")));
}

TEST(InterruptCatcher, NotesOneWhileItLivesAndSetsBackWhatWasBefore) {
  ASSERT_NE(std::signal(SIGINT, SIG_DFL), SIG_ERR);
  {
    const InterruptCatcher catcher;
    EXPECT_FALSE(catcher.caught());
    (void)std::raise(SIGINT);
    EXPECT_TRUE(catcher.caught());
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_IGN), SIG_DFL);
  {
    // A process that ignores it goes on doing so.
    const InterruptCatcher catcher;
    (void)std::raise(SIGINT);
    EXPECT_FALSE(catcher.caught());
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

// ---- progress

class ProgressOfARun : public Interrupts {};

TEST_F(ProgressOfARun, IsALineOfATerminalWhichGoes) {
  const Outcome outcome = testing::start_on_terminal(kernwave_executable(), words(short_run), folder_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(std::regex_search(outcome.errors, std::regex("\rsimulated [0-9.]+ [pnmu]s   [0-9.]+ [kM]?.*operations")))
      << outcome.errors;
  // At the end there are blanks, and the cursor stands at the beginning.
  EXPECT_TRUE(std::regex_search(outcome.errors, std::regex("\r {60,}\r$"))) << outcome.errors;
  EXPECT_FALSE(contains(outcome.errors, "\n"));
}

TEST_F(ProgressOfARun, IsNotShownQuietlyOrElsewhere) {
  const Outcome quiet = testing::start_on_terminal(kernwave_executable(), words(short_run + "--quiet"), folder_);
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.errors, "");
  const Outcome redirected = testing::start(kernwave_executable(), words(short_run), folder_);
  EXPECT_EQ(redirected.exit_code, 0);
  EXPECT_EQ(redirected.errors, "");
}

TEST_F(ProgressOfARun, ChangesNothingInIt) {
  const std::string run = "run gqa_attention_decode_short --model llama-3.1-8b --s-kv 4096 --op-log ";
  const Outcome watched = testing::start_on_terminal(kernwave_executable(), words(run + "watched.csv"), folder_);
  EXPECT_TRUE(contains(watched.errors, "simulated")) << watched.errors;
  (void)testing::start(kernwave_executable(), words(run + "alone.csv"), folder_);
  EXPECT_TRUE(read_file(path("watched.csv")) == read_file(path("alone.csv")));
}

TEST(ProgressText, TellsTimeOperationsRateAndWhatIsLeft) {
  // 12.3 M operations in 4 s are 3.075 M/s; with a tenth done, nine times as long is left.
  ProgressState state{Picoseconds(1'234'000'000), 12'300'000, 4.0, 0.1};
  EXPECT_EQ(progress_text(state), "simulated 1.234 ms   12.3 M operations   3.1 M/s   about 36 s left");
  state.fraction = std::nullopt;
  EXPECT_EQ(progress_text(state), "simulated 1.234 ms   12.3 M operations   3.1 M/s");
  // 4 s x 999 = 3996 s: 66.6 minutes; x 9999 = 39996 s: 11.1 hours
  state.fraction = 0.001;
  EXPECT_TRUE(contains(progress_text(state), "about 67 min left")) << progress_text(state);
  state.fraction = 0.0001;
  EXPECT_TRUE(contains(progress_text(state), "about 11 h left")) << progress_text(state);
  EXPECT_EQ(progress_text({Picoseconds(0), 12, 0.0, std::nullopt}), "simulated 0 ps   12 operations");
}

}  // namespace
}  // namespace kernwave::platform::interrupt_test
