// The outputs of a run: which are refused before it, and what becomes of each at its end.
#include "platform/outputs/outputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/config/configuration.h"
#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/process.h"
#include "tests/support/simulation.h"
#include "traces/files/pending_file.h"

namespace kernwave::platform::outputs_test {
namespace {

namespace fs = std::filesystem;

using testing::contains;
using testing::error_of;
using testing::Outcome;
using testing::words;

const std::string gemm = "run gemm --m 256 --n 256 --k 256 --data none --quiet ";

class Outputs : public kernwave::testing::KernwaveCommandTest {};

// ---- refused before the run

TEST_F(Outputs, WithANameThatDoesNotFitAreRefused) {
  OutputRequest request;
  request.vcd = path("waves.txt");
  EXPECT_EQ(error_of([&] { check_outputs(request); }),
            "--vcd: the name \"" + path("waves.txt") + "\" does not end with .vcd");
  request = {};
  request.op_log = path("log.txt");
  EXPECT_EQ(error_of([&] { check_outputs(request); }),
            "--op-log: the name \"" + path("log.txt") + "\" does not end with .sqlite, .db or .csv");
  request.op_log = path("log.csv");
  EXPECT_EQ(error_of([&] { check_outputs(request); }), "no error");
}

TEST_F(Outputs, OfAnIntervalOfTimeWithoutLengthAreRefused) {
  OutputRequest request;
  request.vcd = path("waves.vcd");
  request.vcd_from = Picoseconds(2'000'000);
  for (const std::int64_t to : {2'000'000, 500'000}) {
    request.vcd_to = Picoseconds(to);
    EXPECT_TRUE(contains(error_of([&] { check_outputs(request); }), "--vcd-from 2 us is not before --vcd-to "));
  }
}

TEST_F(Outputs, ToOneFileAreRefusedUnderWhateverNames) {
  fs::create_directory(path("folder"));
  fs::create_symlink("folder", path("link"));
  fs::create_symlink("folder/out.csv", path("other.csv"));
  for (const std::string& name :
       {path("folder/out.csv"), path("folder/../folder/out.csv"), path("link/out.csv"), path("other.csv")}) {
    OutputRequest request;
    request.json = path("folder/out.csv");
    request.op_log = name;
    EXPECT_EQ(error_of([&] { check_outputs(request); }), "--json and --op-log name the same file, \"" + name + "\"");
  }
  OutputRequest request;
  request.json = path("folder/out.json");
  request.op_log = path("out.json.csv");
  EXPECT_EQ(error_of([&] { check_outputs(request); }), "no error");
}

TEST_F(Outputs, ThatAreRefusedEndTheCommandWith2AndTouchNothing) {
  fs::create_directory(path("folder.csv"));
  write_file_atomically(path("older.csv"), "older");
  struct Case {
    std::string arguments;
    std::string message;
  };
  const Case cases[] = {
      {"--op-log older.csv --json older.csv", "--json and --op-log name the same file"},
      {"--op-log log", "does not end with .sqlite, .db or .csv"},
      {"--op-log folder.csv", "it is a folder"},
      {"--op-log nowhere/log.csv", "\"nowhere\" does not exist"},
      {"--op-log older.csv --vcd-scope pe0.*", "--vcd-scope requires --vcd"},
      {"--op-log older.csv --vcd-from 10ns", "--vcd-from requires --vcd"},
      {"--op-log older.csv --vcd-to 10ns", "--vcd-to requires --vcd"},
      {"--op-log older.csv --vcd a.vcd --vcd-to 10", "--vcd-to: "},
      {"--op-log older.csv --vcd a.vcd --vcd-from 10ns --vcd-to 10ns", "--vcd-from 10 ns is not before --vcd-to 10 ns"},
      {"--op-log older.csv --vcd a.txt", "does not end with .vcd"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.arguments);
    const Outcome outcome = run(words(gemm + bad.arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.errors, bad.message)) << outcome.errors;
    EXPECT_EQ(read_file(path("older.csv")), "older");
    EXPECT_EQ(entries(), 2U);
  }
}

TEST_F(Outputs, InAFolderThatMayNotBeWrittenAreRefused) {
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const Outcome outcome = run(words(gemm + "--op-log log.csv"), testing::User::without_rights);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "may not be written (permission denied)")) << outcome.errors;
  EXPECT_EQ(entries(), 0U);
}

// ---- at the end of a run

TEST_F(Outputs, ReplaceOlderFiles) {
  write_file_atomically(path("log.csv"), "older");
  write_file_atomically(path("out.json"), "older");
  EXPECT_EQ(run(words(gemm + "--op-log log.csv --json out.json")).exit_code, 0);
  const Json result = document("out.json");
  EXPECT_TRUE(result.at("complete").as_bool());
  EXPECT_TRUE(result.at("reason").is_null());
  EXPECT_EQ(read_file(path("log.csv")).substr(0, 12), "id,parent,pe");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Outputs, OfAFailedRunSaySoAndItHasNoDocument) {
  const Outcome outcome =
      run(words("run gqa_attention_decode_short --model llama-3.1-8b --s-kv 100 --data none "
                "--set hbm.latency=1ms --set run.no_progress_limit=1us --op-log log.csv --json out.json"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors.substr(0, 22), "kernwave: no progress:");
  EXPECT_TRUE(contains(read_file(path("log.csv")), "no progress")) << read_file(path("log.csv"));
  EXPECT_EQ(entries(), 1U);
}

// ---- an output that cannot be written

TEST_F(Outputs, OnAFullDiskAreNamedAndTheOthersAreWritten) {
  // Given a disk that takes 10 or 20 KiB a file (a block of `ulimit` is one of 512 or 1024 B), and older files
  write_file_atomically(path("log.csv"), "older");
  write_file_atomically(path("out.json"), "older");
  // When a run leaves a log of 5 KB and a document of 36 KB
  const Outcome outcome =
      testing::start("/bin/sh",
                     {"-c", "trap '' XFSZ; ulimit -f 20; exec '" + testing::kernwave_executable().string() + "' " +
                                gemm + "--op-log log.csv --json out.json"},
                     folder_);
  // Then the log is new, the document the older one, and the message names it.
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "kernwave: cannot write \"out.json\": File too large\n");
  EXPECT_EQ(read_file(path("log.csv")).substr(0, 12), "id,parent,pe");
  EXPECT_EQ(read_file(path("out.json")), "older");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Outputs, OnAFullDeviceAreNamed) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  fs::create_symlink("/dev/full", path("log.csv"));
  const Outcome outcome = run(words(gemm + "--op-log log.csv --json /dev/full"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors,
            "kernwave: cannot write \"log.csv\": the disk is full\n"
            "kernwave: cannot write \"/dev/full\": the disk is full\n");
}

/// A writer that leaves the note and how much it was told; or that fails.
class StandIn : public TraceOutput, private PeObserver, private ChannelObserver {
 public:
  StandIn(const std::string& path, std::string failure) : file_(path), failure_(std::move(failure)) {}
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() override {
    if (end_) end_();
  }
  /// What is called at its end.
  void at_end(std::function<void()> end) { end_ = std::move(end); }

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] PeObserver* pe_observer() noexcept override { return this; }
  [[nodiscard]] ChannelObserver* channel_observer() noexcept override { return this; }
  [[nodiscard]] bool failed() const noexcept override { return !failure_.empty(); }
  void finish(const traces::RunNote& note) override {
    if (!failure_.empty()) throw traces::WriteError(failure_);
    std::ostringstream text;
    text << (note.complete ? "complete" : note.reason) << " " << note.end.count() << " " << completed_ << " "
         << served_;
    file_.write(text.str());
    file_.commit();
  }

