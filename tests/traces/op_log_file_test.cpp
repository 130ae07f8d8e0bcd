// The op log in files: what its rows say, and that a file holds a run and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/sqlite_query.h"
#include "tests/support/temporary_folder.h"
#include "traces/observer_group.h"
#include "traces/op_log/csv_op_log.h"
#include "traces/op_log/sqlite_op_log.h"

namespace kernwave::op_log_file_test {
namespace {

using testing::in_child;
using testing::in_child_for_each_policy;
using testing::one_cube;
using testing::query_text;
using testing::Simulation;
using traces::CsvOpLog;
using traces::PeObserverGroup;
using traces::SqliteOpLog;

class OpLogFile : public testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] std::string sql(const std::string& text) const { return query_text(path("log.sqlite"), text); }

  /// Runs a kernel on PE 0 with an SQLite log.
  void log_of(const tl::Kernel& kernel) const {
    in_child([this, &kernel] {
      Simulation simulation(one_cube(), DataMode::none);
      SqliteOpLog log(path("log.sqlite"));
      simulation.system().set_observer(&log.observer());
      simulation.run(kernel);
      log.close({true, "", simulation.latency()}, {{"kernel", "by hand"}});
    });
  }
};

[[nodiscard]] std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

const tl::Queues from_west{{Direction::west}, Bytes(4096)};

/// Every engine works, and some operations wait for others.
void everything(tl::Context& tl) {
  for (std::int64_t round = 0; round < 4; ++round) {
    const auto scope = tl.scratch_scope();
    const HbmAddress at(CubeId(0), Bytes(round * 0x10000));
    const auto x = tl.load(at, {32, 64}, DType::f16);
    const auto sum = tl.buffer({32, 128}, DType::f32);
    tl.composite(x, tl.ref(at, {64, 128}, DType::f16), tl::CompositeOptions().out(sum).tile(64).then(MathOp::exp));
    tl.send(Direction::east, x);
    const auto y = tl.recv_async(Direction::west, {32, 64}, DType::f16);
    tl.store(at + Bytes(0x400000), tl.dot(x, tl.trans(y)));
    tl.store(at + Bytes(0x500000), tl.max(sum, 1));
  }
}

/// `everything` on six PEs whose queues lead around.
class Ring {
 public:
  explicit Ring(ConstructionOrder order = ConstructionOrder::ascending)
      : simulation_(machine(), DataMode::none, order) {}

  [[nodiscard]] System& system() noexcept { return simulation_.system(); }
  [[nodiscard]] Simulation& simulation() noexcept { return simulation_; }
  void run(tl::Policy policy = tl::Policy::lazy) {
    std::vector<Simulation::Part> parts;
    for (std::int64_t pe = 0; pe < 6; ++pe) parts.push_back({pe, everything});
    simulation_.run_parts(parts, from_west, policy);
  }

 private:
  [[nodiscard]] static SystemConfig machine() {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 3;
    return config;
  }

  Simulation simulation_;
};

// ---- rows

TEST_F(OpLogFile, TellsTimesShapesAndDependenciesOfALoadADotAndAStore) {
  // Given 16 KiB loaded, a product of 64 x 128 x 64 on 64 x 64 and its 16 KiB of results stored.
  constexpr int line = __LINE__ + 3;
  log_of([](tl::Context& tl) {
    const auto w = tl.buffer({128, 64}, DType::f16);
    const auto x = tl.load(HbmAddress(0x40), {64, 128}, DType::f16);
    const auto y = tl.dot(x, w);
    tl.store(HbmAddress(0x8000), y);
  });
  // Then the load is issued in 8 cycles, dispatched in 2, and takes 20 + 100 + 128 ns; the dot is issued in 6 and takes
  // 128; the store takes what the load takes.
  EXPECT_EQ(sql("SELECT id, parent, engine, category, kind, label, shape, dtype, bytes, flops FROM operations"),
            "pe0.0,,dma_read,memory,dma_read,memory/dma_read of 64x128 f16,64x128,f16,16384,0\n"
            "pe0.1,,gemm,gemm,dot,gemm/dot of 64x128 f16 . 128x64 f16,64x128 . 128x64,f16,0,1048576\n"
            "pe0.2,,dma_write,memory,dma_write,memory/dma_write of 64x64 f32,64x64,f32,16384,0\n");
  EXPECT_EQ(sql("SELECT issue_ps, start_ps, end_ps, queue_ps, waited_ps, dependencies, cube, offset FROM operations"),
            "8000,10000,258000,2000,,,0,64\n"
            "264000,266000,394000,2000,,0,,\n"
            "402000,404000,652000,2000,,1,0,32768\n");
  EXPECT_EQ(sql("SELECT line - " + std::to_string(line) + " FROM operations"), "0\n1\n2\n");
  EXPECT_EQ(sql("SELECT DISTINCT file FROM operations"), std::string(__FILE__) + "\n");
  EXPECT_EQ(sql("SELECT key, value FROM run"), "schema,1\ncomplete,1\nreason,\nend_ps,652000\nkernel,by hand\n");
}

