// The queries of docs/queries/ on a run that is small enough to work out by hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_files.h"
#include "traces/op_log/sqlite_op_log.h"

namespace kernwave::op_log_queries_test {
namespace {

using testing::in_child;
using testing::Simulation;
using traces::PathCause;
using traces::SqliteOpLog;

[[nodiscard]] std::filesystem::path queries() { return testing::test_file("docs/queries"); }

[[nodiscard]] std::string query_of_docs(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(queries() / (name + ".sql")).rdbuf();
  return text.str();
}

constexpr int first_line = __LINE__ + 4;

/// A load of 16 KiB from 10 to 258 ns. Under it a fill of 256 elements: issued at 10, in service from 12 to 13 ns.
void load_fill_dot_store(tl::Context& tl) {
  const auto x = tl.load(HbmAddress(0), {64, 128}, DType::f16);
  tl.full({256}, 1.0, DType::f32);
  const auto w = tl.buffer({128, 64}, DType::f16);
  const auto y = tl.dot(x, w);       // issued at 264, in service from 266 to 394 ns
  tl.store(HbmAddress(0x10000), y);  // issued at 402, in service from 404 to 652 ns
}

class OpLogQueries : public testing::TemporaryFolderTest {
 protected:
  void SetUp() override {
    TemporaryFolderTest::SetUp();
    in_child([this] {
      Simulation simulation(testing::one_cube(), DataMode::none);
      SqliteOpLog log(path("log.sqlite"));
      simulation.system().set_observer(&log.observer());
      simulation.run(load_fill_dot_store);
      const SourceLocation load{"k.cpp", 1};
      const SourceLocation dot{"k.cpp", 2};
      log.write_path({{Picoseconds(0), Picoseconds(8'000), PathCause::issue, {PeId(0), 0, 0}, load},
                      {Picoseconds(8'000), Picoseconds(489'000), PathCause::hbm, {PeId(0), 0, 0}, load},
                      {Picoseconds(489'000), Picoseconds(652'000), PathCause::gemm, {PeId(0), 2, 0}, dot}});
      log.close({true, "", simulation.latency()});
    });
  }

  [[nodiscard]] std::string answer(const std::string& name) const {
    return testing::query_text(path("log.sqlite"), query_of_docs(name));
  }
};

[[nodiscard]] std::string line(int number) { return std::to_string(first_line + number); }
[[nodiscard]] std::string place(int number) { return std::string(__FILE__) + "," + line(number); }

TEST_F(OpLogQueries, OfBusyTimeCountEachEngine) {
  const std::string text = answer("busy_time");
  EXPECT_EQ(text.substr(0, text.find(",38.0")), "0,dma_read,1,248000");
  EXPECT_NE(text.find("\n0,dma_write,1,248000,38.0"), std::string::npos) << text;  // 248 of 652 ns
  EXPECT_NE(text.find("\n0,gemm,1,128000,19.6"), std::string::npos) << text;
  EXPECT_NE(text.find("\n0,math,1,1000,0.15"), std::string::npos) << text;
}

TEST_F(OpLogQueries, OfOverlapCountTheFillUnderTheLoad) { EXPECT_EQ(answer("overlap"), "0,496000,129000,1000\n"); }

TEST_F(OpLogQueries, OfQueueTimesNameTheLines) {
  EXPECT_EQ(answer("queue_times"), place(0) + ",dma_read,1,2000,2000\n" + place(1) + ",fill,1,2000,2000\n" + place(3) +
                                       ",dot,1,2000,2000\n" + place(4) + ",dma_write,1,2000,2000\n");
}

TEST_F(OpLogQueries, OfBandwidthCountBothWays) { EXPECT_EQ(answer("bandwidth"), "0,16384,16384,32.768\n"); }

TEST_F(OpLogQueries, OfTheCriticalPathAddUpLinesAndCauses) {
  // 481, 163 and 8 of 652 ns.
  EXPECT_EQ(answer("critical_path_by_line"),
            "k.cpp,1,hbm,481000,73.7730061349693\nk.cpp,2,gemm,163000,25.0\n"
            "k.cpp,1,issue,8000,1.22699386503067\n");
}

TEST_F(OpLogQueries, OfTheLastOperandNameWhatCameLast) {
  EXPECT_EQ(answer("last_operand"), "dot," + line(3) + ",dma_read," + line(0) + ",1,6000\n" + "dma_write," + line(4) +
                                        ",dot," + line(3) + ",1,8000\n");
}

TEST_F(OpLogQueries, AllRunAndSayWhatTheyTell) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(queries())) {
    const std::string name = entry.path().stem();
    EXPECT_EQ(query_of_docs(name).substr(0, 3), "-- ") << name;
    EXPECT_NE(answer(name), "") << name;
    found.insert(name);
  }
  EXPECT_EQ(found, (std::set<std::string>{"bandwidth", "busy_time", "critical_path_by_line", "last_operand", "overlap",
                                          "queue_times"}));
}

}  // namespace
}  // namespace kernwave::op_log_queries_test
