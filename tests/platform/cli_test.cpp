// The executable `kernwave` as its users meet it: what it prints, what it leaves, how it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/tl/launch.h"
#include "platform/config/configuration.h"
#include "platform/config/engine_table.h"
#include "platform/config/math_table.h"
#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "platform/run/simulate.h"
#include "platform/version.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/own_workload.h"
#include "tests/support/process.h"

namespace kernwave::platform::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::Arguments;
using testing::contains;
using testing::error_of;
using testing::kernwave_executable;
using testing::Outcome;
using testing::own_request;
using testing::OwnWorkload;
using testing::start;
using testing::User;
using testing::words;

[[nodiscard]] Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Runs `kernwave` in a folder of the test's own.
class CommandLine : public kernwave::testing::KernwaveCommandTest {
 protected:
  /// The output of a command that must succeed and has nothing to complain about.
  [[nodiscard]] std::string output_of(const Arguments& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    return outcome.output;
  }

  /// The document of a run that must succeed.
  [[nodiscard]] Json result_of(const Arguments& arguments) const {
    (void)output_of(arguments + Arguments{"--json", "result.json"});
    return document("result.json");
  }

  void expect_refused(const Arguments& arguments, const std::vector<std::string>& parts, User user = User::own) const;
};

/// Exit code 2, nothing on standard output, one message that holds all parts.
void CommandLine::expect_refused(const Arguments& arguments, const std::vector<std::string>& parts, User user) const {
  std::string trace = "kernwave";
  for (const std::string& argument : arguments) trace += " '" + argument + "'";
  SCOPED_TRACE(trace);
  const Outcome outcome = run(arguments, user);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  std::istringstream lines(outcome.errors);
  std::string first;
  std::string second;
  std::string third;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(first.substr(0, 10), "kernwave: ") << outcome.errors;
  EXPECT_TRUE(second.empty() || second.rfind("kernwave: try `kernwave ", 0) == 0) << outcome.errors;
  EXPECT_FALSE(std::getline(lines, third)) << outcome.errors;
  for (const std::string& part : parts) EXPECT_TRUE(contains(first, part)) << first << "\nlacks: " << part;
}

const Arguments decode = words("run gqa_attention_decode_short --model llama-3.1-8b");
const Arguments prefill = words("run gqa_attention_prefill_short --model llama-3.1-8b");

// ---- what there is ----------------------------------------------------------------------------------------------

TEST_F(CommandLine, HelpAndVersionAreNoErrors) {
  const std::string help = output_of({"--help"});
  for (const std::string command : {"list", "run", "headline", "config"}) EXPECT_TRUE(contains(help, command)) << help;
  const std::string run_help = output_of({"run", "--help"});
  for (const std::string option :
       {"--model", "--s-kv", "--policy", "--data", "--set", "--json", "--batch", "--causal"}) {
    EXPECT_TRUE(contains(run_help, option)) << run_help;
  }
  EXPECT_EQ(output_of({"--version"}),
            "kernwave " + std::string(version()) + " (" + std::string(source_revision()) + ")\n");
}

TEST_F(CommandLine, ListNamesKernelsModelsPresetsAndPolicies) {
  const std::string list = output_of({"list"});
  std::vector<std::string> names{"blocking", "lazy", "stall_on_use"};
  for (const KernelDescription& kernel : kernel_catalogue()) names.push_back(kernel.name);
  for (const ModelShape& model : shipped_models()) names.push_back(model.name);
  for (const PresetDescription& preset : presets()) names.push_back(preset.name);
  ASSERT_GE(names.size(), 3U + 3U + 5U + 2U);
  for (const std::string& name : names) EXPECT_TRUE(contains(list, "\n  " + name + " ")) << name;
}

TEST_F(CommandLine, ConfigPrintsTheResolvedConfiguration) {
  EXPECT_EQ(output_of({"config"}), to_toml(load_configuration({"ahbm", {}})));
  EXPECT_EQ(
      output_of({"config", "--config", "ahbm-ws", "--set", "hbm.bandwidth=1.6 TB/s", "--set", "pe.gemm.rows=128"}),
      to_toml(load_configuration({"ahbm-ws", {"hbm.bandwidth=1.6 TB/s", "pe.gemm.rows=128"}})));
  EXPECT_EQ(output_of({"config", "--keys"}), keys_as_markdown());
  EXPECT_EQ(output_of({"list", "--operations"}), operations_as_markdown());
  EXPECT_EQ(output_of({"list", "--engines"}), engines_as_markdown());
}

