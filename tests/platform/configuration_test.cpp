// Configuration: presets, files and overrides become a SystemConfig; mistakes are named, all of them, with the place
// and what is allowed.
#include "platform/config/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/config/presets.h"
#include "platform/files/whole_file.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::configuration_test {
namespace {

using testing::contains;

namespace fs = std::filesystem;

using Overrides = std::vector<std::string>;

/// Loads TOML texts from files in a folder of its own.
class ConfigurationFiles : public kernwave::testing::TemporaryFolderTest {
 protected:
  void SetUp() override {
    TemporaryFolderTest::SetUp();
    path_ = path("machine.toml");
  }

  [[nodiscard]] Configuration load(const std::string& toml, const Overrides& overrides = {}) const {
    write_file_atomically(path_, toml);
    return load_configuration({path_, overrides});
  }

  [[nodiscard]] std::vector<Problem> problems_of(const std::string& toml, const Overrides& overrides = {}) const {
    try {
      (void)load(toml, overrides);
    } catch (const ConfigurationError& error) {
      return error.problems();
    }
    return {};
  }

  std::string path_;
};

std::string error_of(const ConfigurationRequest& request) {
  return testing::error_of<ConfigurationError>([&] { (void)load_configuration(request); });
}

/// Every key with its value as text, to compare two configurations in full.
std::vector<std::string> values_of(const SystemConfig& system) {
  std::vector<std::string> values;
  for (const ConfigurationValue& value : configuration_values(system)) values.push_back(value.path + "=" + value.value);
  return values;
}

std::vector<std::string> values_of(const ConfigurationRequest& request) {
  return values_of(load_configuration(request).system);
}

// ---- presets ----------------------------------------------------------------------------------------------------

TEST(Presets, AhbmIsTheMachineThatTheMembersAreMadeWith) {
  const Configuration configuration = load_configuration({"ahbm", {}});
  EXPECT_EQ(configuration.preset, "ahbm");
  EXPECT_EQ(values_of(configuration.system), values_of(SystemConfig{}));
  EXPECT_TRUE(configuration.warnings.empty());
  EXPECT_TRUE(configuration.given.empty());
}

TEST(Presets, StateNoDefaultAgain) {
  // Given each preset, then none of its assignments is that of the preset below it: a key that it writes differs.
  for (const PresetDescription& preset : presets()) {
    const std::string text(find_preset(preset.name)->toml);
    std::size_t assignments = 0;
    for (std::size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ", at + 1)) ++assignments;
    const bool names_its_base = contains(text, "preset = ");
    const std::vector<std::string> defaults = values_of(SystemConfig{});
    const std::vector<std::string> values = values_of(load_configuration({preset.name, {}}).system);
    std::size_t differences = 0;
    for (std::size_t i = 0; i < values.size(); ++i) differences += values[i] != defaults[i] ? 1 : 0;
    EXPECT_EQ(assignments - (names_its_base ? 1 : 0), differences) << preset.name;
  }
}

TEST(Presets, AhbmWsDiffersOnlyInTheDataflow) {
  const Configuration configuration = load_configuration({"ahbm-ws", {}});
  EXPECT_EQ(configuration.preset, "ahbm-ws");
  SystemConfig expected;
  expected.pe.gemm.dataflow = GemmDataflow::weight_stationary;
  expected.pe.gemm.folds = FoldOverlap::overlapped;
  EXPECT_EQ(values_of(configuration.system), values_of(expected));
}

TEST(Presets, AreListedWithADescriptionAndLoad) {
  ASSERT_FALSE(presets().empty());
  EXPECT_EQ(presets().front().name, default_preset);
  for (const PresetDescription& preset : presets()) {
    EXPECT_FALSE(preset.description.empty());
    EXPECT_EQ(load_configuration({preset.name, {}}).preset, preset.name);
  }
}

TEST(Presets, ThatAreUnknownAreAnsweredWithTheList) {
  EXPECT_EQ(error_of({"abhm", {}}),
            "unknown preset \"abhm\"; did you mean \"ahbm\"? (presets: ahbm, ahbm-ws; the name of a file ends in "
            ".toml)");
  EXPECT_TRUE(contains(error_of({"", {}}), "unknown preset \"\""));
}

// ---- files ------------------------------------------------------------------------------------------------------

TEST_F(ConfigurationFiles, BuildOnAhbmUnlessTheyNameAPreset) {
  const Configuration on_ahbm = load("[pe.gemm]\nrows = 128\n");
  EXPECT_EQ(on_ahbm.preset, "ahbm");
  EXPECT_EQ(on_ahbm.system.pe.gemm.rows, 128);
  EXPECT_EQ(on_ahbm.system.pe.gemm.cols, 64);
  EXPECT_EQ(on_ahbm.system.pe.gemm.dataflow, GemmDataflow::ideal);

  const Configuration on_ws = load("preset = \"ahbm-ws\"\npe.gemm.rows = 128\n");
  EXPECT_EQ(on_ws.preset, "ahbm-ws");
  EXPECT_EQ(on_ws.system.pe.gemm.rows, 128);
  EXPECT_EQ(on_ws.system.pe.gemm.dataflow, GemmDataflow::weight_stationary);
}

TEST_F(ConfigurationFiles, ThatAreEmptyAreAhbm) { EXPECT_EQ(values_of(load("").system), values_of(SystemConfig{})); }

TEST_F(ConfigurationFiles, SetEveryKindOfValue) {
  const SystemConfig system = load(R"(
system.cubes = 3
[pe]
clock = "1.3 GHz"
issue.load = 0
gemm.dataflow = "output_stationary"
gemm.folds = "serial"
scratch.capacity = "512 KiB"
scratch.bandwidth = "1 KiB/cycle"
dma = { setup = "1.5 ns", overlap_commands = false, burst = "64 B", outstanding = 4096 }
[hbm]
bandwidth = "3.35 TB/s"
efficiency = 0.86
latency = "1 ps"
channels = 17
)")
                                  .system;
  EXPECT_EQ(system.cubes, 3);
  EXPECT_EQ(system.pe.clock.count(), 1'300'000'000);
  EXPECT_EQ(system.pe.issue.load.count(), 0);
  EXPECT_EQ(system.pe.gemm.dataflow, GemmDataflow::output_stationary);
  EXPECT_EQ(system.pe.gemm.folds, FoldOverlap::serial);
  EXPECT_EQ(system.pe.scratch.capacity.count(), 524'288);
  EXPECT_EQ(system.pe.scratch.bytes_per_cycle, 1024);
  EXPECT_EQ(system.pe.dma.setup.count(), 1'500);
  EXPECT_FALSE(system.pe.dma.overlap_commands);
  EXPECT_EQ(system.pe.dma.burst.count(), 64);
  EXPECT_EQ(system.hbm.bandwidth.count(), 3'350'000'000'000);
  EXPECT_EQ(system.hbm.efficiency.count(), 860'000);
  EXPECT_EQ(system.hbm.latency.count(), 1);
  EXPECT_EQ(system.hbm.channels, 17);
}

// C8: 1, 3, 16 PEs.
TEST_F(ConfigurationFiles, TakeAnyNumberOfPes) {
  for (const int pes : {1, 3, 16}) {
    const std::string key = "system.pes_per_cube = " + std::to_string(pes);
    EXPECT_EQ(load(key).system.pes_per_cube, pes);
  }
}

TEST_F(ConfigurationFiles, TakeEveryRatioOfSixDecimalsExactly) {
  for (const int millionths : {1, 7, 100'001, 290'000, 333'333, 570'000, 860'000, 999'999, 1'000'000}) {
    const std::string digits = std::to_string(1'000'000 + millionths);
    const std::string ratio = (millionths == 1'000'000 ? "1." : "0.") + digits.substr(1);
    const Configuration configuration = load("hbm.efficiency = " + ratio, {"hbm.bandwidth=1 PB/s"});
    EXPECT_EQ(configuration.system.hbm.efficiency.count(), millionths) << ratio;
  }
  EXPECT_EQ(load("hbm.efficiency = 1").system.hbm.efficiency.count(), 1'000'000);
}

// ---- overrides --------------------------------------------------------------------------------------------------

TEST(Overrides, NeedNoQuotesAndTakeThem) {
  const Overrides plain{"pe.gemm.rows=128",
                        "hbm.bandwidth=1.6 TB/s",
                        "pe.gemm.dataflow=weight_stationary",
                        "pe.dma.overlap_commands=false",
                        "hbm.efficiency=0.5",
                        "pe.dma.burst=whole"};
  const Overrides quotes{" pe.gemm.rows = 128 ",
                         "hbm.bandwidth=\"1.6 TB/s\"",
                         "pe.gemm.dataflow='weight_stationary'",
                         "pe.dma.overlap_commands = false",
                         "hbm.efficiency=0.500",
                         "pe.dma.burst=\"whole\""};
  const SystemConfig system = load_configuration({"ahbm", plain}).system;
  EXPECT_EQ(system.pe.gemm.rows, 128);
  EXPECT_EQ(system.hbm.bandwidth.count(), 1'600'000'000'000);
  EXPECT_EQ(system.pe.gemm.dataflow, GemmDataflow::weight_stationary);
  EXPECT_FALSE(system.pe.dma.overlap_commands);
  EXPECT_EQ(system.hbm.efficiency.count(), 500'000);
  EXPECT_EQ(values_of({"ahbm", plain}), values_of({"ahbm", quotes}));
}

TEST(Overrides, OfOneKeyEndWithTheLast) {
  EXPECT_EQ(load_configuration({"ahbm", {"system.cubes=2", "system.cubes=4"}}).system.cubes, 4);
}

TEST_F(ConfigurationFiles, YieldToOverrides) {
  EXPECT_EQ(load("system.cubes = 2", {"system.cubes=4"}).system.cubes, 4);
}

TEST(Overrides, ThatAreWrongAreNamedWithoutALine) {
  EXPECT_EQ(error_of({"ahbm", {"pe.gemm.rowz=128"}}),
            "--set: pe.gemm.rowz: unknown key; did you mean \"pe.gemm.rows\"? (allowed in [pe.gemm]: rows, cols, "
            "dataflow, folds, f32_cycles, f16_cycles, bf16_cycles, clock_multiple, queue_depth, timing)");
  EXPECT_EQ(error_of({"ahbm", {"pe.gemm.rows=0"}}), "--set: pe.gemm.rows: 0 is out of range (allowed: 1 to 65536)");
}

// ---- printing ---------------------------------------------------------------------------------------------------

TEST(ResolvedConfiguration, IsPrintedAsAFileOfEveryKey) {
  const std::string text = to_toml(load_configuration({"ahbm-ws", {"hbm.efficiency=0.86"}}));
  EXPECT_TRUE(contains(text, "preset = \"ahbm-ws\"\n")) << text;
  EXPECT_TRUE(contains(text, "\n[pe.gemm]\nrows = 64 ")) << text;
  EXPECT_TRUE(contains(text, "\ndataflow = \"weight_stationary\" ")) << text;
  EXPECT_TRUE(contains(text, "\nbandwidth = \"819.2 GB/s\" ")) << text;
  EXPECT_TRUE(contains(text, "\nefficiency = 0.86 ")) << text;
  EXPECT_TRUE(contains(text, "\noverlap_commands = true ")) << text;
  EXPECT_TRUE(contains(text, "\nburst = \"whole\" ")) << text;
}

// C12: the resolved configuration that a result holds gives the same machine again.
TEST_F(ConfigurationFiles, ThatWerePrintedLoadBackToTheSameValues) {
  const std::vector<ConfigurationRequest> requests{
      {"ahbm", {}},
      {"ahbm-ws", {"pe.dma.burst=64 B", "pe.dma.max_outstanding=4096"}},
      {"ahbm",
       {"pe.clock=1234567891 Hz", "hbm.bandwidth=1234567.891 KB/s", "pe.dma.setup=1.001 ns", "hbm.efficiency=0.333333",
        "pe.scratch.capacity=1025 B", "pe.scratch.bandwidth=1025 B/cycle", "pe.gemm.folds=serial",
        "pe.dma.overlap_commands=false", "hbm.capacity=1000001 KB"}}};
  for (const ConfigurationRequest& request : requests) {
    const Configuration first = load_configuration(request);
    const Configuration second = load(to_toml(first));
    EXPECT_EQ(second.preset, first.preset);
    EXPECT_EQ(values_of(second.system), values_of(first.system));
    EXPECT_EQ(to_toml(second), to_toml(first));
  }
}

/// "1 to 1024" as the two texts around " to ", without the words before them.
std::pair<std::string, std::string> ends_of(std::string allowed) {
  for (const std::string words : {"powers of two from ", ", or "}) {
    const std::size_t start = allowed.find(words);
    if (start != std::string::npos) allowed.erase(0, start + words.size());
  }
  const std::size_t to = allowed.find(" to ");
  return {allowed.substr(0, to), allowed.substr(to + 4)};
}

TEST(Keys, AcceptBothEndsOfTheirRange) {
  // Given the limits as documented, when each is set by --set, then it is taken and printed the same.
  for (const KeyDescription& key : configuration_keys()) {
    if (!contains(key.allowed, " to ")) continue;
    const auto [first, last] = ends_of(key.allowed);
    for (const std::string& value : {first, last}) {
      // Rules about several keys are kept by values of the others that suit both ends.
      const ConfigurationRequest request{"ahbm",
                                         {"system.cubes=1", "system.pes_per_cube=1", "hbm.channels=1",
                                          "hbm.efficiency=1.0", "hbm.bandwidth=1 PB/s", key.path + "=" + value}};
      const std::vector<std::string> values = values_of(request);
      EXPECT_NE(std::find(values.begin(), values.end(), key.path + "=" + value), values.end()) << key.path << value;
    }
  }
}

TEST(Keys, AcceptEachOfTheirChoices) {
  for (const std::string dataflow : {"ideal", "weight_stationary", "output_stationary"}) {
    const Configuration configuration = load_configuration({"ahbm", {"pe.gemm.dataflow=" + dataflow}});
    EXPECT_TRUE(contains(to_toml(configuration), "dataflow = \"" + dataflow + "\""));
  }
  for (const std::string folds : {"serial", "overlapped"}) {
    const Configuration configuration = load_configuration({"ahbm", {"pe.gemm.folds=" + folds}});
    EXPECT_TRUE(contains(to_toml(configuration), "folds = \"" + folds + "\""));
  }
}

TEST(Keys, EachReachAMemberOfTheirOwn) {
  // Given every key in turn changed from its default, then exactly that key's value changes.
  const std::vector<std::string> defaults = values_of(SystemConfig{});
  std::set<std::string> paths;
  for (const KeyDescription& key : configuration_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << "twice: " << key.path;
    if (key.type == "a path") continue;  // TimingKeys.EachReachAPlaceOfTheirOwn
    std::string other;
    if (key.default_value == "true") {
      other = "false";
    } else if (!contains(key.allowed, " to ")) {
      other = key.allowed.substr(key.allowed.rfind(' ') + 1);
      if (other == key.default_value) other = key.allowed.substr(0, key.allowed.find(','));
    } else {
      const auto [first, last] = ends_of(key.allowed);
      other = first == key.default_value ? last : first;
      if (contains(key.path, "hbm.bandwidth")) other = last;  // the first is too little for 16 channels
      if (contains(key.path, "hbm.efficiency")) other = "0.5";
    }
    const std::vector<std::string> values = values_of({"ahbm", {key.path + "=" + other}});
    ASSERT_EQ(values.size(), defaults.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_this_key = defaults[i] == key.path + "=" + key.default_value;
      EXPECT_EQ(values[i], is_this_key ? key.path + "=" + other : defaults[i]);
    }
  }
}

TEST(Keys, AreDocumented) {
  const std::string markdown = keys_as_markdown();
  for (const KeyDescription& key : configuration_keys()) {
    EXPECT_FALSE(key.type.empty()) << key.path;
    EXPECT_FALSE(key.allowed.empty()) << key.path;
    EXPECT_FALSE(key.description.empty()) << key.path;
    EXPECT_TRUE(contains(markdown, "| `" + key.path + "` | ")) << key.path;
  }
  EXPECT_TRUE(contains(markdown, "| `hbm.interleave` | a size | `256 B` | powers of two from 32 B to 1 GiB | "));
  // One row a key: a bar inside a cell would break the table.
  for (std::size_t start = 0; start < markdown.size();) {
    const std::size_t end = markdown.find('\n', start);
    EXPECT_EQ(std::count(markdown.begin() + static_cast<std::ptrdiff_t>(start),
                         markdown.begin() + static_cast<std::ptrdiff_t>(end), '|'),
              6);
    start = end + 1;
  }
}

// ---- warnings ---------------------------------------------------------------------------------------------------

TEST(Warnings, SayWhenTheBurstsInFlightCannotFillThePort) {
  // Given 16 bursts of 256 B in flight, and 128 GB/s over a round trip of 20 + 100 ns, which is 15360 B
  const Configuration starved = load_configuration({"ahbm", {"pe.dma.burst=256 B"}});
  ASSERT_EQ(starved.warnings.size(), 1U);
  for (const std::string part : {"4 KiB in flight", "15360 B", "128 GB/s", "120 ns", "60 outstanding bursts would"}) {
    EXPECT_TRUE(contains(starved.warnings.front(), part)) << starved.warnings.front();
  }
  // When 60 are in flight, then they just suffice
  EXPECT_EQ(load_configuration({"ahbm", {"pe.dma.burst=256 B", "pe.dma.max_outstanding=59"}}).warnings.size(), 1U);
  EXPECT_TRUE(load_configuration({"ahbm", {"pe.dma.burst=256 B", "pe.dma.max_outstanding=60"}}).warnings.empty());
}

// ---- mistakes ---------------------------------------------------------------------------------------------------

// C10: a misspelt key, a bad number, a wrong unit: file, line, key and allowed values are named.
TEST_F(ConfigurationFiles, WithAMistakeNameFileLineKeyAndWhatIsAllowed) {
  struct Case {
    std::string toml;
    int line;
    std::string key;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases{
      // misspelt and misplaced keys
      {"[pe.gemm]\nrowz = 128", 2, "pe.gemm.rowz", {"unknown key; did you mean \"pe.gemm.rows\"?", "rows, cols"}},
      {"\n\n[pe.gem]\nrows = 128", 3, "pe.gem", {"unknown key; did you mean \"pe.gemm\"?", "gemm, math, scratch"}},
      {"[gemm]\nrows = 128", 1, "gemm", {"did you mean \"pe.gemm\"?", "allowed at the top: system, pe, ipcq, hbm"}},
      {"rows = 128", 1, "rows", {"did you mean \"pe.gemm.rows\"?"}},
      {"bandwidth = \"1 GB/s\"",
       1,
       "bandwidth",
       {"pe.scratch.bandwidth\" or \"pe.dma.bandwidth\" or \"ipcq.bandwidth\" or \"hbm.bandwidth"}},
      {"[pe.math.cycles]\nsqrt = 4", 2, "pe.math.cycles.sqrt", {"did you mean \"pe.math.cycles.rsqrt\"?"}},
      {"[hbm]\nzzzzzz = 1", 2, "hbm.zzzzzz", {"unknown key (allowed in [hbm]: channels, bandwidth, efficiency"}},
      {"\"pe.clock\" = \"1 GHz\"", 1, "\"pe.clock\"", {"unknown key", "pe.clock"}},
      {"\"a\\nb\" = 1", 1, "\"a\\nb\"", {"unknown key"}},
      {"presett = \"ahbm\"", 1, "presett", {"unknown key"}},
      // tables and values in each other's place
      {"[pe]\ngemm = 3", 2, "pe.gemm", {"is a table of keys (rows, cols", "got the integer 3"}},
      {"[[hbm]]\nchannels = 3", 1, "hbm", {"is a table of keys", "got an array"}},
      {"[pe.gemm.rows]\nx = 1", 1, "pe.gemm.rows", {"expected an integer, got a table"}},
      {"pe.gemm.rows = [1]", 1, "pe.gemm.rows", {"expected an integer, got an array"}},
      {"pe.gemm.rows = 1979-05-27", 1, "pe.gemm.rows", {"expected an integer, got a date or time"}},
      // wrong types
      {"pe.issue.load = \"8\"", 1, "pe.issue.load", {"expected an integer number of cycles, got the text \"8\""}},
      {"pe.issue.load = \"8 ns\"", 1, "pe.issue.load", {"an integer number of cycles", "0 to 1000000"}},
      {"pe.gemm.rows = 64.0", 1, "pe.gemm.rows", {"expected an integer, got the number 64.0"}},
      {"pe.gemm.rows = true", 1, "pe.gemm.rows", {"expected an integer, got true"}},
      {"hbm.bandwidth = 819", 1, "hbm.bandwidth", {"a bandwidth such as \"819.2 GB/s\", got the integer 819"}},
      {"pe.scratch.capacity = 1048576", 1, "pe.scratch.capacity", {"a size such as \"1 MiB\""}},
      {"pe.dma.setup = 20", 1, "pe.dma.setup", {"a time such as \"20 ns\""}},
      {"pe.clock = 1e9", 1, "pe.clock", {"a frequency such as \"1.3 GHz\""}},
      {"pe.scratch.bandwidth = 512", 1, "pe.scratch.bandwidth", {"bytes per cycle such as \"512 B/cycle\""}},
      {"pe.dma.overlap_commands = 1", 1, "pe.dma.overlap_commands", {"expected true or false, got the integer 1"}},
      {"hbm.efficiency = \"86%\"", 1, "hbm.efficiency", {"a number such as 0.86", "0.000001 to 1.0"}},
      {"pe.gemm.dataflow = 1", 1, "pe.gemm.dataflow", {"expected a name", "ideal, weight_stationary"}},
      // wrong units
      {"hbm.bandwidth = \"819.2 GB\"", 1, "hbm.bandwidth", {"wrong unit \"GB\"", "\"819.2 GB/s\"", "1 MB/s to 1 PB/s"}},
      {"hbm.latency = \"100\"", 1, "hbm.latency", {"has no unit", "\"20 ns\"", "1 ps to 1 ms"}},
      {"hbm.latency = \"100 cycles\"", 1, "hbm.latency", {"wrong unit \"cycles\""}},
      {"pe.scratch.bandwidth = \"512 B\"", 1, "pe.scratch.bandwidth", {"wrong unit \"B\"", "512 B/cycle"}},
      {"pe.clock = \"1 ghz\"", 1, "pe.clock", {"wrong unit \"ghz\"", "1 MHz to 100 GHz"}},
      {"pe.dma.setup = \"0.5 ps\"", 1, "pe.dma.setup", {"whole number of picoseconds"}},
      {"pe.scratch.capacity = \"one MiB\"", 1, "pe.scratch.capacity", {"decimal number"}},
      {"pe.scratch.capacity = \"\"", 1, "pe.scratch.capacity", {"nothing is given"}},
      // out of range
      {"system.cubes = 0", 1, "system.cubes", {"0 is out of range (allowed: 1 to 1024)"}},
      {"system.cubes = -1", 1, "system.cubes", {"-1 is out of range"}},
      {"system.pes_per_cube = 257", 1, "system.pes_per_cube", {"1 to 256"}},
      {"pe.clock = \"0 GHz\"", 1, "pe.clock", {"\"0 GHz\" is out of range"}},
      {"pe.gemm.queue_depth = 0", 1, "pe.gemm.queue_depth", {"1 to 65536"}},
      {"pe.scheduler.dispatch_latency = 0", 1, "pe.scheduler.dispatch_latency", {"1 to 1000000"}},
      {"pe.scratch.capacity = \"4 GiB\"", 1, "pe.scratch.capacity", {"out of range", "1 KiB to 4294967295 B"}},
      {"hbm.latency = \"0 ns\"", 1, "hbm.latency", {"\"0 ns\" is out of range (allowed: 1 ps to 1 ms)"}},
      {"hbm.efficiency = 0.0", 1, "hbm.efficiency", {"out of range", "0.000001 to 1.0"}},
      {"hbm.efficiency = 1.000001", 1, "hbm.efficiency", {"out of range"}},
      {"hbm.efficiency = nan", 1, "hbm.efficiency", {"nan is out of range"}},
      {"hbm.efficiency = inf", 1, "hbm.efficiency", {"inf is out of range"}},
      {"hbm.efficiency = 0.1234567", 1, "hbm.efficiency", {"more than six decimals"}},
      {"hbm.interleave = \"300 B\"", 1, "hbm.interleave", {"no power of two", "powers of two from 32 B to 1 GiB"}},
      {"hbm.interleave = \"16 B\"", 1, "hbm.interleave", {"out of range"}},
      {"pe.dma.burst = \"96 B\"", 1, "pe.dma.burst", {"no power of two", "whole, or powers of two from 4 B to 4 KiB"}},
      {"pe.dma.burst = \"0 B\"", 1, "pe.dma.burst", {"out of range", "whole, or powers"}},
      {"pe.dma.burst = \"hole\"", 1, "pe.dma.burst", {"whole, or powers"}},
      {"pe.gemm.dataflow = \"weight-stationary\"", 1, "pe.gemm.dataflow", {"did you mean \"weight_stationary\"?"}},
      {"pe.gemm.folds = \"x\"", 1, "pe.gemm.folds", {"\"x\" is not a choice (allowed: serial, overlapped)"}},
      // combinations
      {"system.cubes = 1024\nsystem.pes_per_cube = 256", 2, "", {"is 262144 PEs", "up to 16384"}},
      {"hbm.efficiency = 0.000001", 1, "", {"hbm.bandwidth x hbm.efficiency / hbm.channels", "51.2 KB/s", "1 MB/s"}},
      // presets
      {"preset = \"ahmb\"", 1, "preset", {"unknown preset \"ahmb\"; did you mean \"ahbm\"?", "ahbm, ahbm-ws"}},
      {"preset = 3", 1, "preset", {"the name of a preset", "ahbm, ahbm-ws", "got the integer 3"}},
      // not TOML
      {"[pe\nclock = 1", 1, "", {"not TOML"}},
      {"[\\pe]\nclock = \"1 GHz\"", 1, "", {"not TOML", "expected bare key starting character", "\\"}},
      {"[pe]\nclock = 1 GHz", 2, "", {"not TOML"}},
      {"[pe.gemm]\nrows = 1\nrows = 2", 3, "", {"not TOML", "rows"}},
      {"[hbm]\n[pe]\n[hbm]", 3, "", {"not TOML", "hbm"}},
      {"pe.gemm.rows = 99999999999999999999", 1, "", {"not TOML", "64 bits"}},
      {"# \xff", 1, "", {"not TOML", "utf-8"}},
  };
  ASSERT_GE(cases.size(), 40U);
  for (const Case& bad : cases) {
    const std::vector<Problem> problems = problems_of(bad.toml);
    ASSERT_EQ(problems.size(), 1U) << bad.toml;
    const Problem& problem = problems.front();
    EXPECT_EQ(problem.file, path_) << bad.toml;
    EXPECT_EQ(problem.line, bad.line) << bad.toml;
    EXPECT_EQ(problem.key, bad.key) << bad.toml;
    for (const std::string& part : bad.parts) {
      EXPECT_TRUE(contains(problem.message, part)) << bad.toml << "\ngave: " << problem.message << "\nlacks: " << part;
    }
    EXPECT_FALSE(contains(problem.to_string(), "\n")) << problem.to_string();
  }
}

TEST(Overrides, WithAMistakeNameKeyAndWhatIsAllowed) {
  struct Case {
    std::string text;
    std::string message;
  };
  const std::vector<Case> cases{
      {"pe.gemm.rows", "--set: \"pe.gemm.rows\" is not KEY=VALUE; write --set pe.gemm.rows=128"},
      {"=3", "--set: \"=3\" is not KEY=VALUE"},
      {"", "--set: \"\" is not KEY=VALUE"},
      {"pe.gemm.rows=", "--set: pe.gemm.rows: expected an integer, got the text \"\""},
      {"pe.gemm.rows=12x", "--set: pe.gemm.rows: expected an integer, got the text \"12x\""},
      {"pe.gemm.rows=1 2", "--set: pe.gemm.rows: expected an integer, got the text \"1 2\""},
      {"pe.gemm.rows=1e2", "--set: pe.gemm.rows: expected an integer, got the number 100.0"},
      {"pe.gemm.rows=1\nsystem.cubes=2",
       "--set: pe.gemm.rows: expected an integer, got the text \"1\\nsystem.cubes=2\""},
      {"hbm.bandwidth=1.6", "--set: hbm.bandwidth: expected a bandwidth such as \"819.2 GB/s\", got the number 1.6"},
      {"hbm.bandwidth=1.6 TB", "--set: hbm.bandwidth: \"1.6 TB\" has the wrong unit \"TB\""},
      {"pe.gemm=3", "--set: pe.gemm: is a table of keys"},
      {"pe.dma.overlap_commands=yes", "--set: pe.dma.overlap_commands: expected true or false, got the text \"yes\""},
      {"preset=ahbm-ws", "--set: preset: the preset is chosen by name or in a file, not by --set"},
  };
  for (const Case& bad : cases) {
    const std::string error = error_of({"ahbm", {bad.text}});
    EXPECT_EQ(error.substr(0, bad.message.size()), bad.message);
  }
  const std::string combined = error_of({"ahbm", {"system.pes_per_cube=256", "system.cubes=1024"}});
  EXPECT_TRUE(contains(combined, "--set: system.cubes x system.pes_per_cube is 262144 PEs")) << combined;
}

// C9: a missing configuration is named.
TEST_F(ConfigurationFiles, ThatCannotBeReadAreNamed) {
  EXPECT_EQ(error_of({path_, {}}), path_ + ": cannot be read: it does not exist");
  fs::create_directory(path_);
  EXPECT_EQ(error_of({path_, {}}), path_ + ": cannot be read: it is a folder");
  fs::remove(path_);
  write_file_atomically(path_, std::string(65'537, '#'));
  EXPECT_EQ(error_of({path_, {}}), path_ + ": cannot be read: it is larger than 64 KiB");
}

TEST_F(ConfigurationFiles, WithManyMistakesNameAllOfThemAtOnceFromTheTop) {
  // Given mistakes of several kinds, in an order that is not alphabetical, in the file and in the overrides
  const std::string toml =
      "preset = \"nope\"\n"
      "[system]\n"
      "cubes = 0\n"
      "[hbm]\n"
      "latency = 100\n"
      "bandwith = \"1 TB/s\"\n"
      "[pe.gemm]\n"
      "rows = \"64\"\n";
  // When it is loaded
  const std::vector<Problem> problems = problems_of(toml, {"pe.gemm.colz=3", "pe.clock=1 Hz"});
  // Then each is there once, by line, and the overrides follow
  std::vector<std::string> places;
  places.reserve(problems.size());
  for (const Problem& problem : problems) {
    places.push_back((problem.file == path_ ? "file" : problem.file) + ":" + std::to_string(problem.line) + ":" +
                     problem.key);
  }
  const std::vector<std::string> expected{"file:1:preset",       "file:3:system.cubes", "file:5:hbm.latency",
                                          "file:6:hbm.bandwith", "file:8:pe.gemm.rows", "--set:0:pe.gemm.colz",
                                          "--set:0:pe.clock"};
  EXPECT_EQ(places, expected);
}

TEST_F(ConfigurationFiles, WithManyMistakesPrintOneLineForEach) {
  write_file_atomically(path_, "[pe.gemm]\nrows = 0\ncols = 0\n");
  EXPECT_EQ(error_of({path_, {"hbm.channels=0"}}),
            path_ + ":2: pe.gemm.rows: 0 is out of range (allowed: 1 to 65536)\n" + path_ +
                ":3: pe.gemm.cols: 0 is out of range (allowed: 1 to 65536)\n" +
                "--set: hbm.channels: 0 is out of range (allowed: 1 to 1024)");
}

TEST_F(ConfigurationFiles, WithARefusedValueAreNotJudgedByRulesAboutIt) {
  // Given an efficiency that would break a rule together with the preset's bandwidth, and a bandwidth that is refused
  const std::vector<Problem> problems = problems_of("hbm.efficiency = 0.000001\nhbm.bandwidth = \"8000 TB\"\n");
  // Then only the refusal is reported
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().key, "hbm.bandwidth");
}

TEST_F(ConfigurationFiles, ThatNestAbsurdlyDeepAreRefusedWithoutACrash) {
  std::string key = "a";
  while (key.size() < 900) key += ".a";
  const std::vector<Problem> deep = problems_of(key + " = 1");
  ASSERT_EQ(deep.size(), 1U);
  EXPECT_EQ(deep.front().key, "a");
  EXPECT_EQ(problems_of("x = " + std::string(900, '[')).size(), 1U);

  while (key.size() < 60'000) key += ".a";
  const std::vector<Problem> deeper = problems_of("[hbm]\n" + key + " = 1");
  ASSERT_EQ(deeper.size(), 1U);
  EXPECT_EQ(deeper.front().line, 2);
  EXPECT_EQ(deeper.front().message, "the line is longer than 1000 bytes");
}

}  // namespace
}  // namespace kernwave::platform::configuration_test
