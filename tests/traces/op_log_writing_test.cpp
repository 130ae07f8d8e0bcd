// Writing the op log: order, quoting, memory, and what happens when a file cannot be written.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/sanitizer.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "traces/op_log/csv_op_log.h"
#include "traces/op_log/sqlite_op_log.h"

namespace kernwave::op_log_writing_test {
namespace {

using testing::in_child;
using testing::query_text;
using traces::CsvOpLog;
using traces::PathCause;
using traces::PathSegment;
using traces::SqliteOpLog;
using traces::WriteError;

class OpLogWriting : public testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] std::string sql(const std::string& text) const { return query_text(path("log.sqlite"), text); }
};

/// Tells of a load of 32 x 64 f16 that takes 100 ps.
void tell(PeObserver& observer, std::int64_t pe, std::int64_t sequence, std::int64_t end,
          SourceLocation where = {"kernel.cpp", 7}) {
  Descriptor descriptor;
  descriptor.id = {PeId(pe), sequence, 0};
  descriptor.engine = Engine::dma_read;
  DmaDescriptor dma;
  dma.region = {HbmAddress(CubeId(1), Bytes(sequence % 1000 * 4096)), 32, Bytes(128), Bytes(128)};
  dma.local = {ScratchAddress(0), 32, 64, 64, 1, DType::f16};
  descriptor.work = dma;
  const Completion completion{1, static_cast<std::uint32_t>(sequence + 1)};
  observer.submitted({descriptor, where, completion, Picoseconds(end - 110)});
  observer.completed({descriptor, where, completion, Picoseconds(end - 110), Picoseconds(end - 100), Picoseconds(end)});
}

/// Tells the same in a run of which simulated time goes on, to the end of one load in a thousand. In a child.
void tell_in_time(PeObserver& observer, std::int64_t pe, std::int64_t sequence, std::int64_t end) {
  const Picoseconds ahead = Picoseconds(end) - now();
  if (ahead > Picoseconds(1'000'000)) sc_core::sc_start(to_sc_time(ahead));
  tell(observer, pe, sequence, end);
}

[[nodiscard]] std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(OpLogWriting, RowsOfOneInstantAreSortedWhateverTheOrderInWhichTheyAreTold) {
  SqliteOpLog log(path("log.sqlite"));
  for (const std::int64_t pe : {3, 1, 2}) tell(log.observer(), pe, 0, 1000);
  for (const std::int64_t pe : {2, 3, 1}) tell(log.observer(), pe, 1, 2000);
  log.close({});
  EXPECT_EQ(
      sql("SELECT id, end_ps, cube, offset FROM operations"),
      "pe1.0,1000,1,0\npe2.0,1000,1,0\npe3.0,1000,1,0\npe1.1,2000,1,4096\npe2.1,2000,1,4096\npe3.1,2000,1,4096\n");
}

TEST_F(OpLogWriting, DependenciesAreKnownBeyondTheRangeOfGenerations) {
  SqliteOpLog log(path("log.sqlite"));
  const std::int64_t sequence = (std::int64_t{1} << 32) + 1;  // generation 2
  log.observer().depends(PeId(0), Completion{5, 0xFFFFFFFFU});
  log.observer().depends(PeId(0), Completion{6, 1});
  log.observer().depends(PeId(0), Completion{});
  tell(log.observer(), 0, sequence, 1000);
  log.close({});
  EXPECT_EQ(sql("SELECT sequence, dependencies FROM operations"), "4294967297,4294967294 4294967296\n");
}

TEST_F(OpLogWriting, CsvQuotesWhatNeedsIt) {
  CsvOpLog log(path("log.csv"));
  tell(log.observer(), 0, 0, 1000, {"a \"b\", c.h", 3});
  log.close({});
  const std::string text = text_of(path("log.csv"));
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "pe0.0,,0,0,0,dma_read,memory,dma_read,memory/dma_read of 32x64 f16,32x64,f16,4096,0,1,0,890,900,1000,10,,,"
            "\"a \"\"b\"\", c.h\",3\n");
}

TEST_F(OpLogWriting, EqualWorkIsKeptOnceEvenIfTheFilesNameStandsTwiceInMemory) {
  const std::string name = "kernel.cpp";
  const std::string copy(name.data(), name.size());
  SqliteOpLog log(path("log.sqlite"));
  tell(log.observer(), 0, 0, 1000, {name.c_str(), 7});
  tell(log.observer(), 0, 1, 2000, {copy.c_str(), 7});
  tell(log.observer(), 0, 2, 3000, {copy.c_str(), 8});
  log.close({});
  EXPECT_EQ(sql("SELECT file, line FROM work"), "kernel.cpp,7\nkernel.cpp,8\n");
  EXPECT_EQ(sql("SELECT line FROM operations"), "7\n7\n8\n");
}

TEST_F(OpLogWriting, ACriticalPathIsTheSameInBothFormats) {
  const std::vector<PathSegment> segments = {
      {Picoseconds(0), Picoseconds(8), PathCause::issue, {PeId(0), 4, 0}, {"a.cpp", 3}},
      {Picoseconds(8), Picoseconds(50), PathCause::dma_read, {PeId(0), 4, 2}, {"a.cpp", 3}},
      {Picoseconds(50), Picoseconds(60), PathCause::link_queue, {PeId(1), 0, 0}, {"b.cpp", 5}}};
  SqliteOpLog log(path("log.sqlite"));
  tell(log.observer(), 0, 0, 1000);
  log.write_path(segments);
  log.close({});
  write_path_csv(path("path.csv"), segments);
  const std::string rows =
      "1,0,8,issue,pe0.4,0,4,0,a.cpp,3\n"
      "2,8,50,dma_read,pe0.4.2,0,4,2,a.cpp,3\n"
      "3,50,60,link_queue,pe1.0,1,0,0,b.cpp,5\n";
  EXPECT_EQ(sql("SELECT * FROM critical_path"), rows);
  EXPECT_EQ(text_of(path("path.csv")), "position,start_ps,end_ps,cause,operation,pe,sequence,part,file,line\n" + rows);
  EXPECT_EQ(sql("SELECT COUNT(*) FROM operations"), "1\n");
}

