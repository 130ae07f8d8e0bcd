// What ends a run from outside in its middle, and the line that shows how far it is.
#include "platform/host/interrupt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "platform/files/whole_file.h"
#include "platform/host/progress.h"
#include "platform/json/json.h"
#include "tests/support/child.h"
#include "tests/support/child_outcome.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/process.h"
#include "tests/support/sqlite_query.h"

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

[[nodiscard]] std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

[[nodiscard]] bool has_children(pid_t process) { return !children_of(process).empty(); }

/// It has ended, and nobody has asked how.
[[nodiscard]] bool is_zombie(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.find(") Z ") != std::string::npos;
}

class Interrupts : public kernwave::testing::KernwaveCommandTest {
 protected:
  /// Waits until `condition` holds; so many minutes are there to end a hang.
  [[nodiscard]] static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 60000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  /// The run has begun, and what was told of it fills so much of its files.
  [[nodiscard]] bool begun(const Process& process, std::int64_t bytes = 0) const {
    return eventually([&] {
      return testing::catches(process.id(), SIGTERM) && testing::files_open_in(folder_, process.id()).bytes >= bytes;
    });
  }
};

struct Ending {
  int signal;
  int exit_code;     ///< 128 and the number of the signal, as shells report it
  std::string text;  ///< how the message begins
};

const Ending endings[] = {{SIGINT, 130, "kernwave: interrupted at "},
                          {SIGTERM, 143, "kernwave: interrupted by SIGTERM at "},
                          {SIGHUP, 129, "kernwave: interrupted by SIGHUP at "}};