 private:
  void completed(const CompletedOperation& /*operation*/) override { ++completed_; }
  void served(const ChannelService& /*service*/) override { ++served_; }

  traces::PendingFile file_;
  std::string failure_;
  std::function<void()> end_;
  int completed_ = 0;
  int served_ = 0;
};

TEST_F(Outputs, AreEachToldOfTheRunAndFailAlone) {
  testing::in_child([this] {
    testing::Simulation simulation;
    RunOutputs outputs({}, simulation.system());
    outputs.add(std::make_unique<StandIn>(path("a"), ""));
    outputs.add(std::make_unique<StandIn>(path("b"), "the pen is dry"));
    outputs.add(std::make_unique<StandIn>(path("c"), ""));
    outputs.attach();
    simulation.run([](tl::Context& tl) { tl.load(HbmAddress(0), {2, 128}, DType::f16); });
    EXPECT_EQ(testing::files_open_in(folder_, ::getpid()).count, 3);
    EXPECT_FALSE(fs::exists(path("a")));
    outputs.finish_traces({true, "", simulation.latency()});
    EXPECT_EQ(testing::files_open_in(folder_, ::getpid()).count, 0);
    EXPECT_EQ(outputs.problems(), std::vector<std::string>{"cannot write \"" + path("b") + "\": the pen is dry"});
    // One operation, of 512 B: two blocks of 256 B, on a channel each.
    const std::string expected = "complete " + std::to_string(simulation.latency().count()) + " 1 2";
    EXPECT_EQ(read_file(path("a")), expected);
    EXPECT_EQ(read_file(path("c")), expected);
  });
  EXPECT_EQ(entries(), 2U) << "a temporary file is left";
}