// C12: what is printed is a configuration again.
TEST_F(CommandLine, ConfigReadsBackWhatItPrinted) {
  const std::string printed =
      output_of(words("config --config ahbm-ws --set hbm.efficiency=0.86 --set pe.dma.zero_writes=true"));
  EXPECT_TRUE(contains(printed, "zero_writes = true"));
  write_file_atomically(path("machine.toml"), printed);
  EXPECT_EQ(output_of(words("config --config machine.toml")), printed);
}

// ---- a run ------------------------------------------------------------------------------------------------------

void expect_keys(const Json& object, const std::vector<std::string>& keys) {
  std::vector<std::string> found;
  for (const Json::Member& member : object.as_object()) found.push_back(member.key);
  EXPECT_EQ(found, keys);
}

/// Every picosecond of every PE has one cause.
void expect_time_accounted_for(const Json& result) {
  for (const Json::Member& pe : result.at("stall_ps").as_object()) {
    std::int64_t sum = 0;
    for (const Json::Member& cause : pe.value.as_object()) sum += cause.value.as_int();
    EXPECT_EQ(sum, result.at("latency_ps").as_int()) << pe.key;
  }
}

TEST_F(CommandLine, RunLeavesADocumentWithEveryKey) {
  const std::string line =
      "run gqa_attention_decode_short --model llama-3.1-8b --s-kv 8192 --policy lazy --data none "
      "--set pe.gemm.rows=128 --json out.json";
  const std::string summary = output_of(words(line));
  const Json result = document("out.json");

  expect_keys(result, {"schema", "version",   "revision", "command",  "config",     "kernel", "shape",
                       "policy", "data",      "complete", "reason",   "latency_ps", "counts", "bytes",
                       "flops",  "bounds_ps", "busy_ps",  "stall_ps", "channels",   "links",  "critical_path",
                       "error",  "warnings",  "notes",    "scratch",  "host"});
  EXPECT_EQ(result.at("schema").as_int(), 1);
  EXPECT_EQ(result.at("version").as_string(), version());
  EXPECT_EQ(result.at("command").as_string(), "kernwave " + line);
  EXPECT_EQ(result.at("kernel").as_string(), "gqa_attention_decode_short");
  EXPECT_EQ(result.at("policy").as_string(), "lazy");
  EXPECT_EQ(result.at("data").as_string(), "none");
  EXPECT_TRUE(result.at("critical_path").is_null());
  EXPECT_TRUE(result.at("error").is_null());

  // The configuration: every key, the override among them.
  const Json& config = result.at("config");
  EXPECT_EQ(config.size(), 1 + configuration_keys().size());
  EXPECT_EQ(config.at("preset").as_string(), "ahbm");
  for (const KeyDescription& key : configuration_keys()) {
    EXPECT_EQ(config.at(key.path).as_string(), key.path == "pe.gemm.rows" ? "128" : key.default_value) << key.path;
  }

  const Json& shape = result.at("shape");
  EXPECT_EQ(shape.at("model").as_string(), "llama-3.1-8b");
  EXPECT_EQ(shape.at("query_heads").as_int(), 32);
  EXPECT_EQ(shape.at("kv_heads").as_int(), 8);
  EXPECT_EQ(shape.at("head_dim").as_int(), 128);
  EXPECT_EQ(shape.at("batch").as_int(), 1);
  EXPECT_EQ(shape.at("s_q").as_int(), 1);
  EXPECT_EQ(shape.at("s_kv").as_int(), 8192);
  EXPECT_EQ(shape.at("tile").as_int(), 512);

  // Eight heads: Q once, and K and V of 8192 / 512 = 16 tiles; one store.
  const Json& counts = result.at("counts");
  expect_keys(counts, {"dma_read", "dma_write", "gemm", "math", "ipcq_copy", "composite", "composite_read"});
  EXPECT_EQ(counts.at("dma_read").as_int(), 8 * (1 + 2 * 16));
  EXPECT_EQ(counts.at("dma_write").as_int(), 8);
  EXPECT_EQ(counts.at("gemm").as_int(), 8 * 2 * 16);
  EXPECT_GT(counts.at("math").as_int(), 0);
  // Q and the output: 4 x 128 elements of 2 B a head. K, V: 8192 x 128.
  EXPECT_EQ(result.at("bytes").at("read").as_int(), 8 * (4 * 128 * 2 + 2 * 8192 * 128 * 2));
  EXPECT_EQ(result.at("bytes").at("written").as_int(), 8 * 4 * 128 * 2);
  // Two products of 4 x 128 x 8192 a head, two flops a multiply-accumulate.
  EXPECT_EQ(result.at("flops").at("gemm").as_int(), 8 * 2 * 2 * 4 * 128 * 8192);
  EXPECT_GT(result.at("flops").at("math").as_int(), 0);

  expect_keys(result.at("bounds_ps"), {"compulsory", "issued"});
  for (const char* kind : {"compulsory", "issued"}) {
    const Json& bounds = result.at("bounds_ps").at(kind);
    expect_keys(bounds, {"hbm_read", "hbm_write", "dma_read", "dma_write", "gemm_ideal", "gemm_dataflow", "math",
                         "ipcq", "issue"});
    for (const Json::Member& bound : bounds.as_object()) {
      EXPECT_GE(bound.value.as_int(), 0);
      EXPECT_LE(bound.value.as_int(), result.at("latency_ps").as_int()) << kind << " " << bound.key;
    }
  }

  ASSERT_EQ(result.at("busy_ps").size(), 64U);
  ASSERT_EQ(result.at("stall_ps").size(), 64U);
  for (std::size_t id = 0; id < 64; ++id) {
    const std::string pe = "pe" + std::to_string(id);
    expect_keys(result.at("busy_ps").at(pe), {"dma_read", "dma_write", "gemm", "math", "ipcq"});
    expect_keys(result.at("stall_ps").at(pe), {"issue", "load", "compute", "store", "composite", "receive", "credit",
                                               "queue", "scratch", "memory_order", "drain", "idle"});
  }
  expect_time_accounted_for(result);

  const Json& scratch = result.at("scratch");
  EXPECT_EQ(scratch.at("capacity_bytes").as_int(), 1 << 20);
  EXPECT_GT(scratch.at("peak_bytes").as_int(), 0);
  EXPECT_LE(scratch.at("peak_bytes").as_int(), 1 << 20);
  expect_keys(result.at("host"), {"seconds", "operations", "ns_per_operation", "peak_rss_bytes"});
  EXPECT_EQ(result.at("host").at("operations").as_int(), counts.at("dma_read").as_int() +
                                                             counts.at("dma_write").as_int() +
                                                             counts.at("gemm").as_int() + counts.at("math").as_int());
  EXPECT_GT(result.at("host").at("peak_rss_bytes").as_int(), 0);

  EXPECT_TRUE(contains(summary, "(" + std::to_string(result.at("latency_ps").as_int()) + " ps)")) << summary;
  EXPECT_TRUE(contains(summary, "by hbm_read")) << summary;
}

