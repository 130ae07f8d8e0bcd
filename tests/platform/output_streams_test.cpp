// Outputs that are pipes, FIFOs and standard output, and a standard output that cannot be written.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/process.h"

namespace kernwave::platform::output_streams_test {
namespace {

namespace fs = std::filesystem;

using testing::contains;
using testing::Outcome;

const std::string gemm = "$K run gemm --m 256 --n 256 --k 256 --data none ";

class OutputStreams : public kernwave::testing::KernwaveCommandTest {};

void expect_document(const std::string& text) {
  EXPECT_TRUE(parse_json(text, "the document").at("complete").as_bool());
}

// N17
TEST_F(OutputStreams, HaveTheDocumentAndTheSummaryGoesToStandardError) {
  for (const std::string name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    SCOPED_TRACE(name);
    std::string line = gemm;
    line.append("--json ").append(name).append(" | cat");
    const Outcome outcome = shell(line);
    expect_document(outcome.output);
    EXPECT_TRUE(contains(outcome.errors, "plan: ")) << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, "\nlatency  ")) << outcome.errors;
  }
  const Outcome quiet = shell(gemm + "--quiet --json -");
  expect_document(quiet.output);
  EXPECT_EQ(quiet.errors, "");
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputStreams, ThatAreAFileGoOnAtItsEnd) {
  const Outcome outcome =
      shell("echo before > log.txt; " + gemm + "--json /dev/stdout >> log.txt; echo after >> log.txt");
  const std::string log = read_file(path("log.txt"));
  ASSERT_EQ(log.substr(0, 7), "before\n");
  ASSERT_EQ(log.substr(log.size() - 6), "after\n");
  expect_document(log.substr(7, log.size() - 13));
  EXPECT_TRUE(contains(outcome.errors, "\nlatency  "));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputStreams, OfTheShellTakeAnOutputEach) {
  const Outcome outcome = shell(gemm + "--json /dev/fd/3 --timeline /dev/fd/4 3> out.json 4> out.pftrace");
  EXPECT_TRUE(contains(outcome.output, "\nlatency  ")) << "the summary is where it always is";
  EXPECT_EQ(outcome.errors, "");
  expect_document(read_file(path("out.json")));
  ASSERT_EQ(shell(gemm + "--quiet --timeline plain.pftrace").exit_code, 0);
  EXPECT_TRUE(read_file(path("out.pftrace")) == read_file(path("plain.pftrace")));
}

TEST_F(OutputStreams, TakeThePageOfAComparison) {
  const Outcome outcome = shell(gemm + "--quiet --json a.json && $K compare a.json a.json --report -");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.output, "<html")) << outcome.output.substr(0, 200);
  EXPECT_TRUE(contains(outcome.errors, "latency")) << outcome.errors;
}

TEST_F(OutputStreams, ThatAreClosedByTheirReaderDoNotKeepOthersFromBeingWritten) {
  // Given a reader that goes after the first of more bytes than a pipe holds
  const Outcome outcome = shell(
      "mkfifo gone; head -c 1 gone > first & "
      "$K run gqa_attention_prefill_short --model llama-3.1-8b --s-kv 2K --data none "
      "--quiet --timeline gone --report report.html; echo $? > code; wait");
  EXPECT_EQ(read_file(path("code")), "1\n");
  EXPECT_EQ(read_file(path("first")).size(), 1U);
  EXPECT_TRUE(contains(outcome.errors, "kernwave: cannot write \"gone\": Broken pipe\n")) << outcome.errors;
  EXPECT_TRUE(fs::exists(path("report.html")));
}

TEST_F(OutputStreams, ThatNobodyReadsAreWaitedForWithAWord) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  // Given a run that writes to a FIFO
  testing::Process run("/bin/sh", {"-c", with_kernwave("exec " + gemm + "--quiet --json fifo 2> said")}, folder_);
  // When nobody reads it, it says so
  while (!fs::exists(path("said")) || read_file(path("said")).empty()) {
    ASSERT_TRUE(run.runs());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(read_file(path("said")), "kernwave: waiting until \"fifo\", a FIFO, is read\n");
  EXPECT_TRUE(run.runs());
  // and goes on when somebody does.
  expect_document(read_file(path("fifo")));
  EXPECT_EQ(run.outcome().exit_code, 0);
}

TEST_F(OutputStreams, ThatNobodyReadsCanBeInterrupted) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  testing::Process run("/bin/sh", {"-c", with_kernwave("exec " + gemm + "--timeline fifo 2> said")}, folder_);
  while (!fs::exists(path("said")) || read_file(path("said")).empty()) {
    ASSERT_TRUE(run.runs());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  run.interrupt(SIGTERM);
  EXPECT_EQ(run.outcome().signal, SIGTERM);
}

// ---- a standard output that cannot be written

TEST_F(OutputStreams, ThatAreFullAreAnErrorOfEveryCommand) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  ASSERT_EQ(shell(gemm + "--quiet --json a.json").exit_code, 0);
  for (const std::string& command :
       {std::string("$K list"), std::string("$K config"), std::string("$K config --keys"), std::string("$K --help"),
        std::string("$K run --help"), std::string("$K --version"), std::string("$K compare a.json a.json"), gemm}) {
    const Outcome outcome = shell(command + " > /dev/full");
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_EQ(outcome.errors, "kernwave: cannot write standard output: the disk is full\n") << command;
  }
  // Who prints nothing has no need of it, and an error says what it is.
  EXPECT_EQ(shell(gemm + "--quiet > /dev/full").exit_code, 0);
  EXPECT_EQ(shell("$K config --config none > /dev/full").exit_code, 2);
}

TEST_F(OutputStreams, ThatAreFullDoNotKeepFilesFromBeingWritten) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const Outcome outcome = shell(gemm + "--json out.json > /dev/full");
  EXPECT_EQ(outcome.exit_code, 1);
  expect_document(read_file(path("out.json")));
  EXPECT_EQ(shell(gemm + "--json - > /dev/full").exit_code, 1);
  // Nor does a standard error change how a command ends.
  EXPECT_EQ(shell("$K list 2> /dev/full").exit_code, 0);
  EXPECT_EQ(shell("$K config --config none 2> /dev/full").exit_code, 2);
  EXPECT_EQ(shell("$K list > /dev/full 2> /dev/full").exit_code, 1);
}

TEST_F(OutputStreams, ThatAreClosedAreNotTakenForAnOutputsFile) {
  const Outcome outcome = shell(gemm + "--json out.json --op-log log.csv <&- >&-");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "kernwave: cannot write standard output: Bad file descriptor\n");
  expect_document(read_file(path("out.json")));
  EXPECT_EQ(read_file(path("log.csv")).substr(0, 12), "id,parent,pe");
  EXPECT_EQ(shell(gemm + "--quiet --json - >&-").exit_code, 2);
  EXPECT_EQ(shell(gemm + "--quiet --json again.json >&- 2>&-").exit_code, 0);
  expect_document(read_file(path("again.json")));
}

}  // namespace
}  // namespace kernwave::platform::output_streams_test