TEST_F(OpLogFile, TheTypeIsTheOneOfAllTensorsOrThatOfEach) {
  in_child([this] {
    SystemConfig config = one_cube();
    config.cubes = 2;
    Simulation simulation(config, DataMode::none);
    SqliteOpLog log(path("log.sqlite"));
    simulation.system().set_observer(&log.observer());
    const auto sender = [](tl::Context& tl) {
      const auto x = tl.buffer({4, 8}, DType::f16);
      const auto y = tl.buffer({2, 8}, DType::f32);
      tl.send(Direction::east, {x, y, x});
      tl.send(Direction::east, {y, x});
      tl.send(Direction::east, {y, y});
      tl.dot(x, tl.trans(x));  // whose result is f32
    };
    const auto receiver = [](tl::Context& tl) {
      for (const std::int64_t bytes : {192, 128, 128}) {
        const auto scope = tl.scratch_scope();
        tl.recv(Direction::west, {bytes / 4}, DType::f32);
      }
    };
    simulation.run_parts({{0, sender}, {1, receiver}}, from_west);
    log.close({});
  });
  EXPECT_EQ(sql("SELECT shape, dtype FROM operations WHERE kind = 'ipcq_copy' ORDER BY sequence"),
            "4x8, 2x8, 4x8,f16, f32, f16\n"
            "2x8, 4x8,f32, f16\n"
            "2x8, 2x8,f32\n");
  EXPECT_EQ(sql("SELECT shape, dtype FROM operations WHERE kind = 'dot'"), "4x8 . 8x4,f16\n");
}

TEST_F(OpLogFile, DependenciesAreTheOperandsReadOnceEachAndNothingElse) {
  log_of([](tl::Context& tl) {
    const auto x = tl.load(HbmAddress(0), {16, 16}, DType::f16);     // 0
    const auto y = tl.load(HbmAddress(4096), {16, 16}, DType::f16);  // 1
    const auto acc = tl.zeros({16, 16}, DType::f32);                 // 2
    tl.dot(x, y, acc);                                               // 3 reads 0, 1 and what it adds to
    const auto z = tl.mul(acc, acc);                                 // 4 reads the sum, which is the dot's by now
    tl.store(HbmAddress(8192), x);                                   // 5
    tl.copy_to(x, y);                                                // 6 overwrites what the store reads
    tl.exp(z, tl::out(acc));                                         // 7 overwrites what the product made
  });
  EXPECT_EQ(sql("SELECT sequence, dependencies FROM operations ORDER BY sequence"),
            "0,\n1,\n2,\n3,0 1 2\n4,3\n5,0\n6,1\n7,4\n");
}

TEST_F(OpLogFile, PartsOfACompositeNameItAsTheirParent) {
  // Given two tiles of 128 columns: for each a read and a product.
  log_of([](tl::Context& tl) {
    const auto q = tl.load(HbmAddress(0), {8, 64}, DType::f16);
    tl.composite(q, tl.ref(HbmAddress(0x10000), {64, 256}, DType::f16),
                 tl::CompositeOptions().out(tl.buffer({8, 256}, DType::f32)).tile(128));
  });
  EXPECT_EQ(sql("SELECT id, parent, engine, shape, dependencies FROM operations ORDER BY sequence, part"),
            "pe0.0,,dma_read,8x64,\n"
            "pe0.1,,composite,8x64 . 64x256,0\n"
            "pe0.1.1,pe0.1,dma_read,64x128,\n"
            "pe0.1.2,pe0.1,gemm,8x64 . 64x128,\n"
            "pe0.1.3,pe0.1,dma_read,64x128,\n"
            "pe0.1.4,pe0.1,gemm,8x64 . 64x128,\n");
  // The parts do what the composite does.
  for (const char* column : {"bytes", "flops"}) {
    EXPECT_EQ(sql(std::string("SELECT SUM(") + column + ") FROM operations WHERE parent = 'pe0.1'"),
              sql(std::string("SELECT ") + column + " FROM operations WHERE id = 'pe0.1'"));
  }
}