[[nodiscard]] Json without_host(const Json& document) {
  Json::Object members = document.as_object();
  members.erase(std::remove_if(members.begin(), members.end(), [](const auto& member) { return member.key == "host"; }),
                members.end());
  return Json::object_of(members);
}

// C12: the recorded command, typed into a shell, gives the same document.
TEST_F(CommandLine, RunRecordsACommandThatGivesTheSameDocument) {
  const std::string name = "it's (a) file.json";
  (void)output_of(decode + Arguments{"--s-kv", "300", "--policy", "stall_on_use", "--seed", "7", "--dtype", "bf16",
                                     "--set", "hbm.bandwidth=1.6 TB/s", "--json", name});
  const Json first = document(name);
  fs::remove(path(name));

  const std::string in_path = "PATH='" + kernwave_executable().parent_path().string() + "':\"$PATH\"\n";
  const Outcome again = start("/bin/sh", {"-c", in_path + first.at("command").as_string()}, folder_);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(without_host(document(name)), without_host(first));
  EXPECT_EQ(first.at("config").at("hbm.bandwidth").as_string(), "1.6 TB/s");
}

TEST_F(CommandLine, RunCanBeQuiet) {
  EXPECT_EQ(output_of(decode + words("--s-kv 64 --data none --quiet")), "");
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CommandLine, CountsReadInUnitsOf1024) {
  EXPECT_EQ(result_of(decode + words("--s-kv 2K --data none")).at("shape").at("s_kv").as_int(), 2048);
}

TEST_F(CommandLine, RunWithDataChecksTheResult) {
  for (const std::string dtype : {"f16", "bf16"}) {
    const Arguments arguments = decode + words("--s-kv 1000 --dtype " + dtype + " --json full.json");
    const std::string summary = output_of(arguments);
    const Json error = document("full.json").at("error");
    expect_keys(error, {"max_abs", "max_rel", "max_of_bound", "has_nan", "reference", "bitwise", "wrong_elements",
                        "first_wrong", "within_tolerance"});
    EXPECT_EQ(error.at("reference").as_string(), "float64");
    EXPECT_TRUE(error.at("within_tolerance").as_bool());
    EXPECT_GT(error.at("max_abs").as_double(), 0.0);
    EXPECT_LE(error.at("max_of_bound").as_double(), 1.0);
    EXPECT_TRUE(error.at("bitwise").is_null());
    EXPECT_EQ(error.at("wrong_elements").as_int(), 0);
    EXPECT_TRUE(error.at("first_wrong").is_null());
    const std::regex line(
        "\nerror +max abs [0-9.e-]+, max rel [0-9.e-]+ against float64, [0-9.]+% of its bound: right\n");
    EXPECT_TRUE(std::regex_search(summary, line)) << summary;
  }
}

