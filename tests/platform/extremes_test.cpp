// Work and machines beyond what there is: a message that names what was asked, and which key or option changes it.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "tests/support/error_text.h"
#include "tests/support/kernwave_command_test.h"
#include "tests/support/process.h"
#include "tests/support/sanitizer.h"

namespace kernwave::platform::extremes_test {
namespace {

using testing::Arguments;
using testing::contains;
using testing::kernwave_executable;
using testing::Outcome;
using testing::start;
using testing::words;

class Extremes : public kernwave::testing::KernwaveCommandTest {
 protected:
  /// In a process that may have 3 GB of memory.
  [[nodiscard]] Outcome run_in_3_gb(const std::string& arguments) const {
    return start("/bin/sh", {"-c", "ulimit -v 3000000; exec '" + kernwave_executable().string() + "' " + arguments},
                 folder_);
  }

  void expect_failure(const Outcome& outcome, const std::vector<std::string>& parts, int exit_code = 1) const {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors.substr(0, 10), "kernwave: ") << outcome.errors;
    for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "a run that fails leaves nothing";
  }
};

const std::string decode = "run gqa_attention_decode_short --model llama-3.1-8b --s-kv 256 --quiet --json out.json ";

// ---- the host's memory

TEST_F(Extremes, MachinesTooLargeForTheHostNameWhatTheyAreMadeOf) {
  if (!testing::addresses_can_be_limited) GTEST_SKIP() << "AddressSanitizer";
  expect_failure(run_in_3_gb(decode + "--set pe.scratch.capacity=3GiB"),
                 {"no memory left for a machine of 8 cubes of 8 PEs with 3 GiB of scratch each", "pe.scratch.capacity",
                  "system.cubes", "system.pes_per_cube"});
}

TEST_F(Extremes, StacksTooLargeForTheHostNameTheirKey) {
  if (!testing::addresses_can_be_limited) GTEST_SKIP() << "AddressSanitizer";
  expect_failure(run_in_3_gb(decode + "--data none --set run.kernel_stack=1GiB"),
                 {"no memory left for 64 stacks of 1 GiB", "run.kernel_stack", "system.pes_per_cube"});
}

TEST_F(Extremes, DataTooLargeForTheHostNameTheOptionThatNeedsNone) {
  if (!testing::addresses_can_be_limited) GTEST_SKIP() << "AddressSanitizer";
  // A of 2^17 x 2^14 f16 is 4 GiB in HBM.
  expect_failure(run_in_3_gb("run gemm --m 131072 --n 256 --k 16384 --quiet --json out.json"),
                 {"no memory left for the data of gemm", "--data none"});
}

// ---- counts and keys

TEST_F(Extremes, CountsBeyondTheirRangeAreRefusedWithIt) {
  expect_failure(run(words("run gqa_attention_decode_short --model llama-3.1-8b --s-kv 9223372036854775807")),
                 {"--s-kv", "9223372036854775807", "1 to 268435456"}, 2);
  expect_failure(run(words("run gqa_attention_decode_short --model llama-3.1-8b --s-kv 9223372036854775808")),
                 {"--s-kv", "\"9223372036854775808\" is too large"}, 2);
  expect_failure(run(words("run gqa_attention_decode_short --model llama-3.1-8b --s-kv 8589934592G")),
                 {"--s-kv", "8589934592G"}, 2);
  expect_failure(run(words("run gemm --m 8G --n 2 --k 2")), {"--m", "8589934592", "1 to 16777216"}, 2);
  expect_failure(run(words("run gqa_attention_decode_short --model llama-3.1-8b --s-kv 1 --batch 9223372036854775807")),
                 {"--batch", "9223372036854775807", "4096"}, 2);
}

TEST_F(Extremes, KeysBeyondTheirRangeAreRefusedWithIt) {
  const auto expect_refused = [this](const char* setting, const std::vector<std::string>& parts) {
    Arguments arguments = words(decode);
    arguments.insert(arguments.end(), {"--set", setting});
    expect_failure(run(arguments), parts, 2);
  };
  expect_refused("hbm.latency=100 days", {"hbm.latency", "\"days\"", "1 ps to 1 ms"});
  expect_refused("hbm.latency=8640000 s", {"hbm.latency", "1 ps to 1 ms"});
  expect_refused("hbm.latency=9223372036854775808 ps", {"hbm.latency", "1 ps to 1 ms"});
  expect_refused("hbm.capacity=16777216 TiB", {"hbm.capacity", "1 MiB to 1 TiB"});
  expect_refused("pe.clock=9223372036854775807 Hz", {"pe.clock"});
  expect_refused("pe.math.cycles.exp=9223372036854775807", {"pe.math.cycles.exp"});
  expect_refused("system.cubes=9223372036854775807", {"system.cubes", "1024"});
}

TEST_F(Extremes, KeysAtBothEndsOfTheirRangesRun) {
  for (const char* settings :
       {"--set hbm.latency=1ms --set pe.dma.setup=1ms --set interconnect.hop_latency=1ms --set ipcq.hop_latency=1ms",
        "--set hbm.latency=1ps", "--set pe.clock=1MHz --set run.no_progress_limit=never",
        "--set pe.clock=100GHz --set hbm.bandwidth=1PB/s --set pe.dma.bandwidth=1PB/s",
        "--set pe.dma.bandwidth=1MB/s --set run.no_progress_limit=never", "--set hbm.capacity=1TiB"}) {
    const Outcome outcome = run(words(decode + "--data none " + settings));
    EXPECT_EQ(outcome.exit_code, 0) << settings << "\n" << outcome.errors;
  }
}

/// The exact time of a byte has no small numerator and denominator: 1,000,000,000,000 x 1,000,000 x 16 channels over
/// 999,999,999,999,999 x 999,983, of which the first is odd and has no factor 5, and the second is a prime.
TEST_F(Extremes, RatesWithoutADivisorInCommonKeepTheirTime) {
  const auto latency = [this](const std::string& settings) {
    EXPECT_EQ(run(words(decode + "--data none " + settings)).exit_code, 0);
    const std::string document = read_file(path("out.json"));
    const std::size_t key = document.find("\"latency_ps\": ");
    return std::stoll(document.substr(key + 14));
  };
  const std::string fast = "--set pe.dma.bandwidth=1PB/s --set hbm.efficiency=";
  const std::int64_t even = latency(fast + "1 --set hbm.bandwidth=1PB/s");
  const std::int64_t odd = latency(fast + "0.999983 --set hbm.bandwidth=999999999999999B/s");
  // 17 parts in a million more for what the memory takes, which is the smaller part of the run.
  EXPECT_GE(odd, even);
  EXPECT_LE(odd - even, even / 10'000);
}

// ---- time

TEST_F(Extremes, TimeBeyond64BitsEndsTheRunWithAMessage) {
  // 2^34 multiply-accumulations of 1024 cycles at 1 MHz are 1.8 * 10^19 ps; 2^63 is 9.2 * 10^18.
  const std::string slow =
      "run gemm --m 2048 --n 2048 --k 4096 --dtype f32 --data none --quiet --json out.json --set system.cubes=1 "
      "--set system.pes_per_cube=1 --set pe.clock=1MHz --set pe.gemm.rows=1 --set pe.gemm.cols=1 "
      "--set pe.gemm.f32_cycles=1024 --set run.no_progress_limit=never --policy ";
  for (const char* policy : {"blocking", "lazy", "stall_on_use"}) {
    expect_failure(run(words(slow + policy)), {"PE 0, program ", "beyond 2^63 ps", "106 days"});
  }
}

}  // namespace
}  // namespace kernwave::platform::extremes_test