TEST_F(OpLogFile, ACompositeCountsTheBytesThatExistOfEachFactorWhicheverWayItLies) {
  log_of([](tl::Context& tl) {
    const auto q = tl.zeros({8, 64}, DType::f16);
    const auto out = [&] { return tl.buffer({8, 96}, DType::f32); };
    const auto keys = tl.ref(HbmAddress(0x10000), {96, 64}, DType::f16, tl::RefOptions().valid(50));
    const auto values = tl.ref(HbmAddress(0x20000), {64, 96}, DType::f16, tl::RefOptions().valid(40));
    tl.composite(q, tl.trans(keys), tl::CompositeOptions().out(out()).tile(32));
    tl.composite(q, values, tl::CompositeOptions().out(out()).tile(32));
  });
  // 50 rows of 64 elements of 2 B, then 40 rows of 96; 2 x 8 x 64 x 96 flops either way.
  EXPECT_EQ(sql("SELECT shape, bytes, flops FROM operations WHERE engine = 'composite' ORDER BY sequence"),
            "8x64 . 64x96,6400,98304\n"
            "8x64 . 64x96,7680,98304\n");
  // The reads of the parts move them.
  EXPECT_EQ(sql("SELECT parent, SUM(bytes) FROM operations WHERE parent <> '' AND engine = 'dma_read' GROUP BY parent"),
            sql("SELECT id, bytes FROM operations WHERE engine = 'composite' ORDER BY sequence"));
}

TEST_F(OpLogFile, AMessageTellsItsPeerAndHowLongItWaitedForASlot) {
  in_child([this] {
    SystemConfig config = one_cube();
    config.cubes = 2;
    Simulation simulation(config, DataMode::none);
    SqliteOpLog log(path("log.sqlite"));
    simulation.system().set_observer(&log.observer());
    const auto send_two = [](tl::Context& tl) {
      const auto x = tl.buffer({16, 128}, DType::f16);
      for (int i = 0; i < 2; ++i) tl.send(Direction::east, x);
    };
    const auto receive_two = [](tl::Context& tl) {
      for (int i = 0; i < 2; ++i) tl.recv(Direction::west, {16, 128}, DType::f16);
    };
    simulation.run_parts({{0, send_two}, {1, receive_two}}, from_west);
    log.close({true, "", simulation.latency()});
  });
  // 4 KiB take 32 ns after a hop of 100 ns. The window of one opens one hop after the receive, at 142 + 100 ns; the
  // second send waits from the end of the first one's issue, at 8 ns, on.
  EXPECT_EQ(sql("SELECT label, waited_ps, start_ps, end_ps FROM operations WHERE sequence = 0 OR pe = 0"),
            "comm/ipcq_copy of 16x128 f16 to PE 1 (east),0,10000,142000\n"
            "comm/ipcq_recv of 16x128 f16 from PE 0 (west),,8000,142000\n"
            "comm/ipcq_copy of 16x128 f16 to PE 1 (east),234000,252000,384000\n");
}

// ---- whole runs

TEST_F(OpLogFile, BusyTimesAddUpToTheStatisticsOfEveryEngine) {
  in_child_for_each_policy([this](tl::Policy policy) {
    const std::string file = path(std::string(tl::name_of(policy)) + ".sqlite");
    Ring ring;
    SqliteOpLog log(file);
    ring.system().set_observer(&log.observer());
    ring.run(policy);
    log.close({});
    std::string expected;
    for (std::int64_t id = 0; id < 6; ++id) {
      const Pe& pe = ring.system().pe(PeId(id));
      for (const auto& [engine, name] :
           {std::pair(Engine::dma_read, "dma_read"), std::pair(Engine::dma_write, "dma_write"),
            std::pair(Engine::gemm, "gemm"), std::pair(Engine::ipcq, "ipcq"), std::pair(Engine::math, "math")}) {
        const EngineStatistics statistics = pe.statistics(engine);
        EXPECT_GT(statistics.operations, 0);
        expected += std::to_string(id) + "," + name + "," + std::to_string(statistics.operations) + "," +
                    std::to_string(statistics.busy.count()) + "\n";
      }
    }
    EXPECT_EQ(query_text(file,
                         "SELECT pe, engine, COUNT(*), SUM(end_ps - start_ps) FROM operations "
                         "WHERE engine <> 'composite' AND kind <> 'ipcq_recv' GROUP BY pe, engine ORDER BY pe, engine"),
              expected);
  });
}