TEST_F(CommandLine, RunTakesABatchOfRaggedSequencesInEitherLayout) {
  const Arguments ragged = decode + words("--batch 2 --s-kv 100,300");
  const Json hsd = result_of(ragged + words("--kv-layout hsd"));
  const Json shd = result_of(ragged + words("--kv-layout shd"));
  for (const Json* result : {&hsd, &shd}) {
    EXPECT_EQ(result->at("shape").at("batch").as_int(), 2);
    EXPECT_EQ(result->at("shape").at("s_kv"), Json::array({100, 300}));
    EXPECT_TRUE(result->at("error").at("within_tolerance").as_bool());
    // K and V of both sequences, 8 heads; Q of 2 x 32 heads.
    EXPECT_EQ(result->at("bytes").at("read").as_int(), (2 * 8 * (100 + 300) + 2 * 32) * 128 * 2);
    expect_time_accounted_for(*result);
  }
  EXPECT_EQ(hsd.at("shape").at("kv_layout").as_string(), "[H, S, D]");
  EXPECT_EQ(shd.at("shape").at("kv_layout").as_string(), "[S, H, D]");
  // The same numbers in other places: the same results, bit for bit.
  for (const char* key : {"error", "counts", "bytes", "flops", "scratch"}) EXPECT_EQ(hsd.at(key), shd.at(key)) << key;
}

// C13: one shape file, prefill and decode, causal included.
TEST_F(CommandLine, RunTakesAConfigJsonForPrefillAndDecode) {
  // Given the shape of Llama-3.1-8B as Hugging Face writes it: head_dim is 4096 / 32.
  write_file_atomically(path("config.json"),
                        R"({"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8})");
  for (const std::string kernel : {"decode", "prefill"}) {
    const Arguments run = {"run", "gqa_attention_" + kernel + "_short", "--s-kv", "160"};
    // When the file and the shipped model of that shape run
    const Json file = result_of(run + words("--model config.json"));
    const Json shipped = result_of(run + words("--model llama-3.1-8b"));
    // Then nothing differs but the name
    EXPECT_EQ(file.at("shape").at("model").as_string(), "config.json");
    for (const char* key : {"query_heads", "kv_heads", "head_dim", "s_q", "causal", "tile"}) {
      EXPECT_EQ(file.at("shape").at(key), shipped.at("shape").at(key)) << key;
    }
    for (const char* key : {"latency_ps", "counts", "bytes", "flops", "bounds_ps", "stall_ps", "error"}) {
      EXPECT_EQ(file.at(key), shipped.at(key)) << key;
    }
    EXPECT_EQ(file.at("shape").at("causal").as_bool(), kernel == "prefill");
    EXPECT_EQ(file.at("shape").at("s_q").as_int(), kernel == "prefill" ? 160 : 1);
    EXPECT_TRUE(file.at("error").at("within_tolerance").as_bool());
  }
  const Json all_keys = result_of(prefill + words("--s-kv 160 --no-causal"));
  EXPECT_FALSE(all_keys.at("shape").at("causal").as_bool());
  EXPECT_TRUE(all_keys.at("error").at("within_tolerance").as_bool());
}

// C5
TEST_F(CommandLine, SummaryShowsBytesNanosecondsRateAndShareOfThePeakOfEachChannel) {
  const std::string summary = output_of(decode + words("--s-kv 8192 --data none --json out.json"));
  const Json result = document("out.json");
  EXPECT_TRUE(contains(summary, "read B     written B       time ns      GB/s   % of peak")) << summary;
  // 8 x (4 MiB + 1 KiB) read and 8 KiB written, spread evenly over 16 channels of 819.2 / 16 = 51.2 GB/s.
  constexpr std::int64_t read = 8 * (4 * 1024 * 1024 + 1024) / 16;
  constexpr std::int64_t written = 8 * 1024 / 16;
  const double nanoseconds = static_cast<double>(result.at("latency_ps").as_int()) / 1000.0;
  const double rate = static_cast<double>(read + written) / nanoseconds;
  // Channels that carried the same share a line.
  const std::regex line("  cube0 ch0-15 +([0-9]+) +([0-9]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)%\n");
  std::smatch row;
  ASSERT_TRUE(std::regex_search(summary, row, line)) << summary;
  EXPECT_EQ(std::stoll(row[1]), read);
  EXPECT_EQ(std::stoll(row[2]), written);
  EXPECT_NEAR(std::stod(row[3]), nanoseconds, 0.0005);
  EXPECT_NEAR(std::stod(row[4]), rate, 0.005);
  EXPECT_NEAR(std::stod(row[5]), 100.0 * rate / 51.2, 0.05);
  EXPECT_FALSE(contains(summary, "cube1 ch")) << "channels that carried nothing are left out";
}