TEST_F(Outputs, ThatHaveFailedGiveTheirSpaceBackBeforeTheOthersAreFinished) {
  testing::in_child([this] {
    // Given two traces, of which the second has failed
    testing::Simulation simulation;
    OutputRequest request;
    request.json = path("out.json");
    RunOutputs outputs(request, simulation.system());
    auto good = std::make_unique<StandIn>(path("a"), "");
    auto bad = std::make_unique<StandIn>(path("b"), "the disk is full");
    std::string events;
    // When a trace ends, others may have been finished before
    good->at_end([&] { events += "a"; });
    bad->at_end([&] { events += fs::exists(path("a")) ? "late" : "b"; });
    outputs.add(std::move(good));
    outputs.add(std::move(bad));
    outputs.attach();
    simulation.run([](tl::Context& tl) { tl.load(HbmAddress(0), {2, 128}, DType::f16); });
    outputs.finish_traces({true, "", simulation.latency()});
    // Then the one that has failed went first, and both before the document.
    EXPECT_EQ(events, "ba");
    EXPECT_EQ(testing::files_open_in(folder_, ::getpid()).count, 1) << "the document's file";
    outputs.write_documents(Json::object({{"key", "value"}}));
    EXPECT_TRUE(fs::exists(path("out.json")));
  });
}

TEST_F(Outputs, OnASmallDiskThatALogHasFilledAreTheDocumentAndWhatFits) {
  // Given a disk of 1 MiB of our own
  const std::string on_small_disk =
      "mkdir disk && mount -t tmpfs -o size=1m none disk 2>/dev/null || exit 77; cd disk; '" +
      testing::kernwave_executable().string() +
      "' run gqa_attention_prefill_short --model llama-3.1-8b --s-kv 2K --data none --quiet --timeline t.pftrace "
      "--op-log log.csv --json out.json; code=$?; cp * ..; exit $code";
  // When a run's timeline and log take more than it has
  const Outcome outcome = testing::start("/usr/bin/env", {"unshare", "-rm", "/bin/sh", "-c", on_small_disk}, folder_);
  if (outcome.exit_code != 1) GTEST_SKIP() << "no disk can be mounted here: " << outcome.errors;
  // Then they are named, and the document is whole.
  EXPECT_TRUE(contains(outcome.errors, "kernwave: cannot write \"t.pftrace\": the disk is full\n")) << outcome.errors;
  EXPECT_TRUE(document("out.json").at("complete").as_bool());
  EXPECT_FALSE(fs::exists(path("t.pftrace")));
}

}  // namespace
}  // namespace kernwave::platform::outputs_test