// A14
TEST_F(Interrupts, EndARunWithAllItsOutputsWholeAndMarked) {
  for (const Ending& ending : endings) {
    SCOPED_TRACE(ending.text);
    Process process(kernwave_executable(), words(long_run + "--json out.json --op-log log.sqlite"), folder_);
    ASSERT_TRUE(begun(process, 1 << 20));
    process.interrupt(ending.signal);
    const Outcome outcome = process.outcome();
    EXPECT_EQ(outcome.exit_code, ending.exit_code);
    EXPECT_TRUE(std::regex_match(
        outcome.errors,
        std::regex(ending.text + "[0-9.]+ [mun]s of simulated time; outputs hold what happened up to there\n")))
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
}

TEST_F(Interrupts, ThatWereIgnoredAtTheStartStayIgnored) {
  // Given a run that nohup has started
  Process process("/usr/bin/env", words("nohup " + kernwave_executable().string() + " " + long_run + "--json out.json"),
                  folder_);
  ASSERT_TRUE(begun(process));
  EXPECT_TRUE(testing::ignores(process.id(), SIGHUP));
  // When its session ends
  process.interrupt(SIGHUP);
  // Then it goes on, until it is told otherwise.
  EXPECT_TRUE(process.runs());
  process.interrupt(SIGTERM);
  EXPECT_EQ(process.outcome().exit_code, 143);
  EXPECT_FALSE(document("out.json").at("complete").as_bool());
}

// `timeout` sends SIGTERM to its child and to the group of both; a shell passes on the terminal's SIGHUP.
TEST_F(Interrupts, ThatComeTwiceFromABatchSystemAskForNothingNew) {
  for (const Ending& ending : {endings[1], endings[2]}) {
    Process process(kernwave_executable(), words(long_run + "--quiet --json out.json"), folder_);
    ASSERT_TRUE(begun(process));
    for (int i = 0; i < 3; ++i) process.interrupt(ending.signal);
    EXPECT_EQ(process.outcome().exit_code, ending.exit_code);
    EXPECT_FALSE(document("out.json").at("complete").as_bool());
  }
}

TEST_F(Interrupts, AndNothingElseLeaveHalfAFileUnderItsFinalName) {
  write_file_atomically(path("out.json"), "older");
  write_file_atomically(path("log.csv"), "older");
  Process process(kernwave_executable(), words(long_run + "--quiet --json out.json --op-log log.csv"), folder_);
  ASSERT_TRUE(begun(process));
  // Whenever one looks, while it runs and while it ends, there is the older file or the new one.
  int looks = 0;
  while (process.runs()) {
    const std::string log = read_file(path("log.csv"));
    EXPECT_TRUE(log == "older" || log.back() == '\n');
    const std::string json = read_file(path("out.json"));
    if (json != "older") {
      EXPECT_NO_THROW((void)parse_json(json, "out.json"));
    }
    if (++looks == 20) process.interrupt(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(process.outcome().exit_code, 143);
  EXPECT_GE(looks, 20);
  EXPECT_NE(read_file(path("log.csv")), "older");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Interrupts, ByAKillLeaveNothing) {
  write_file_atomically(path("log.csv"), "older");
  Process process(kernwave_executable(),
                  words(long_run + "--quiet --op-log log.csv --vcd a.vcd --timeline a.pftrace --json a.json"), folder_);
  ASSERT_TRUE(begun(process, 1 << 20));
  process.interrupt(SIGKILL);
  EXPECT_EQ(process.outcome().signal, SIGKILL);
  EXPECT_EQ(read_file(path("log.csv")), "older");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Interrupts, EndTheHeadlineWithoutItsFiles) {
  for (const Ending& ending : endings) {
    Process process(kernwave_executable(), words("headline --data none --out out"), folder_);
    ASSERT_TRUE(eventually([&] { return testing::catches(process.id(), SIGTERM) && has_children(process.id()); }));
    process.interrupt(ending.signal);
    const Outcome outcome = process.outcome();
    EXPECT_EQ(outcome.exit_code, ending.exit_code);
    EXPECT_EQ(outcome.errors + " at ", ending.text.substr(0, ending.text.size() - 4) + "\n at ");
    EXPECT_TRUE(fs::is_empty(path("out")));
  }
}

TEST_F(Interrupts, OfAParentEndTheProcessesThatSimulateForIt) {
  // Given a headline, and a run whose predictions would be put to the test, each with a process of its own
  for (const std::string& command : {std::string("headline --data none --out out"), long_run + "--verify-what-if"}) {
    Process process(kernwave_executable(), words(command), folder_);
    std::vector<pid_t> children;
    ASSERT_TRUE(eventually([&] {
      children = children_of(process.id());
      return testing::catches(process.id(), SIGTERM) && !children.empty();
    }));
    // When it ends, however
    process.interrupt(SIGKILL);
    EXPECT_EQ(process.outcome().signal, SIGKILL);
    // Then so do they.
    for (const pid_t child : children) {
      EXPECT_TRUE(eventually([child] { return ::kill(child, 0) != 0 || is_zombie(child); })) << command;
    }
  }
}

// The terminal that shows how far the run is has gone when SIGHUP says so.
TEST_F(Interrupts, OfATerminalThatHasGoneLoseNoOutput) {
  testing::OnTerminal process(kernwave_executable(), words(long_run + "--json out.json"), folder_);
  ASSERT_TRUE(eventually([&] { return testing::catches(process.id(), SIGHUP); }));
  process.hang_up();
  EXPECT_EQ(process.exit_code(), 129);
  EXPECT_EQ(document("out.json").at("reason").as_string(), "interrupted");
}

/// What a child says of its end.
[[nodiscard]] std::string end_of_child(const std::function<void()>& body) {
  return testing::run_child_process(
             [&body] {
               for (const int signal : ending_signals) (void)std::signal(signal, SIG_DFL);
               body();
               return std::string();
             },
             testing::usual_time_limit)
      .problem;
}

TEST(InterruptCatcher, LetsASecondCtrlCEndTheProcessAtOnce) {
  for (const Ending& first : endings) {
    EXPECT_EQ(end_of_child([&first] {
                const InterruptCatcher catcher;
                (void)std::raise(first.signal);
                (void)std::raise(SIGINT);
              }),
              "the simulation died of signal " + std::to_string(SIGINT));
  }
}

TEST(InterruptCatcher, RemembersTheFirstSignal) {
  EXPECT_EQ(end_of_child([] {
              const InterruptCatcher catcher;
              (void)std::raise(SIGTERM);
              (void)std::raise(SIGHUP);
              (void)std::raise(SIGTERM);
              if (catcher.caught() != SIGTERM) throw std::runtime_error("another one");
            }),
            "");
}

TEST(InterruptCatcher, NotesOneWhileItLivesAndSetsBackWhatWasBefore) {
  for (const int signal : ending_signals) {
    ASSERT_NE(std::signal(signal, SIG_DFL), SIG_ERR);
    {
      const InterruptCatcher catcher;
      EXPECT_EQ(catcher.caught(), 0);
      (void)std::raise(signal);
      EXPECT_EQ(catcher.caught(), signal);
    }
    EXPECT_EQ(std::signal(signal, SIG_IGN), SIG_DFL);
    {
      // A process that ignores it goes on doing so.
      const InterruptCatcher catcher;
      (void)std::raise(signal);
      EXPECT_EQ(catcher.caught(), 0);
    }
    EXPECT_EQ(std::signal(signal, SIG_DFL), SIG_IGN);
  }
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