TEST_F(CommandLine, RunMultipliesMatrices) {
  const Json result = result_of(words("run gemm --m 100 --n 70 --k 130 --policy stall_on_use"));
  EXPECT_EQ(result.at("kernel").as_string(), "gemm");
  EXPECT_TRUE(result.at("error").at("within_tolerance").as_bool());
  expect_time_accounted_for(result);
}

// What a doubled resource is said to have taken is what a run with it takes.
TEST_F(CommandLine, RunPutsItsPredictionsToTheTest) {
  // Quietly: that no PE reaches another cube would be noted.
  const std::string gemm = "run gemm --m 64 --n 64 --k 512 --data none --quiet ";
  const Json path = result_of(words(gemm + "--verify-what-if")).at("critical_path");
  // In the preset ahbm the port gives 128 GB/s, the memory answers after 100 ns, and the engine has the clock of the
  // PE.
  const std::map<std::string, std::string> faster{
      {"dma", "--set pe.dma.bandwidth=256GB/s"},
      {"memory", "--set hbm.latency=50ns --set interconnect.hop_latency=50ns"},
      {"gemm", "--set pe.gemm.clock_multiple=2"}};
  std::size_t verified = 0;
  for (const Json& prediction : path.at("what_if").as_array()) {
    if (prediction.at("actual_ps").is_null()) continue;
    ++verified;
    const Json run_of_it = result_of(words(gemm + faster.at(prediction.at("resource").as_string())));
    EXPECT_EQ(prediction.at("actual_ps"), run_of_it.at("latency_ps")) << prediction.at("resource").as_string();
    EXPECT_LT(prediction.at("actual_ps").as_int(), path.at("latency_ps").as_int());
  }
  EXPECT_EQ(verified, 3U);
}

