// Files of measured times: keys name them, what is wrong with them is said with the line, and they hold for a run.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "platform/config/configuration.h"
#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace kernwave::platform::timing_keys_test {
namespace {

using testing::kernwave_executable;
using testing::Outcome;
using testing::start;
using testing::words;

const std::string products = R"(unit = "cycles"
fixed = 3
[[gemm]]
type = "f16"
m = [64, 128]
n = [64, 128]
k = [64]
time = [
  64, 128,
  128, 256,
]
)";

class TimingKeys : public kernwave::testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] std::vector<std::string> problems_of(const std::string& table, const std::string& key) const {
    write_file_atomically(path("times.toml"), table);
    std::vector<std::string> problems;
    try {
      (void)load_configuration({"ahbm", {key + "=" + path("times.toml")}});
    } catch (const ConfigurationError& error) {
      for (const Problem& problem : error.problems()) {
        problems.push_back(std::to_string(problem.line) + ": " + problem.key + ": " + problem.message);
      }
    }
    return problems;
  }

  [[nodiscard]] Json document_of(const std::string& arguments) const {
    const Outcome outcome = start(kernwave_executable(), words("run " + arguments + " --json run.json"), folder_);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    return parse_json(read_file(path("run.json")), "run.json");
  }
};

using Problems = std::vector<std::string>;

