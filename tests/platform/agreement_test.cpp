// One run with everything on: what its files say of the engines is the same number.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/files/whole_file.h"
#include "platform/json/json.h"
#include "tests/support/process.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timeline_reader.h"
#include "tests/support/vcd_reader.h"

namespace kernwave::agreement_test {
namespace {

using platform::Json;
using testing::Outcome;

/// Picoseconds by "pe3 gemm", of engines that were busy at all.
using BusyTimes = std::map<std::string, std::int64_t>;

void add(BusyTimes& busy, const std::string& pe, const std::string& engine, std::int64_t time) {
  if (time != 0) busy[pe + " " + engine] += time;
}

[[nodiscard]] BusyTimes of_document(const Json& document) {
  BusyTimes busy;
  for (const Json::Member& pe : document.at("busy_ps").as_object()) {
    for (const Json::Member& engine : pe.value.as_object()) add(busy, pe.key, engine.key, engine.value.as_int());
  }
  return busy;
}

[[nodiscard]] BusyTimes of_op_log(const std::string& path) {
  BusyTimes busy;
  for (const auto& row : testing::query(path,
                                        "SELECT pe, engine, SUM(end_ps - start_ps) FROM operations WHERE engine <> "
                                        "'composite' AND kind <> 'ipcq_recv' GROUP BY pe, engine")) {
    add(busy, "pe" + row.at(0), row.at(1), std::stoll(row.at(2)));
  }
  return busy;
}

[[nodiscard]] BusyTimes of_timeline(const std::string& path) {
  const std::map<std::string, std::string> engines = {
      {"DMA", ""}, {"GEMM", "gemm"}, {"MATH", "math"}, {"send", "ipcq"}};
  BusyTimes busy;
  for (const testing::TimelineSlice& slice : testing::read_timeline(path).slices) {
    const std::string first_word = slice.track.substr(0, slice.track.find(' '));
    const auto engine = engines.find(first_word);
    if (engine == engines.end()) continue;
    const std::string name =
        first_word == "DMA" ? (slice.track == "DMA read" ? "dma_read" : "dma_write") : engine->second;
    std::istringstream process(slice.process);  // "PE 3 (cube 0)"
    std::string word;
    std::string number;
    process >> word >> number;
    add(busy, "pe" + number, name, slice.duration_ps());
  }
  return busy;
}

[[nodiscard]] BusyTimes of_waveform(const std::string& path) {
  const std::map<std::string, std::string> engines = {{"dma_read_busy", "dma_read"},
                                                      {"dma_write_busy", "dma_write"},
                                                      {"gemm_busy", "gemm"},
                                                      {"math_busy", "math"},
                                                      {"sends_in_service", "ipcq"}};
  const testing::Vcd vcd = testing::parse_vcd(platform::read_file(path));
  BusyTimes busy;
  for (const std::string& name : vcd.names) {
    const std::size_t last = name.rfind('.');
    const std::size_t first = name.rfind('.', last - 1) + 1;
    const auto engine = engines.find(name.substr(last + 1));
    if (engine == engines.end()) continue;
    add(busy, name.substr(first, last - first), engine->second, vcd.integral(name.substr(name.find('.') + 1)).count());
  }
  return busy;
}

using testing::TemporaryFolderTest;

class OutputsOfOneRun : public TemporaryFolderTest, public ::testing::WithParamInterface<const char*> {};
class OutputsOfTwoRuns : public TemporaryFolderTest {};

TEST_P(OutputsOfOneRun, AgreeOnHowLongEachEngineWasBusy) {
  // Given a run that uses every engine of 16 PEs, with everything on.
  const Outcome outcome =
      testing::start(testing::kernwave_executable(),
                     testing::words(std::string("run gqa_attention_prefill_long --model llama-3.1-8b --s-kv 512 "
                                                "--set system.cubes=2 --data none --json r.json --vcd r.vcd "
                                                "--timeline r.pftrace --op-log r.sqlite --report r.html "
                                                "--critical-path --quiet ") +
                                    GetParam()),
                     folder_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  // Then the document, the op log, the timeline and the waveform tell the same.
  const Json document = platform::parse_json(platform::read_file(path("r.json")), "r.json");
  const BusyTimes busy = of_document(document);
  EXPECT_GE(busy.size(), 5U * 16U - 8U);  // the last of two ranks sends as well; of `line` ends it would not
  EXPECT_EQ(of_op_log(path("r.sqlite")), busy);
  EXPECT_EQ(of_timeline(path("r.pftrace")), busy);
  EXPECT_EQ(of_waveform(path("r.vcd")), busy);
  // And the segments in the op log are the critical path of the document, and sum to the latency.
  const Json& critical = document.at("critical_path");
  std::map<std::string, std::int64_t> causes;
  for (const Json::Member& cause : critical.at("by_cause").as_object()) causes[cause.key] = cause.value.as_int();
  std::map<std::string, std::int64_t> logged;
  std::int64_t sum = 0;
  for (const auto& row :
       testing::query(path("r.sqlite"), "SELECT cause, SUM(end_ps - start_ps) FROM critical_path GROUP BY cause")) {
    logged[row.at(0)] = std::stoll(row.at(1));
    sum += std::stoll(row.at(1));
  }
  EXPECT_EQ(logged, causes);
  EXPECT_EQ(sum, document.at("latency_ps").as_int());
  EXPECT_EQ(critical.at("latency_ps").as_int(), sum);
}

INSTANTIATE_TEST_SUITE_P(ByPolicyAndSource, OutputsOfOneRun,
                         ::testing::Values("--policy lazy", "--policy stall_on_use", "--policy blocking",
                                           "--kv composite"));

TEST_F(OutputsOfTwoRuns, AreTheSameByteForByte) {
  for (const char* name : {"a", "b"}) {
    const std::string run = std::string(
        "run gqa_attention_decode_long --model llama-3.1-8b --s-kv 1K --data none "
        "--set system.cubes=2 --critical-path --quiet");
    const Outcome outcome = testing::start(
        testing::kernwave_executable(),
        testing::words(run + " --vcd " + name + ".vcd --op-log " + name + ".csv --timeline " + name + ".pftrace"),
        folder_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  }
  const auto text = [this](const char* name) { return platform::read_file(path(name)); };
  EXPECT_EQ(text("a.csv"), text("b.csv"));
  EXPECT_EQ(text("a.path.csv"), text("b.path.csv"));
  EXPECT_TRUE(text("a.pftrace") == text("b.pftrace"));
  // Of a waveform the date apart.
  const auto without_date = [](std::string vcd) {
    const std::size_t begin = vcd.find("$date");
    return vcd.erase(begin, vcd.find("$end", begin) - begin);
  };
  EXPECT_TRUE(without_date(text("a.vcd")) == without_date(text("b.vcd")));
}

}  // namespace
}  // namespace kernwave::agreement_test