TEST_F(OpLogWriting, ALogOfNothingIsALog) {
  SqliteOpLog sqlite(path("log.sqlite"));
  sqlite.close({});
  CsvOpLog csv(path("log.csv"));
  csv.close({});
  EXPECT_EQ(sql("SELECT COUNT(*) FROM operations"), "0\n");
  EXPECT_EQ(text_of(path("log.csv")).find('\n') + 1, text_of(path("log.csv")).size());
}

TEST_F(OpLogWriting, WithoutACloseNothingHangs) {
  SqliteOpLog sqlite(path("log.sqlite"));
  CsvOpLog csv(path("log.csv"));
  for (std::int64_t i = 0; i < 20'000; ++i) {
    tell(sqlite.observer(), 0, i, 1000 * i);
    tell(csv.observer(), 0, i, 1000 * i);
  }
}

// ---- what cannot be written

TEST_F(OpLogWriting, AFolderThatDoesNotExistIsAnErrorAtTheBeginning) {
  const std::string reason = "its folder \"" + path("nowhere") + "\" does not exist";
  EXPECT_EQ(testing::error_of<WriteError>([this] { CsvOpLog log(path("nowhere/log.csv")); }), reason);
  EXPECT_EQ(testing::error_of<WriteError>([this] { SqliteOpLog log(path("nowhere/log.sqlite")); }), reason);
}

TEST_F(OpLogWriting, AnOlderFileIsReplacedWhenTheLogIsClosedAndNotBefore) {
  const std::string something(4096, 'x');
  std::ofstream(path("log.sqlite")) << something;
  { const SqliteOpLog log(path("log.sqlite")); }
  EXPECT_EQ(text_of(path("log.sqlite")), something);
  SqliteOpLog log(path("log.sqlite"));
  tell(log.observer(), 0, 0, 1000);
  log.close({});
  EXPECT_EQ(sql("SELECT COUNT(*) FROM operations"), "1\n");
  EXPECT_EQ(sql("PRAGMA integrity_check"), "ok\n");
}

TEST_F(OpLogWriting, ADatabaseNeedsAFileInWhichItCanSeek) {
  EXPECT_EQ(testing::error_of<WriteError>([] { SqliteOpLog log("/dev/null"); }), "it is not a regular file");
}

TEST_F(OpLogWriting, AFullDiskIsKnownDuringTheRunAndToldAtTheEnd) {
  in_child([] {
    CsvOpLog log("/dev/full");
    for (std::int64_t i = 0; i < 100'000; ++i) tell_in_time(log.observer(), 0, i, 1000 * i);
    EXPECT_TRUE(log.failed());
    EXPECT_EQ(testing::error_of<WriteError>([&log] { log.close({}); }), "the disk is full");
  });
  in_child([] {
    CsvOpLog log("/dev/full");
    tell(log.observer(), 0, 0, 1000);
    EXPECT_EQ(testing::error_of<WriteError>([&log] { log.close({}); }), "the disk is full");
  });
}

TEST_F(OpLogWriting, ADatabaseThatMayNotGrowIsKnownDuringTheRunAndToldAtTheEnd) {
  in_child([this] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    SqliteOpLog log(path("log.sqlite"));
    for (std::int64_t i = 0; i < 100'000; ++i) tell_in_time(log.observer(), 0, i, 1000 * i);
    EXPECT_TRUE(log.failed());
    const std::string error = testing::error_of<WriteError>([&log] { log.close({}); });
    EXPECT_EQ(error.substr(0, 14), "disk I/O error");
  });
}

[[nodiscard]] std::int64_t resident_bytes() {
  std::ifstream statistics("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statistics >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(OpLogWriting, MemoryDoesNotGrowWithTheRun) {
  if (!testing::freed_memory_is_reused) GTEST_SKIP() << "AddressSanitizer keeps what was freed";
  in_child([this] {
    SqliteOpLog sqlite(path("log.sqlite"));
    CsvOpLog csv("/dev/null");
    std::int64_t early = 0;
    for (std::int64_t i = 0; i < 2'000'000; ++i) {
      if (i == 200'000) early = resident_bytes();
      sqlite.observer().depends(PeId(i % 64), Completion{1, static_cast<std::uint32_t>(i / 64)});
      tell_in_time(sqlite.observer(), i % 64, i / 64, 1000 * i);
      tell_in_time(csv.observer(), i % 64, i / 64, 1000 * i);
    }
    // A batch is at most 8,192 rows of less than 100 bytes; a handful may be under way, or not yet, in each of the two.
    EXPECT_LT(resident_bytes() - early, 12 << 20);
    sqlite.close({});
    csv.close({});
    EXPECT_EQ(sql("SELECT COUNT(*) FROM operation_row"), "2000000\n");
  });
}

}  // namespace
}  // namespace kernwave::op_log_writing_test