TEST_F(CommandLine, RunShowsItsCriticalPathByCauseByLineAndByWhatWouldHelp) {
  const std::string text =
      output_of(words("run gemm --m 64 --n 64 --k 512 --data none --verify-what-if --json result.json"));
  const Json path = document("result.json").at("critical_path");
  for (const char* part : {"critical path            time   % of time", "by line", "twice as fast       predicted"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\nis not in\n" << text;
  }
  for (const Json& line : path.at("by_line").as_array()) {
    EXPECT_TRUE(contains(text, "gemm.cpp:" + std::to_string(line.at("line").as_int()))) << text;
  }
  for (const Json& prediction : path.at("what_if").as_array()) {
    EXPECT_TRUE(contains(text, prediction.at("keys").as_string())) << text;
  }
}

// ---- exit code 2: nothing was simulated ----------------------------------------------------------------------------

struct Mistake {
  Arguments arguments;
  std::vector<std::string> parts;
};

// C9, C10, B10
[[nodiscard]] std::vector<Mistake> mistakes_of_a_run() {
  const Arguments sound = decode + words("--s-kv 100");
  const auto with = [&sound](const Arguments& more) { return sound + more; };
  return {
      // options and their values
      {with({"--polcy", "lazy"}), {"--polcy"}},
      {with({"stray"}), {"stray"}},
      {with({"--policy", "eager"}), {"--policy", "\"eager\"", "blocking", "lazy", "stall_on_use"}},
      {with({"--policy"}), {"--policy"}},
      {with({"--dtype", "f64"}), {"--dtype", "\"f64\"", "f16", "bf16", "f32"}},
      {with({"--dtype", "int32"}), {"--dtype", "\"int32\""}},
      {with({"--data", "some"}), {"--data", "\"some\"", "full", "none"}},
      {with({"--kv-layout", "dsh"}), {"--kv-layout", "\"dsh\"", "hsd", "shd"}},
      {with({"--causal=maybe"}), {"--causal", "maybe"}},
      {with({"--no-causal=maybe"}), {"--no-causal", "maybe"}},
      {with({"--causal", "--no-causal"}), {"--causal", "--no-causal"}},
      {with({"--verify-what-if=maybe"}), {"--verify-what-if", "maybe"}},
      {with({"two\nlines, \x1b[2J"}), {"two\\nlines, \\x1b[2J"}},
      {with({"--config", "two\nlines.toml"}), {"two\\nlines.toml: cannot be read"}},
      {with({"--seed", "-1"}), {"--seed", "\"-1\""}},
      {with({"--seed", "one"}), {"--seed", "\"one\""}},
      // what a kernel needs
      {words("run gqa_attention_decode_shrt --model llama-3.1-8b --s-kv 100"),
       {"\"gqa_attention_decode_shrt\"", "did you mean \"gqa_attention_decode_short\"?"}},
      {words("run gqa_attention_decode_short --s-kv 100"), {"--model is missing"}},
      {words("run gqa_attention_decode_short --model llama-3.1-9b --s-kv 100"),
       {"\"llama-3.1-9b\"", "did you mean \"llama-3.1-8b\"?", "llama-3.1-70b"}},
      {words("run gqa_attention_decode_short --model nowhere.json --s-kv 100"), {"nowhere.json", "does not exist"}},
      {decode, {"--s-kv is missing"}},
      {with({"--m", "3"}), {"--m"}},
      {words("run gemm --m 10 --n 10"), {"--k is missing"}},
      {words("run gemm --m 10 --n 10 --k 0"), {"--k", "not 0"}},
      {words("run gemm --m 10 --n 10 --k 10 --s-kv 5"), {"--s-kv", "attention"}},
      {words("run gemm --m 10 --n 10 --k 10 --kv-layout hsd"), {"--kv-layout", "attention"}},
      {words("run attention"), {"there is no kernel \"attention\"", "(`kernwave list` shows all)"}},
      // counts
      {decode + words("--s-kv 0"), {"--s-kv", "not 0"}},
      {decode + words("--s-kv=-5"), {"--s-kv", "\"-5\" is negative"}},
      {decode + words("--s-kv 12x"), {"--s-kv", "\"12x\"", "8192 or 128K"}},
      {decode + words("--s-kv 1.3"), {"--s-kv", "\"1.3\""}},
      {decode + words("--s-kv 100,,200 --batch 3"), {"--s-kv", "nothing is given"}},
      {decode + words("--s-kv 99999999999999999999"), {"--s-kv"}},
      {with({"--s-q", "0"}), {"--s-q", "not 0"}},
      {with({"--batch", "0"}), {"--batch", "not 0"}},
      {with({"--batch", "1,2"}), {"--batch", "one number"}},
      {with({"--tile", "0"}), {"--tile", "not 0"}},
      {decode + words("--s-kv 1,2,3 --batch 2"), {"--s-kv", "3 lengths for a batch of 2"}},
      {with(words("--s-q 1,2 --batch 3")), {"--s-q", "2 lengths for a batch of 3"}},
      // what does not fit
      {with({"--s-q", "100"}), {"at most 32 queries", "not 100", "gqa_attention_prefill_short"}},
      {with({"--tile", "65536"}), {"tiles of 65536 keys", "pe.scratch.capacity is 1 MiB"}},
      {with({"--set", "pe.scratch.capacity=2 KiB"}), {"pe.scratch.capacity is 2 KiB"}},
      {decode + words("--s-kv 128M"), {"K needs 256 GiB", "16 GiB (hbm.capacity)"}},
      // configuration
      {with({"--set", "pe.gemm.rowz=128"}), {"--set: pe.gemm.rowz: unknown key; did you mean \"pe.gemm.rows\"?"}},
      {with({"--set", "hbm.bandwidth=819.2 GB"}), {"--set: hbm.bandwidth", "wrong unit \"GB\"", "819.2 GB/s"}},
      {with({"--set", "pe.gemm.rows=many"}), {"--set: pe.gemm.rows: expected an integer", "1 to 65536"}},
      {with({"--set", "pe.gemm.rows"}), {"--set: \"pe.gemm.rows\" is not KEY=VALUE"}},
      {with({"--config", "ahmb"}), {"unknown preset \"ahmb\"; did you mean \"ahbm\"?"}},
      {with({"--config", "nowhere.toml"}), {"nowhere.toml: cannot be read: it does not exist"}},
  };
}

TEST_F(CommandLine, RunRefusesWhatItCannotDoAndLeavesNothing) {
  for (const Mistake& mistake : mistakes_of_a_run()) {
    expect_refused(mistake.arguments + Arguments{"--json", "out.json"}, mistake.parts);
    EXPECT_EQ(entries(), 0U);
  }
}

TEST_F(CommandLine, RunThatIsRefusedLeavesAnOlderFileAlone) {
  write_file_atomically(path("out.json"), "older");
  for (const Mistake& mistake : mistakes_of_a_run()) {
    expect_refused(mistake.arguments + Arguments{"--json", "out.json"}, {});
    EXPECT_EQ(read_file(path("out.json")), "older");
    EXPECT_EQ(entries(), 1U);
  }
}

TEST_F(CommandLine, UnknownCommandsAndOptionsAreNamed) {
  expect_refused({}, {"subcommand is required"});
  expect_refused({"lst"}, {"there is no command \"lst\"; did you mean \"list\"?", "run", "headline", "config"});
  expect_refused({"simulate", "--model", "x"}, {"there is no command \"simulate\""});
  expect_refused({"--list"}, {"required"});
  expect_refused({"list", "--all"}, {"--all"});
  expect_refused({"run"}, {"KERNEL is required"});
  expect_refused({"headline", "--data", "some"}, {"--data", "\"some\""});
  expect_refused({"config", "--key"}, {"--key"});
  expect_refused({"config", "--config", "ahmb"}, {"unknown preset \"ahmb\""});
  EXPECT_EQ(entries(), 0U);
}

// C9, C10: file and line
TEST_F(CommandLine, MistakesInAConfigurationFileAreNamedWithTheLine) {
  const Arguments run = decode + words("--s-kv 100 --config machine.toml");
  write_file_atomically(path("machine.toml"), "[pe.gemm]\nrows = 128\ncols = = 3\n");
  expect_refused(run, {"machine.toml:3: not TOML"});
  write_file_atomically(path("machine.toml"), "[pe.gemm]\n\nrowz = 128\n");
  expect_refused(run, {"machine.toml:3: pe.gemm.rowz: unknown key; did you mean \"pe.gemm.rows\"?"});
  write_file_atomically(path("machine.toml"), "[hbm]\nbandwidth = \"819.2 GiB\"\n");
  expect_refused(run, {"machine.toml:2: hbm.bandwidth: ", "wrong unit \"GiB\"", "allowed: 1 MB/s to 1 PB/s"});
  EXPECT_EQ(entries(), 1U);
}

// B10
TEST_F(CommandLine, SevenQueryHeadsOnTwoKvHeadsAreRefused) {
  write_file_atomically(path("config.json"), R"({"head_dim": 64, "num_attention_heads": 7, "num_key_value_heads": 2})");
  for (const std::string kernel : {"gqa_attention_decode_short", "gqa_attention_prefill_short"}) {
    expect_refused({"run", kernel, "--model", "config.json", "--s-kv", "100"},
                   {"config.json: 7 query heads cannot share 2 key/value heads"});
  }
}

TEST_F(CommandLine, AModelFileThatIsNoneIsNamed) {
  write_file_atomically(path("config.json"), "{\"head_dim\": 64,\n");
  expect_refused(words("run gqa_attention_decode_short --model config.json --s-kv 100"), {"config.json:2:"});
}

TEST_F(CommandLine, OutputsThatCannotBeWrittenAreRefusedBeforeTheRun) {
  const Arguments run = decode + words("--s-kv 100 --data none --json");
  fs::create_directory(path("folder"));
  expect_refused(run + Arguments{"folder"}, {"cannot write \"folder\": it is a folder"});
  expect_refused(run + Arguments{"folder/"}, {"cannot write \"folder/\""});
  expect_refused(run + Arguments{"nowhere/out.json"}, {"\"nowhere\" does not exist"});
  write_file_atomically(path("file"), "older");
  expect_refused(run + Arguments{"file/out.json"}, {"\"file\" is not a folder"});
  expect_refused(words("headline --data none --out file"), {"\"file\""});
  expect_refused(words("headline --data none --out file/out"), {"\"file/out\""});
  EXPECT_EQ(read_file(path("file")), "older");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(CommandLine, OutputsInAFolderThatMayNotBeWrittenAreRefusedBeforeTheRun) {
  // Given a folder that others may read, and a user whose rights do not go beyond that
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  expect_refused(decode + words("--s-kv 100 --data none --json out.json"),
                 {"cannot write \"out.json\"", "may not be written (permission denied)"}, User::without_rights);
  expect_refused(words("headline --data none --out out"), {"\"out\"", "ermission denied"}, User::without_rights);
  EXPECT_EQ(entries(), 0U);
}

// ---- exit code 1: the simulation failed -------------------------------------------------------------------------

/// A memory that takes longer than the run is watched for.
TEST_F(CommandLine, RunsThatFailNameOperationAndLineAndLeaveNothing) {
  const Arguments slow =
      decode + Arguments{"--s-kv", "100", "--data", "none", "--json", "out.json", "--set", "hbm.latency=1 ms", "--set"};
  for (const bool older : {false, true}) {
    if (older) write_file_atomically(path("out.json"), "older");
    const Outcome failed = run(slow + Arguments{"run.no_progress_limit=1 us"});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_EQ(failed.output, "");
    const std::regex message(
        "^kernwave: no progress: .*run\\.no_progress_limit = 1 us.*\nkernwave:   PE [0-9]+ waits for load: "
        "memory/dma_read .*issued at [^ ]*\\.cpp:[0-9]+");
    EXPECT_TRUE(std::regex_search(failed.errors, message)) << failed.errors;
    EXPECT_EQ(entries(), older ? 1U : 0U);
    if (older) {
      EXPECT_EQ(read_file(path("out.json")), "older");
    }
  }
  // With the key it names, the same run succeeds.
  (void)output_of(slow + Arguments{"run.no_progress_limit=10 ms"});
  EXPECT_GT(document("out.json").at("latency_ps").as_int(), 0);
}

TEST_F(CommandLine, BurstsWithoutDataNeedNoKeyOnTheMachinesOwnMemory) {
  for (const char* kernel : {"gqa_attention_decode_short", "gqa_attention_decode_long", "gqa_attention_prefill_short",
                             "gqa_attention_prefill_long"}) {
    const Arguments bursts = words("run " + std::string(kernel) +
                                   " --model llama-3.1-8b --s-q 4 --s-kv 100 --set pe.dma.burst=2KiB --json out.json");
    (void)output_of(bursts + words("--data none"));
    const std::int64_t without_data = document("out.json").at("latency_ps").as_int();
    (void)output_of(bursts + words("--data full"));
    EXPECT_EQ(document("out.json").at("latency_ps").as_int(), without_data) << kernel;
  }
}

TEST(FailedSimulations, NameThePeTheOperationAndTheLineOfAKernelError) {
  constexpr int line = __LINE__ + 6;
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.load(HbmAddress(0), {4, 64}, DType::f16);
    const auto b = tl.load(HbmAddress(4096), {32, 16}, DType::f16);
    if (tl.program_id(0) == 0) return;
    // Programs 1 and 2 multiply what does not fit, in the same instant.
    tl.dot(a, b);
  };
  const RunRequest request = own_request(DataMode::none);
  const std::string message = error_of([&] { (void)simulate_isolated(request, OwnWorkload(kernel)); });
  const std::string place = "dot at " + std::string(__FILE__) + ":" + std::to_string(line);
  const std::size_t first = message.find("kernel error: PE 1, " + place);
  const std::size_t second = message.find("kernel error: PE 2, " + place);
  EXPECT_EQ(first, 0U) << message;
  EXPECT_NE(second, std::string::npos) << message;
  EXPECT_FALSE(contains(message, "PE 0")) << message;
  EXPECT_TRUE(contains(message, "4x64") && contains(message, "32x16")) << message;
}

// A20
TEST(FailedSimulations, IncludeADeadlockAndNameEachPeThatWaits) {
  const auto kernel = [](tl::Context& tl) {
    if (tl.program_id(0) != 1) tl.recv(Direction::north, {4}, DType::f32);  // PE 0 has nobody there
  };
  const auto waits = [](tl::Context& tl) {
    if (tl.program_id(0) > 0) tl.recv(Direction::north, {4}, DType::f32);
  };
  const RunRequest request = own_request(DataMode::none);
  const std::string error = error_of([&] { (void)simulate_isolated(request, OwnWorkload(kernel)); });
  EXPECT_TRUE(contains(error, "kernel error: PE 0, recv at")) << error;
  EXPECT_TRUE(contains(error, "there is no PE in the north")) << error;
  const std::string deadlock = error_of([&] { (void)simulate_isolated(request, OwnWorkload(waits)); });
  EXPECT_EQ(deadlock.find("deadlock: nothing in flight can complete, and these kernels have not ended:\n"), 0U)
      << deadlock;
  for (const std::string line : {"  PE 1 waits for receive: comm/ipcq_recv of 1x4 f32 from PE 0 (north), issued at ",
                                 "  PE 2 waits for receive: comm/ipcq_recv of 1x4 f32 from PE 1 (north), issued at "}) {
    EXPECT_TRUE(contains(deadlock, line)) << deadlock;
  }
}

TEST(FailedSimulations, IncludeThoseWhoseResultIsWrong) {
  const auto kernel = [](tl::Context& tl) { tl.full({16}, 1.0, DType::f32); };
  const RunRequest request = own_request(DataMode::full);
  const auto check = [&](const NumericError& error) {
    return error_of([&] { require_right_result(simulate_isolated(request, OwnWorkload(kernel, error))); });
  };
  NumericError error;
  error.max_of_bound = 0.5;
  EXPECT_EQ(check(error), "no error");
  error.wrong = 1;
  error.first_wrong = WrongElement{17, "1.5", "1.25", "C[3, 2]"};
  EXPECT_EQ(check(error), "the result is wrong: C[3, 2] is 1.5 in place of 1.25");
  error.wrong = 4;
  EXPECT_EQ(check(error), "the result is wrong: C[3, 2] is 1.5 in place of 1.25, and 3 more elements are wrong");
}

}  // namespace
}  // namespace kernwave::platform::cli_test