TEST_F(TimingKeys, NameATableBesideTheFileThatNamesThem) {
  write_file_atomically(path("times.toml"), products);
  write_file_atomically(path("machine.toml"), "[pe.gemm]\ntiming = \"times.toml\"\n");
  // One product of 128 x 64 . 64 x 128: 256 + 3 cycles of 1 ns.
  const Json document = document_of("gemm --m 128 --n 128 --k 64 --data none --config machine.toml");
  EXPECT_EQ(document.at("bounds_ps").at("issued").at("gemm_dataflow").as_int(), 259'000);
  EXPECT_EQ(document.at("config").at("pe.gemm.timing").as_string(), "times.toml");
  // The resolved configuration loads to the same.
  const Configuration configuration = load_configuration({path("machine.toml"), {}});
  write_file_atomically(path("resolved.toml"), to_toml(configuration));
  EXPECT_EQ(to_toml(load_configuration({path("resolved.toml"), {}})), to_toml(configuration));
}

TEST_F(TimingKeys, EachReachAPlaceOfTheirOwn) {
  const std::vector<std::pair<std::string, std::string>> keys{
      {"pe.gemm.timing", "[[gemm]]\nm = [1]\ntime = [1]\n"},
      {"pe.math.timing", "[[math]]\nrows = [1]\ntime = [1]\n"},
      {"pe.dma.timing", "[[dma]]\nbytes = [1]\ntime = [1]\n"},
      {"ipcq.timing", "[[link]]\nbytes = [1]\ntime = [1]\n"},
      {"interconnect.timing", "[[link]]\nbytes = [1]\ntime = [1]\n"}};
  for (const auto& [key, table] : keys) {
    write_file_atomically(path("times.toml"), table);
    const SystemConfig system = load_configuration({"ahbm", {key + "=" + path("times.toml")}}).system;
    for (const ConfigurationValue& value : configuration_values(system)) {
      const bool is_timing = value.path.size() > 7 && value.path.substr(value.path.size() - 7) == ".timing";
      if (!is_timing) continue;
      EXPECT_EQ(value.value, value.path == key ? path("times.toml") : "") << key << ", " << value.path;
    }
    const PeConfig& pe = system.pe;
    EXPECT_EQ(int{bool{pe.gemm.timing}} + bool{pe.math.timing} + bool{pe.dma.timing} + bool{pe.ipcq.timing} +
                  bool{system.interconnect.timing},
              1)
        << key;
  }
}

TEST_F(TimingKeys, AreTakenBackByAnEmptyName) {
  write_file_atomically(path("times.toml"), products);
  const std::string set = "pe.gemm.timing=" + path("times.toml");
  EXPECT_TRUE(load_configuration({"ahbm", {set}}).system.pe.gemm.timing);
  EXPECT_FALSE(load_configuration({"ahbm", {set, "pe.gemm.timing=\"\""}}).system.pe.gemm.timing);
}

TEST_F(TimingKeys, ReplaceOthersWhichAreThenWithoutEffect) {
  write_file_atomically(path("times.toml"), products);
  const std::string command =
      "gemm --m 128 --n 128 --k 64 --data none --set pe.gemm.rows=128 --set pe.gemm.timing=times.toml";
  const Json document = document_of(command);
  ASSERT_EQ(document.at("notes").as_array().size(), 1U);
  EXPECT_EQ(document.at("notes").as_array()[0].as_string(),
            "pe.gemm.rows has no effect in this run: pe.gemm.timing says how long products take");
  write_file_atomically(path("times.toml"), "outside = \"formula\"\n" + products);
  EXPECT_TRUE(document_of(command).at("notes").as_array().empty());
}

TEST_F(TimingKeys, AreHalvedByAWhatIf) {
  write_file_atomically(path("times.toml"), "[[gemm]]\nm = [128]\ntime = [2000]\n");
  const Json document =
      document_of("gemm --m 128 --n 128 --k 64 --data none --set pe.gemm.timing=times.toml --verify-what-if");
  bool found = false;
  for (const Json& prediction : document.at("critical_path").at("what_if").as_array()) {
    if (prediction.at("resource").as_string() != "gemm") continue;
    found = true;
    EXPECT_EQ(prediction.at("actual_ps").as_int(), document.at("latency_ps").as_int() - 1'000'000);
  }
  EXPECT_TRUE(found);
}

TEST_F(TimingKeys, SayWhatIsWrongWithATable) {
  EXPECT_EQ(problems_of("[[gemm]]\nm = [1]\n", "pe.gemm.timing"), Problems{"1: gemm: an entry without \"time\""});
  EXPECT_EQ(problems_of("[[gemm]]\nm = [1, 2]\ntime = [3]\n", "pe.gemm.timing"),
            Problems{"3: gemm: 1 values for 2 points of the axes"});
  EXPECT_EQ(problems_of("[[gemm]]\nm = [1]\ntyp = \"f16\"\ntime = [3]\n", "pe.gemm.timing"),
            Problems{"3: typ: unknown key; did you mean \"type\"? (allowed in [[gemm]]: m, k, n, type, accumulates, "
                     "back_to_back, time)"});
  EXPECT_EQ(problems_of("[[gemm]]\nm = [1]\ntype = \"f8\"\ntime = [3]\n", "pe.gemm.timing"),
            Problems{"3: type: the text \"f8\" is none of f32, f16, bf16, int32, bool"});
  EXPECT_EQ(problems_of("[[math]]\nm = [1]\ntime = [3]\n", "pe.gemm.timing"),
            (Problems{"1: math: unknown key (allowed: unit, fixed, outside, [[gemm]])"}));
  EXPECT_EQ(problems_of("unit = \"cycles\"\n[[link]]\nbytes = [1]\ntime = [3]\n", "ipcq.timing"),
            Problems{"1: unit: links have no clock: give \"ps\""});
  EXPECT_EQ(problems_of("fixed = -1\n[[dma]]\nbytes = [1]\ntime = [3]\n", "pe.dma.timing"),
            Problems{"1: fixed: expected an integer from 0 to 1099511627776, got the integer -1"});
  EXPECT_EQ(problems_of("fixed = 1\n", "pe.dma.timing"), Problems{"0: : has no [[dma]]: no times"});
  EXPECT_EQ(problems_of("[[dma]\n", "pe.dma.timing").size(), 1U);
}

}  // namespace
}  // namespace kernwave::platform::timing_keys_test
