// Outputs that would replace an input, another output or what a command says: refused before anything is simulated.
#include "platform/outputs/output_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/process.h"

namespace kernwave::platform::output_names_test {
namespace {

namespace fs = std::filesystem;

using testing::contains;
using testing::error_of;
using testing::Outcome;
using testing::words;

const std::string gemm = "run gemm --m 256 --n 256 --k 256 --data none ";

class OutputNames : public kernwave::testing::KernwaveCommandTest {};

TEST_F(OutputNames, OfAnInputAreRefusedUnderWhateverName) {
  write_file_atomically(path("in"), "input");
  fs::create_symlink("in", path("link"));
  fs::create_hard_link(path("in"), path("hard"));
  fs::create_directory(path("folder"));
  for (const std::string& name : {path("in"), path("./in"), path("folder/../in"), path("link"), path("hard"),
                                  fs::relative(path("in")).string()}) {
    EXPECT_EQ(error_of<OutputError>([&] {
                check_names({{"--json", name}}, {{"--model", path("in")}});
              }),
              "--json would replace \"" + name + "\", which --model reads");
    EXPECT_EQ(error_of<OutputError>([&] {
                check_names({{"--json", path("in")}}, {{"--model", name}});
              }),
              "--json would replace \"" + path("in") + "\", which --model reads");
  }
  // Another file, and an input that is none, do no harm.
  EXPECT_EQ(error_of([&] { check_names({{"--json", path("new")}}, {{"--model", path("in")}}); }), "no error");
  EXPECT_EQ(error_of([&] { check_names({{"--json", path("new")}}, {{"--model", path("new")}}); }), "no error");
}

TEST_F(OutputNames, OfOneFileTwiceAreRefusedWhetherItExistsOrNot) {
  write_file_atomically(path("old"), "older");
  fs::create_hard_link(path("old"), path("hard"));
  fs::create_symlink("new", path("link"));
  for (const auto& [a, b] : {std::pair(path("old"), path("hard")), std::pair(path("new"), path("link")),
                             std::pair(path("new"), path("./new"))}) {
    EXPECT_EQ(error_of<OutputError>([&, a = a, b = b] {
                check_names({{"--json", a}, {"--report", b}}, {});
              }),
              "--json and --report name the same file, \"" + b + "\"");
  }
}

TEST_F(OutputNames, AreCheckedByEveryCommandBeforeItsWork) {
  fs::create_directory(path("model"));
  write_file_atomically(path("model/config.json"),
                        R"({"num_attention_heads": 4, "num_key_value_heads": 4, "hidden_size": 256})");
  write_file_atomically(path("machine.toml"), "preset = \"ahbm\"\n");
  ASSERT_EQ(run(words(gemm + "--quiet --json a.json")).exit_code, 0);
  fs::copy(path("a.json"), path("b.json"));
  fs::create_hard_link(path("b.json"), path("hard.html"));
  const std::size_t before = entries();
  const std::string decode = "run gqa_attention_decode_short --s-kv 64 --data none ";
  struct Case {
    std::string arguments;
    std::string message;
  };
  const Case cases[] = {
      {decode + "--model model/config.json --json model/config.json", "--json would replace \"model/config.json\""},
      {decode + "--model ./model/config.json --report model/../model/config.json", "which --model reads"},
      {decode + "--model ./model --json model/config.json", "which --model reads"},
      {gemm + "--config machine.toml --json ./machine.toml", "which --config reads"},
      {"compare a.json b.json --report a.json", "--report would replace \"a.json\", which A reads"},
      {"compare a.json b.json --report hard.html", "--report would replace \"hard.html\", which B reads"},
      {gemm + "--vcd r.vcd --json r.gtkw", "--vcd \"r.vcd\" (which also writes \"r.gtkw\") name the same file"},
      {gemm + "--vcd r.vcd --report r.states.txt", "(which also writes \"r.states.txt\")"},
      {gemm + "--op-log r.csv --critical-path --json ./r.path.csv", "(which also writes \"r.path.csv\")"},
      {gemm + "--op-log r.csv --verify-what-if --json r.path.csv", "(which also writes \"r.path.csv\")"},
      {gemm + "--json - --report /dev/stdout", "--json and --report name the same file"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.arguments);
    const Outcome outcome = run(words(bad.arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(contains(outcome.errors, bad.message)) << outcome.errors;
    EXPECT_EQ(entries(), before);
  }
}

TEST_F(OutputNames, OfWhereTheCommandSpeaksAreRefused) {
  for (const std::string& script :
       {"exec $K " + gemm + "--json out.json > out.json", "exec $K " + gemm + "--vcd r.vcd >> r.gtkw",
        "exec $K " + gemm + "--json err.txt 2> err.txt; cat err.txt >&2",
        std::string("exec $K headline --data none "
                    "--out . > headline.txt")}) {
    SCOPED_TRACE(script);
    const Outcome outcome = shell(script);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(outcome.errors.empty() || contains(outcome.errors, "standard output both go to")) << outcome.errors;
  }
  EXPECT_TRUE(contains(read_file(path("err.txt")), "--json and standard error both go to \"err.txt\""));
}

TEST_F(OutputNames, ThatAreEmptyAreRefused) {
  for (const std::string option : {"--json", "--vcd", "--timeline", "--op-log", "--report", "--model", "--config"}) {
    for (const testing::Arguments& given : {testing::Arguments{option, ""}, testing::Arguments{option + "="}}) {
      testing::Arguments arguments = words(gemm + "--quiet");
      arguments.insert(arguments.end(), given.begin(), given.end());
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.exit_code, 2) << option;
      EXPECT_TRUE(contains(outcome.errors, "kernwave: " + option)) << outcome.errors;
    }
  }
  EXPECT_EQ(run({"headline", "--out", ""}).exit_code, 2);
  EXPECT_EQ(run({"compare", "", "b.json"}).exit_code, 2);
  EXPECT_EQ(run({"compare", "a.json", "b.json", "--report", ""}).exit_code, 2);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(OutputNames, ThatAreTooLongAreRefusedSideFilesIncluded) {
  // 255 bytes are the most. A waveform's "NAME.states.txt" is longer than its "NAME.vcd".
  const std::string longest(255, 'n');
  EXPECT_EQ(error_of([&] { check_names({{"--json", path(longest)}}, {}); }), "no error");
  EXPECT_TRUE(contains(error_of<FileError>([&] {
                         check_names({{"--json", path(longest + "n")}}, {});
                       }),
                       "the name is too long: 256 bytes"));
  const std::string stem(251, 'n');
  for (const std::string& option : {"--vcd " + stem + ".vcd", "--op-log " + stem + ".csv --critical-path"}) {
    const Outcome outcome = run(words(gemm + option));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.errors, "the name is too long: ")) << outcome.errors;
  }
  EXPECT_EQ(run(words("headline --data none --out " + longest + "n")).exit_code, 2);
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace kernwave::platform::output_names_test
