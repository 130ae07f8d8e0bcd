// What a user has set and what a run does not depend on: noted once, never an error, and never said of what has an
// effect.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "platform/config/key_table.h"
#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "platform/run/simulate.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::effects_test {
namespace {

using testing::kernwave_executable;
using testing::Outcome;
using testing::start;
using testing::words;

class WithoutEffect : public kernwave::testing::TemporaryFolderTest {
 protected:
  /// The notes of a run that must succeed, as its document has them; standard error must hold the same and no more.
  [[nodiscard]] std::vector<std::string> notes_of(const std::string& command) const {
    SCOPED_TRACE(command);
    const Outcome outcome = start(kernwave_executable(), words("run " + command + " --json notes.json"), folder_);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::vector<std::string> notes;
    std::string expected;
    const Json document = parse_json(read_file(path("notes.json")), "notes.json");
    for (const Json& note : document.at("notes").as_array()) {
      notes.push_back(note.as_string());
      expected += "kernwave: note: " + note.as_string() + "\n";
    }
    EXPECT_EQ(outcome.errors, expected);
    return notes;
  }
};

const std::string gemm = "gemm --m 64 --n 64 --k 64 --data none ";
const std::string decode = "gqa_attention_decode_short --model llama-3.1-8b --s-kv 256 --data none ";

using Notes = std::vector<std::string>;

TEST_F(WithoutEffect, KeysAreNotedWithTheReason) {
  EXPECT_EQ(notes_of(gemm + "--set ipcq.hop_latency=1ns --set ipcq.depth=4"),
            Notes{"ipcq.depth and ipcq.hop_latency have no effect in this run: no PE sends a message"});
  EXPECT_EQ(notes_of(gemm + "--set pe.gemm.folds=serial"),
            Notes{"pe.gemm.folds has no effect in this run: pe.gemm.dataflow is \"ideal\""});
  EXPECT_EQ(notes_of(gemm + "--set pe.gemm.f32_cycles=8"),
            Notes{"pe.gemm.f32_cycles has no effect in this run: no products of f32 are computed"});
  EXPECT_EQ(notes_of(gemm + "--set pe.dma.burst=1024B --set pe.dma.zero_writes=true"),
            Notes{"pe.dma.zero_writes has no effect in this run: the memory is the model's own"});
  EXPECT_EQ(notes_of(gemm + "--set hbm.channels=1 --set hbm.interleave=512B"),
            Notes{"hbm.interleave has no effect in this run: hbm.channels is 1"});
  EXPECT_EQ(
      notes_of(gemm + "--set interconnect.hop_latency=1us --set interconnect.bandwidth=1GB/s"),
      Notes{"interconnect.bandwidth and interconnect.hop_latency have no effect in this run: no PE reaches the HBM "
            "of another cube"});
  EXPECT_EQ(notes_of(decode + "--set pe.math.cycles.log=8 --set pe.math.cycles.exp=8"),
            Notes{"pe.math.cycles.log has no effect in this run: none of their operations are computed"});
}

TEST_F(WithoutEffect, OptionsAreNotedWithTheReason) {
  EXPECT_EQ(notes_of(decode + "--seed 7"), Notes{"--seed has no effect in this run: --data none makes no numbers"});
  EXPECT_EQ(notes_of(decode + "--causal"),
            Notes{"--causal has no effect in this run: a single query is the last token and sees every key"});
  EXPECT_EQ(notes_of("gqa_attention_decode_long --model llama-3.1-8b --s-kv 256 --ranks 1 --reduce tree --data none"),
            Notes{"--reduce has no effect in this run: a single rank has nothing to merge"});
  EXPECT_EQ(notes_of(gemm + "--batch 1"), Notes{"--batch has no effect in this run: the kernel has no sequences"});
}

TEST_F(WithoutEffect, NothingIsNotedOfWhatHasAnEffectOrOfPresets) {
  EXPECT_EQ(notes_of(gemm + "--config ahbm-ws"), Notes{});
  EXPECT_EQ(notes_of(gemm + "--config ahbm-ws --set pe.gemm.folds=serial --set pe.gemm.f16_cycles=2"), Notes{});
  EXPECT_EQ(notes_of("gqa_attention_decode_long --model llama-3.1-8b --s-kv 1K --data none --set ipcq.hop_latency=1ns "
                     "--set ipcq.shared_per_cube=true --set pe.issue.send=2 --reduce tree"),
            Notes{});
  EXPECT_EQ(notes_of("gqa_attention_decode_short --model llama-3.1-8b --s-kv 64 --seed 2"), Notes{});
}

TEST_F(WithoutEffect, KeysOfAFileAreNotedToo) {
  write_file_atomically(path("mine.toml"), "[ipcq]\nwindow = 2\n");
  EXPECT_EQ(notes_of(gemm + "--config mine.toml"),
            Notes{"ipcq.window has no effect in this run: no PE sends a message"});
}

TEST_F(WithoutEffect, AQuietRunKeepsItsNotesInTheDocument) {
  const Outcome outcome =
      start(kernwave_executable(), words("run " + gemm + "--set ipcq.window=2 --quiet --json quiet.json"), folder_);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(parse_json(read_file(path("quiet.json")), "quiet.json").at("notes").size(), 1U);
}

// ---- what is noted is so

/// Another value of the key than that of the configuration, within its limits.
[[nodiscard]] std::int64_t other_value(const Key& key, std::int64_t value) {
  const bool is_choice = !key.choices.front().empty();
  if (is_choice) return value == 0 ? 1 : 0;
  if (key.limits.min == key.limits.max) return value == 0 ? 1 : 0;  // a truth value
  if (value == 0) return std::max<std::int64_t>(4096, key.limits.min);
  return value * 2 <= key.limits.max ? value * 2 : std::max(key.limits.min, value / 2);
}

struct Trial {
  std::int64_t latency = 0;
  bool noted = false;
};

[[nodiscard]] Trial trial_of(const WorkloadRequest& request, const Configuration& configuration) {
  const auto workload = make_workload(request, configuration.system);
  const RunRequest run{configuration, request.kernel, tl::Policy::lazy, DataMode::none, ""};
  const Json result = simulate_isolated(run, *workload);
  return {result.at("latency_ps").as_int(), result.at("notes").size() > 0};
}

/// Keys that are noted when they alone are set to another value, which must not change the latency.
[[nodiscard]] std::vector<std::string> noted_keys(const WorkloadRequest& request) {
  const Configuration usual = load_configuration({"ahbm", {"system.cubes=2", "system.pes_per_cube=2"}});
  Configuration plain = usual;
  plain.given.clear();
  const std::int64_t expected = trial_of(request, plain).latency;
  std::vector<std::string> noted;
  for (const Key& key : all_keys()) {
    Configuration changed = plain;
    changed.given = {std::string(key.path)};
    key.member.set(changed.system, other_value(key, key.member.get(changed.system)));
    const Trial trial = trial_of(request, changed);
    if (!trial.noted) continue;
    EXPECT_EQ(trial.latency, expected) << key.path << " is said to have no effect";
    noted.emplace_back(key.path);
  }
  return noted;
}

[[nodiscard]] bool holds(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

TEST(KeysWithoutEffect, ChangeNoLatency) {
  WorkloadRequest products;
  products.kernel = "gemm";
  products.m = products.n = products.k = 96;
  const std::vector<std::string> of_gemm = noted_keys(products);
  for (const char* key : {"ipcq.topology", "ipcq.bandwidth", "pe.issue.composite", "pe.scheduler.prefetch_depth",
                          "pe.gemm.bf16_cycles", "pe.gemm.folds", "pe.math.cycles.exp", "interconnect.hop_latency"}) {
    EXPECT_TRUE(holds(of_gemm, key)) << key;
  }

  WorkloadRequest attention;
  attention.kernel = "gqa_attention_decode_long";
  attention.model = load_model_shape("llama-3.1-8b");
  attention.s_kv = {200};
  const std::vector<std::string> of_decode = noted_keys(attention);
  EXPECT_FALSE(holds(of_decode, "ipcq.hop_latency"));
  EXPECT_FALSE(holds(of_decode, "pe.math.cycles.exp"));
  EXPECT_TRUE(holds(of_decode, "pe.math.cycles.copy") || holds(of_decode, "pe.math.cycles.rsqrt"));

  attention.kv = kernels::KvSource::composite;
  EXPECT_FALSE(holds(noted_keys(attention), "pe.issue.composite"));
}

}  // namespace
}  // namespace kernwave::platform::effects_test
