// Sums and averages that a document and its summaries show: over whom, and of what.
#include "platform/results/summary.h"
#include "platform/results/result_figures.h"

#include <gtest/gtest.h>

#include <string>

#include "platform/report/compare.h"
#include "platform/report/result_tables.h"
#include "platform/run/simulate.h"
#include "tests/support/error_text.h"
#include "tests/support/own_workload.h"

namespace kernwave::platform::summary_test {
namespace {

using testing::contains;
using testing::own_request;
using testing::OwnWorkload;

constexpr std::int64_t ns = 1000;

[[nodiscard]] Json document_of(const tl::Kernel& kernel) {
  return simulate_isolated(own_request(DataMode::none), OwnWorkload(kernel));
}

/// The cell of a report's tables.
[[nodiscard]] std::string cell(const std::vector<ReportTable>& tables, const std::string& title, const std::string& row,
                               std::size_t column) {
  for (const ReportTable& table : tables) {
    if (!contains(table.title, title)) continue;
    for (const auto& cells : table.rows) {
      if (cells.front() == row) return cells.at(column);
    }
  }
  return "none";
}

// ---- PEs that worked

/// PE 0 fills 512 vectors, PE 1 half of them, PE 2 returns at once, and the others of the machine have no program. A
/// fill is issued in 2 cycles, dispatched in 2, and takes a cycle a vector of 256.
void unequal_work(tl::Context& tl) {
  if (tl.program_id(0) == 0) tl.full({512, 256}, 1.0, DType::f32);
  if (tl.program_id(0) == 1) tl.full({256, 256}, 1.0, DType::f32);
}

TEST(Averages, AreOverThePesThatWorkedAndNotOverTheMachine) {
  const Json result = document_of(unequal_work);
  EXPECT_EQ(result.at("latency_ps").as_int(), (2 + 2 + 512) * ns);
  EXPECT_EQ(active_pes(result), 2);
  EXPECT_EQ(busy_of(result, "math"), (512 + 256) * ns);
  // Two issued one operation each; PE 1 was idle for the last 256 ns. What PEs without work idled counts nowhere.
  EXPECT_EQ(stalled_for(result, "issue"), 2 * 2 * ns);
  EXPECT_EQ(stalled_for(result, "compute"), (2 + 512 + 2 + 256) * ns);
  EXPECT_EQ(stalled_for(result, "idle"), 256 * ns);
  // The averages are of two: 384 of 516 ns, 74.4 %.
  const std::string text = summary(result);
  EXPECT_TRUE(contains(text, "  math                    2    384.000 ns       74.4%")) << text;
  EXPECT_TRUE(contains(text, "  2 of 64 PEs worked")) << text;
  EXPECT_TRUE(contains(text, "  idle             128.000 ns       24.8%")) << text;
  const std::vector<ReportTable> tables = result_tables(result);
  EXPECT_EQ(cell(tables, "Engines", "math", 2), "384.000 ns");
  EXPECT_EQ(cell(tables, "Engines", "math", 3), "74.4 %");
  EXPECT_EQ(cell(tables, "Where the time went", "compute", 1), "386.000 ns");
  const std::string comparison = comparison_text({"a.json", result}, {"b.json", result});
  EXPECT_TRUE(contains(comparison, "384.000 ns      384.000 ns")) << comparison;
}

TEST(Averages, OfThePesSumToTheLatency) {
  const Json result = document_of(unequal_work);
  std::int64_t sum = 0;
  for (const Json::Member& cause : result.at("stall_ps").at("pe0").as_object()) sum += stalled_for(result, cause.key);
  EXPECT_EQ(sum, active_pes(result) * result.at("latency_ps").as_int());
}

TEST(Averages, OfTheRateCountWhatIsReadAndWhatIsWritten) {
  // Given 16 KiB read and then 8 KiB written, in 8 + 2 + 20 + 100 + 128 ns and 8 + 2 + 20 + 100 + 64 ns.
  const Json result = document_of([](tl::Context& tl) {
    if (tl.program_id(0) > 0) return;
    const auto x = tl.load(HbmAddress(0), {64, 128}, DType::f16);
    tl.store(HbmAddress(0x100000), tl.slice(x, 0, 32));
  });
  EXPECT_EQ(result.at("latency_ps").as_int(), (258 + 194) * ns);
  EXPECT_DOUBLE_EQ(gigabytes_per_second(result), (16384.0 + 8192.0) / 452.0);
}

// ---- links

TEST(LinksOfADocument, TellOfTheBusiestSenderAndNeverOfMoreThanItHadInFlight) {
  // Given PE 0 and PE 1 that send 64 B each to the south at once. They are issued in 8 cycles, dispatched in 2, and
  // take a hop of 100 ns and 500 ps on their links, of which each has its own.
  const Json result = document_of([](tl::Context& tl) {
    const auto x = tl.buffer({16}, DType::f32);
    if (tl.program_id(0) < 2) tl.send(Direction::south, x);
    if (tl.program_id(0) > 0) tl.recv(Direction::north, {16}, DType::f32);
  });
  constexpr std::int64_t landed = 110'500;
  EXPECT_EQ(result.at("latency_ps").as_int(), landed);
  // Then either sender has one message in flight from the start to the end: 1 on the average and at the most.
  const Json& south = result.at("links").at("south");
  EXPECT_EQ(south.at("messages").as_int(), 2);
  EXPECT_EQ(south.at("bytes").as_int(), 2 * 64);
  EXPECT_EQ(south.at("busy_ps").as_int(), 2 * 500);
  EXPECT_EQ(south.at("busiest_ps").as_int(), 500);
  EXPECT_EQ(south.at("in_flight_peak").as_int(), 1);
  EXPECT_DOUBLE_EQ(south.at("in_flight_average").as_double(), 1.0);
  // What a link carries at least is a bound: 64 B at 128 GB/s.
  EXPECT_EQ(result.at("bounds_ps").at("issued").at("ipcq").as_int(), 500);
}

TEST(LinksOfADocument, OfUnequalSendersTellOfTheBusier) {
  // Given PE 0 that sends once, and PE 1 that sends twice with a window of one, 6 ns later for it first issues a
  // receive.
  const Json result = document_of([](tl::Context& tl) {
    const auto x = tl.buffer({16}, DType::f32);
    const std::int64_t pe = tl.program_id(0);
    if (pe == 1) tl.recv_async(Direction::north, {16}, DType::f32);
    for (std::int64_t i = 0; i < (pe < 2 ? pe + 1 : 0); ++i) tl.send(Direction::south, x);
    for (std::int64_t i = 0; i < (pe == 2 ? 2 : 0); ++i) tl.recv(Direction::north, {16}, DType::f32);
  });
  // The second is in flight from the end of its wait on, a hop after the first was received.
  constexpr std::int64_t one_flight = 110'500;
  constexpr std::int64_t latency = 6'000 + one_flight + 100'000 + one_flight;
  EXPECT_EQ(result.at("latency_ps").as_int(), latency);
  const Json& south = result.at("links").at("south");
  EXPECT_EQ(south.at("messages").as_int(), 3);
  EXPECT_EQ(south.at("busiest_ps").as_int(), 2 * 500);
  EXPECT_EQ(south.at("in_flight_peak").as_int(), 1);
  EXPECT_DOUBLE_EQ(south.at("in_flight_average").as_double(), 2.0 * one_flight / latency);
}

}  // namespace
}  // namespace kernwave::platform::summary_test
