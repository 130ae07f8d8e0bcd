// Reports: what the verdict says of a document, that no text becomes markup, and how two runs compare.
#include "platform/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "platform/cli/command_line.h"
#include "platform/report/compare.h"
#include "platform/report/report_assets.h"
#include "platform/report/result_check.h"
#include "platform/report/roofline.h"
#include "platform/report/verdict.h"
#include "platform/results/activity_document.h"
#include "tests/support/error_text.h"

namespace kernwave::platform::report_test {
namespace {

constexpr std::int64_t us = 1'000'000;

[[nodiscard]] Json bounds(std::int64_t hbm_read, std::int64_t gemm) {
  return Json::object({{"hbm_read", hbm_read},
                       {"hbm_write", 0},
                       {"dma_read", hbm_read / 2},
                       {"dma_write", 0},
                       {"gemm_ideal", gemm},
                       {"gemm_dataflow", gemm},
                       {"math", 0},
                       {"ipcq", 0},
                       {"issue", 0}});
}

/// Of a PE that was busy for these shares of 100 us.
[[nodiscard]] Json busy(std::int64_t dma_read, std::int64_t gemm, std::int64_t math) {
  return Json::object(
      {{"dma_read", dma_read * us}, {"dma_write", 0}, {"gemm", gemm * us}, {"math", math * us}, {"ipcq", 0}});
}

/// Of a program that spent its 100 us in three ways; `idle` is the rest.
[[nodiscard]] Json stalls(std::int64_t issue, std::int64_t load, std::int64_t compute) {
  Json causes = Json::object();
  for (const char* cause : {"issue", "load", "compute", "store", "composite", "receive", "credit", "queue", "scratch",
                            "memory_order", "drain", "idle"}) {
    causes[cause] = 0;
  }
  causes["issue"] = issue * us;
  causes["load"] = load * us;
  causes["compute"] = compute * us;
  causes["idle"] = (100 - issue - load - compute) * us;
  return causes;
}

[[nodiscard]] Json machine() {
  return Json::object({{"preset", "ahbm"},
                       {"pe.clock", "1 GHz"},
                       {"pe.gemm.rows", "64"},
                       {"pe.gemm.cols", "64"},
                       {"pe.gemm.f16_cycles", "1"},
                       {"pe.gemm.f32_cycles", "4"},
                       {"pe.math.lanes", "256"},
                       {"pe.dma.bandwidth", "128 GB/s"},
                       {"hbm.bandwidth", "800 GB/s"},
                       {"hbm.channels", "2"},
                       {"hbm.efficiency", "0.5"}});
}

/// Decode attention that took 100 us on two PEs, 95 us of which HBM must read.
[[nodiscard]] Json decode() {
  Json result = Json::object({{"schema", 1},
                              {"version", "0.1.0"},
                              {"revision", "abc"},
                              {"command", "kernwave run gqa_attention_decode_short"},
                              {"config", machine()},
                              {"kernel", "gqa_attention_decode_short"},
                              {"shape", Json::object({{"s_kv", 8192}, {"dtype", "f16"}})},
                              {"policy", "stall_on_use"},
                              {"data", "none"},
                              {"latency_ps", 100 * us}});
  result["counts"] = Json::object({{"dma_read", 20},
                                   {"dma_write", 2},
                                   {"gemm", 8},
                                   {"math", 4},
                                   {"ipcq_copy", 0},
                                   {"composite", 0},
                                   {"composite_read", 0}});
  result["bytes"] = Json::object({{"read", 9'000'000}, {"written", 1'000'000}, {"sent", 0}});
  result["flops"] = Json::object({{"gemm", 40'000'000}, {"math", 1000}});
  result["bounds_ps"] = Json::object({{"compulsory", bounds(95 * us, 20 * us)}, {"issued", bounds(95 * us, 20 * us)}});
  result["busy_ps"] = Json::object({{"pe0", busy(96, 20, 2)}, {"pe1", busy(94, 20, 4)}});
  result["stall_ps"] = Json::object({{"pe0", stalls(5, 75, 20)}, {"pe1", stalls(5, 65, 20)}});
  const Json channel = Json::object({{"read", 4'500'000}, {"written", 500'000}});
  const Json silent = Json::object({{"read", 0}, {"written", 0}});
  result["channels"] =
      Json::object({{"cube0", Json::array({channel, channel})}, {"cube1", Json::array({silent, silent})}});
  result["links"] = Json::object();
  result["critical_path"] = nullptr;
  result["error"] = nullptr;
  return result;
}

/// The same run, of which `latency_ps` and what follows from it were others.
[[nodiscard]] Json bound_by(std::int64_t hbm_read, std::int64_t gemm) {
  Json result = decode();
  result["bounds_ps"] = Json::object({{"compulsory", bounds(hbm_read, gemm)}, {"issued", bounds(hbm_read, gemm)}});
  return result;
}

[[nodiscard]] bool says(const std::vector<std::string>& sentences, const std::string& words) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&words](const std::string& sentence) { return sentence.find(words) != std::string::npos; });
}

[[nodiscard]] bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// ---- the verdict

TEST(Verdict, NamesTheBoundAndItsMultiple) {
  const Verdict words = verdict(decode());
  EXPECT_EQ(words.headline,  // 100 / 95
            "Bound by reading K and V from HBM: latency 100.000 us is 1.053 x that bound, 95.000 us.");
  EXPECT_TRUE(words.warnings.empty());
}

TEST(Verdict, TellsWhereTheTimeOfThePesWent) {
  const Verdict words = verdict(decode());
  // Averages of two PEs: loads (75 + 65) / 2, products 20, and 0 and 10 idle.
  EXPECT_TRUE(says(words.findings, "70.0 % waiting for loads, 20.0 % waiting for products and MATH, 5.0 %"));
  EXPECT_TRUE(says(words.findings, "DMA read channel: 95.0 % of the time"));
}

TEST(Verdict, OfAKernelNearItsBoundAsksForAnotherMachine) {
  const Verdict words = verdict(decode());
  EXPECT_TRUE(says(words.advice, "A better kernel could save 5.0 % at most"));
  EXPECT_TRUE(says(words.advice, "hbm.bandwidth"));
  EXPECT_FALSE(says(words.advice, "Loads are waited for"));
}

TEST(Verdict, OfAKernelAwayFromItsBoundAsksForAnotherKernel) {
  const Verdict words = verdict(bound_by(10 * us, 80 * us));
  EXPECT_TRUE(holds(words.headline, "Bound by the matrix engines: latency 100.000 us is 1.250 x that bound"));
  EXPECT_TRUE(says(words.advice, "could save up to 20.0 % of the latency"));
  EXPECT_TRUE(says(words.advice, "Programs wait for loads although the DMA read channel is almost always busy"));
}

TEST(Verdict, FarFromEveryBoundSaysThatNoResourceExplainsIt) {
  EXPECT_TRUE(holds(verdict(bound_by(10 * us, 20 * us)).headline,
                    "Not bound by any one resource: latency 100.000 us is 5.000 x the largest bound"));
}

TEST(Verdict, OfWorkThatNothingCompelsHasNoMultiple) {
  EXPECT_EQ(verdict(bound_by(0, 0)).headline, "Latency is 100.000 us; no lower bound of the work applies.");
}

TEST(Verdict, TellsOfWorkBeyondTheNeed) {
  Json result = decode();
  result["bounds_ps"]["compulsory"] = bounds(20 * us, 30 * us);
  result["bounds_ps"]["issued"] = bounds(80 * us, 30 * us);
  EXPECT_TRUE(says(verdict(result).findings, "For reading from HBM the kernel issues 4.00 x the work"));
}

TEST(Verdict, AdvisesAgainstBlocking) {
  Json result = bound_by(10 * us, 80 * us);
  EXPECT_FALSE(says(verdict(result).advice, "--policy"));
  result["policy"] = "blocking";
  EXPECT_TRUE(says(verdict(result).advice, "try --policy lazy or stall_on_use"));
}

TEST(Verdict, TellsEnginesThatTakeTurns) {
  Json result = bound_by(10 * us, 55 * us);
  result["busy_ps"] = Json::object({{"pe0", busy(10, 50, 40)}, {"pe1", busy(10, 50, 40)}});
  result["stall_ps"] = Json::object({{"pe0", stalls(5, 5, 90)}, {"pe1", stalls(5, 5, 90)}});
  EXPECT_TRUE(says(verdict(result).advice, "GEMM (50.0 %) and MATH (40.0 %) follow one another"));
}

TEST(Verdict, EveryCauseHasAdviceOfItsOwn) {
  struct Case {
    const char* cause;
    const char* advice;
  };
  for (const Case& one :
       {Case{"composite", "prefetch_depth"}, Case{"receive", "ipcq.bandwidth"}, Case{"credit", "ipcq.window"},
        Case{"queue", "pe.scheduler.queue_depth"}, Case{"scratch", "more buffers"}, Case{"memory_order", "in scratch"},
        Case{"store", "Programs wait for stores"}, Case{"drain", "The drain is a large share"}}) {
    Json result = bound_by(10 * us, 55 * us);
    result["stall_ps"] = Json::object({{"pe0", stalls(5, 5, 5)}, {"pe1", stalls(5, 5, 5)}});
    for (const char* pe : {"pe0", "pe1"}) {
      result["stall_ps"][pe]["idle"] = 0;
      result["stall_ps"][pe][one.cause] = 85 * us;
    }
    EXPECT_TRUE(says(verdict(result).advice, one.advice)) << one.cause;
  }
}

TEST(Verdict, CountsThePesWithoutWork) {
  Json result = decode();
  for (const char* pe : {"pe2", "pe3", "pe4", "pe5"}) {
    result["busy_ps"][pe] = busy(0, 0, 0);
    result["stall_ps"][pe] = stalls(0, 0, 0);
  }
  const Verdict words = verdict(result);
  EXPECT_TRUE(says(words.findings, "2 of 6 PEs worked."));
  EXPECT_TRUE(says(words.findings, "70.0 % waiting for loads"));  // of those that worked, as before
  EXPECT_TRUE(says(words.advice, "4 of 6 PEs had no work"));
}

TEST(Verdict, OfAnIncompleteRunSaysSoFirstAndGivesNoAdvice) {
  Json result = decode();
  result["complete"] = false;
  result["reason"] = "interrupted";
  const Verdict words = verdict(result);
  EXPECT_TRUE(says(words.warnings, "This run is incomplete: interrupted."));
  EXPECT_EQ(words.headline, "Stopped after 100.000 us of simulated time.");
  EXPECT_TRUE(words.advice.empty());
}

TEST(Verdict, OfAWrongResultSaysSo) {
  Json result = decode();
  result["error"] = Json::object({{"within_tolerance", false}});
  EXPECT_TRUE(says(verdict(result).warnings, "wrong"));
}

// ---- the roofline

TEST(Roofline, HasTheRoofsOfWhatWasUsed) {
  const Roofline line = roofline(decode());
  EXPECT_TRUE(line.of_products);
  EXPECT_DOUBLE_EQ(line.intensity(), 4.0);            // 40 Mflop / 10 MB
  EXPECT_DOUBLE_EQ(line.flops_per_second, 4e11);      // 40 Mflop / 100 us
  EXPECT_DOUBLE_EQ(line.peak_flops, 2 * 8192e9);      // two PEs of 2 x 64 x 64 flops at 1 GHz
  EXPECT_DOUBLE_EQ(line.hbm_bandwidth, 800e9 * 0.5);  // of one cube, the other carried nothing
  EXPECT_DOUBLE_EQ(line.dma_bandwidth, 2 * 128e9);
}

TEST(Roofline, OfF32ProductsIsAsMuchLowerAsTheyAreSlower) {
  Json result = decode();
  result["shape"]["dtype"] = "f32";
  EXPECT_DOUBLE_EQ(roofline(result).peak_flops, 2 * 8192e9 / 4);
}

TEST(Roofline, WithoutProductsIsThatOfMath) {
  Json result = decode();
  result["flops"]["gemm"] = 0;
  const Roofline line = roofline(result);
  EXPECT_FALSE(line.of_products);
  EXPECT_EQ(line.flops, 1000);
  EXPECT_DOUBLE_EQ(line.peak_flops, 2 * 256e9);
}

TEST(Roofline, FollowsTheClocksOfTheEngines) {
  Json result = decode();
  result["config"]["pe.gemm.clock_multiple"] = "2";
  result["config"]["pe.math.clock_multiple"] = "3";
  EXPECT_DOUBLE_EQ(roofline(result).peak_flops, 2 * 2 * 8192e9);
  result["flops"]["gemm"] = 0;
  EXPECT_DOUBLE_EQ(roofline(result).peak_flops, 3 * 2 * 256e9);
}

// ---- the page

TEST(Report, IsOneFileThatLoadsNothing) {
  std::string html = report_html(decode(), nullptr);
  const std::string_view library = report_assets().library;  // makes elements of any kind, when it is asked to
  html.erase(html.find(library), library.size());
  EXPECT_TRUE(holds(html, "Bound by reading K and V from HBM"));
  EXPECT_TRUE(holds(html, "default-src 'none'"));
  for (const char* load : {"<script src", "<link rel=\"stylesheet\"", "<img", "@import", "url(http"}) {
    EXPECT_FALSE(holds(html, load)) << load;
  }
  EXPECT_FALSE(holds(html, "{{title}}"));
}

TEST(Report, TextsOfUsersNeverBecomeMarkup) {
  const std::string evil = "</script><script>alert(1)</script>&\"'{{data}}";
  Json result = decode();
  result["kernel"] = evil;
  result["command"] = evil;
  result["config"]["preset"] = evil;
  const std::string html = report_html(result, nullptr);
  EXPECT_FALSE(holds(html, "<script>alert"));
  EXPECT_TRUE(holds(html, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;{{data}}"));
  // The data come back as they were.
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(opening) + opening.size();
  const Json data = parse_json(html.substr(begin, html.find("</script>", begin) - begin), "data");
  EXPECT_EQ(data.at("results").at(std::size_t{0}), result);
}

TEST(Report, OfSomethingElseIsRefused) { EXPECT_THROW((void)report_html(Json::object(), nullptr), ReportError); }

TEST(ActivityDocument, HoldsBinsAndTheOperationsOfTheWindow) {
  traces::ActivitySeries series;
  traces::WindowRecorder recorder(traces::RecordedWindow{Picoseconds(0), Picoseconds(5000), 1});
  Descriptor descriptor;
  descriptor.id.pe = PeId(3);
  for (const std::int64_t start : {500, 2000}) {
    const CompletedOperation completed{
        descriptor, {}, Completion{}, Picoseconds(100), Picoseconds(start), Picoseconds(start + 1000)};
    series.completed(completed);
    recorder.completed(completed);
  }
  series.served({CubeId(1), 0, true, Bytes(64), Picoseconds(0), Picoseconds(0), Picoseconds(1000)});
  const Json document = activity_document(series, recorder, EngineList());
  EXPECT_EQ(document.at("bin_ps").as_int(), 1000);
  EXPECT_EQ(to_text(document.at("busy_ps"), 0), R"({"math":[500,500,1000]})");
  EXPECT_EQ(to_text(document.at("cubes"), 0), R"({"cube1":{"read":[64,0,0],"written":[]}})");
  const Json& window = document.at("window");
  EXPECT_EQ(window.at("touching").as_int(), 2);
  EXPECT_EQ(window.at("complete_to_ps").as_int(), 2000);
  EXPECT_EQ(to_text(window.at("operations"), 0), "[[3,3,0,0,100,500,1500]]");  // PE 3, lane 3: math
}

// ---- two runs

[[nodiscard]] std::string compared(const Json& a, const Json& b) {
  return comparison_text({"a.json", a}, {"b.json", b});
}

/// The line of a text that begins with these words.
[[nodiscard]] std::string line_of(const std::string& text, const std::string& beginning) {
  const std::size_t begin = text.find("\n" + beginning);
  if (begin == std::string::npos) return {};
  return text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
}

[[nodiscard]] std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

using Words = std::vector<std::string>;

TEST(Comparison, PutsTwoRunsSideBySide) {
  Json other = decode();
  other["latency_ps"] = 200 * us;
  other["config"]["hbm.bandwidth"] = "400 GB/s";
  other["policy"] = "lazy";
  const std::string text = compared(decode(), other);
  EXPECT_TRUE(holds(text, "B is 2.000 x as slow as A: 200.000 us instead of 100.000 us."));
  EXPECT_EQ(words_of(line_of(text, "  latency ")), (Words{"latency", "100.000", "us", "200.000", "us", "2.000"}));
  EXPECT_EQ(words_of(line_of(text, "  hbm.bandwidth")), (Words{"hbm.bandwidth", "800", "GB/s", "400", "GB/s"}));
  EXPECT_EQ(words_of(line_of(text, "  policy")), (Words{"policy", "stall_on_use", "lazy"}));
  EXPECT_EQ(line_of(text, "  pe.clock"), "");  // the same in both
  EXPECT_EQ(words_of(line_of(text, "  read bytes")), (Words{"read", "bytes", "9000000", "9000000", "1.000"}));
}

TEST(Comparison, TellsWhatChangedMost) {
  Json other = decode();
  other["stall_ps"] = Json::object({{"pe0", stalls(5, 35, 20)}, {"pe1", stalls(5, 35, 20)}});
  // Loads: from 70 us on average to 35 us.
  EXPECT_TRUE(holds(compared(decode(), other), "What changed most is the time of cause load: 35.000 us less per PE."));
}

TEST(Comparison, OfARunWithItselfFindsNothing) {
  const std::string text = compared(decode(), decode());
  EXPECT_TRUE(holds(text, "A and B take the same time, 100.000 us."));
  EXPECT_EQ(words_of(line_of(text, "  nothing")), Words{"nothing"});
}

TEST(Comparison, IsACommandOfTwoFiles) {
  const ParsedCommandLine parsed = parse_command_line({"compare", "a.json", "b.json", "--report", "c.html"});
  ASSERT_TRUE(parsed.command.has_value()) << parsed.text;
  const auto& command = std::get<CompareCommand>(*parsed.command);
  EXPECT_EQ(command.a, "a.json");
  EXPECT_EQ(command.b, "b.json");
  EXPECT_EQ(command.report, "c.html");
  EXPECT_EQ(parse_command_line({"compare", "a.json"}).exit_code, 2);
}

TEST(Comparison, DrawsBothRuns) {
  const Json a = decode();
  const std::string html = comparison_html({"a<b>.json", a}, {"b.json", a});
  EXPECT_TRUE(holds(html, "A: a&lt;b&gt;.json"));
  EXPECT_FALSE(holds(html, "a<b>.json"));
}

[[nodiscard]] std::string refusal(const Json& document) {
  return testing::error_of<ReportError>([&] { (void)compared(decode(), document); });
}

TEST(Comparison, OfAnythingElseIsRefusedByName) {
  EXPECT_EQ(refusal(Json::object()),
            "b.json: is not a result document (kernwave run --json): it has no key \"schema\"");
  EXPECT_EQ(refusal(Json(7)), "b.json: is not a result document (kernwave run --json): it has no key \"schema\"");
  EXPECT_TRUE(holds(refusal(Json::array()), "b.json: is a list, as kernwave headline writes"));
  Json future = decode();
  future["schema"] = 2;
  EXPECT_EQ(refusal(future), "b.json: has schema 2; this version reads schema 1");
  EXPECT_EQ(refusal(Json::object({{"schema", 1}})), "b.json: is not a whole result document: \"version\" is missing");
  Json empty = decode();
  empty["stall_ps"] = Json::object();
  EXPECT_EQ(refusal(empty), "b.json: is not a result document: \"stall_ps\" holds no PE");
  Json odd = decode();
  odd["latency_ps"] = "soon";
  EXPECT_TRUE(holds(refusal(odd), "a.json and b.json cannot be compared: "));
}

}  // namespace
}  // namespace kernwave::platform::report_test