TEST_F(OpLogFile, CsvIsTheViewRowByRowInTheOrderOfEnds) {
  in_child([this] {
    Ring ring;
    SqliteOpLog sqlite(path("log.sqlite"));
    CsvOpLog csv(path("log.csv"));
    PeObserverGroup group;
    group.add(sqlite.observer());
    group.add(csv.observer());
    ring.system().set_observer(group.observer());
    ring.run();
    sqlite.close({});
    csv.close({});
  });
  std::string csv = bytes_of(path("log.csv"));
  csv.erase(std::remove(csv.begin(), csv.end(), '"'), csv.end());  // around labels with commas
  const std::size_t header = csv.find('\n') + 1;
  EXPECT_EQ(csv.substr(0, header),
            query_text(path("log.sqlite"), "SELECT group_concat(name) FROM pragma_table_info('operations')"));
  EXPECT_EQ(csv.substr(header), sql("SELECT * FROM operations"));
  EXPECT_EQ(sql("SELECT * FROM operations"), sql("SELECT * FROM operations ORDER BY end_ps, pe, sequence, part"));
  // 4 rounds of a load, a composite of 2 tiles with read, product and step, a message sent and one received, a dot, a
  // reduction and two stores.
  EXPECT_EQ(sql("SELECT COUNT(*) FROM operations"), std::to_string(6 * 4 * (8 + 2 * 3)) + "\n");
}

TEST_F(OpLogFile, IsTheSameToTheByteWhateverTheOrderOfConstruction) {
  for (const auto& [name, order] :
       {std::pair("first", ConstructionOrder::ascending), std::pair("again", ConstructionOrder::ascending),
        std::pair("descending", ConstructionOrder::descending),
        std::pair("interleaved", ConstructionOrder::interleaved)}) {
    in_child([this, name = name, order = order] {
      Ring ring(order);
      SqliteOpLog sqlite(path(std::string(name) + ".sqlite"));
      CsvOpLog csv(path(std::string(name) + ".csv"));
      PeObserverGroup group;
      group.add(sqlite.observer());
      group.add(csv.observer());
      ring.system().set_observer(group.observer());
      ring.run();
      sqlite.close({});
      csv.close({});
    });
    EXPECT_GT(bytes_of(path("first.csv")).size(), 10'000U);
    EXPECT_EQ(bytes_of(path(std::string(name) + ".csv")), bytes_of(path("first.csv")));
    EXPECT_TRUE(bytes_of(path(std::string(name) + ".sqlite")) == bytes_of(path("first.sqlite"))) << name;
  }
}

// ---- runs that fail

TEST_F(OpLogFile, OfAKernelThatThrowsHoldsWhatWasDoneAndSaysWhy) {
  in_child([this] {
    Simulation simulation(one_cube(), DataMode::none);
    SqliteOpLog sqlite(path("log.sqlite"));
    CsvOpLog csv(path("log.csv"));
    PeObserverGroup group;
    group.add(sqlite.observer());
    group.add(csv.observer());
    simulation.system().set_observer(group.observer());
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      tl.wait(tl.full({256}, 1.0, DType::f32));
      tl.load(HbmAddress(0), {64, 128}, DType::f16);  // never completes
      throw std::runtime_error("the kernel's\nown complaint");
    });
    sqlite.close({false, message, now()});
    csv.close({false, message, now()});
  });
  EXPECT_EQ(sql("SELECT id, end_ps FROM operations"), "pe0.0,5000\n");
  EXPECT_EQ(sql("SELECT key, value FROM run WHERE key IN ('complete', 'reason')"),
            "complete,0\nreason,PE 0, program (0, 0, 0): the kernel's\nown complaint\n");
  const std::string csv = bytes_of(path("log.csv"));
  EXPECT_NE(csv.find("\npe0.0,,0,0,0,math,"), std::string::npos);
  EXPECT_EQ(csv.substr(csv.find('#')), "# incomplete: PE 0, program (0, 0, 0): the kernel's own complaint\n");
}

TEST_F(OpLogFile, OfADeadlockHoldsWhatWasDone) {
  in_child([this] {
    SystemConfig config = one_cube();
    config.cubes = 2;
    Simulation simulation(config, DataMode::none);
    SqliteOpLog log(path("log.sqlite"));
    simulation.system().set_observer(&log.observer());
    const auto waits_for_ever = [](tl::Context& tl) {
      tl.full({256}, 1.0, DType::f32);
      tl.recv(Direction::west, {16, 128}, DType::f16);
    };
    const std::string stuck = simulation.run_deadlocked_parts({{0, waits_for_ever}, {1, waits_for_ever}}, from_west);
    EXPECT_NE(stuck, "");
    log.close({false, "deadlock", now()});
  });
  EXPECT_EQ(sql("SELECT id, kind FROM operations"), "pe0.0,fill\npe1.0,fill\n");
  EXPECT_EQ(sql("SELECT value FROM run WHERE key IN ('complete', 'reason') ORDER BY key"), "0\ndeadlock\n");
}

}  // namespace
}  // namespace kernwave::op_log_file_test
