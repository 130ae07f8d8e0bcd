// The waveform: what its signals say and when, which part of a run and of a machine it holds, and that others can read
// it.
#include "traces/waveform/waveform.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/files.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/vcd_reader.h"
#include "traces/observer_group.h"
#include "traces/output.h"
#include "traces/waveform/gtkwave_save.h"

namespace kernwave::traces {
namespace {

using kernwave::testing::all_policies;
using kernwave::testing::in_child;
using kernwave::testing::isolated_transfer;
using kernwave::testing::one_cube;
using kernwave::testing::parse_vcd;
using kernwave::testing::Simulation;
using kernwave::testing::Vcd;
using kernwave::testing::VcdChange;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds nanosecond(1000);
constexpr tl::Shape tile{64, 128};  // of f16: 16 KiB

using Changes = std::vector<VcdChange>;

[[nodiscard]] VcdChange since(std::int64_t nanoseconds, std::uint64_t value) {
  return {nanoseconds * nanosecond, value};
}

[[nodiscard]] VcdChange since(std::int64_t nanoseconds, TimeCause state) {
  return since(nanoseconds, static_cast<std::uint64_t>(state));
}

/// A simulation with a waveform and an op log.
class Traced {
 public:
  Traced(const SystemConfig& config, const WaveformOptions& options)
      : path_(options.path), simulation_(config), waveform_(simulation_.system(), options) {
    pes_.add(log_);
    if (waveform_.pe_observer() != nullptr) pes_.add(*waveform_.pe_observer());
    simulation_.system().set_observer(pes_.observer());
    simulation_.system().set_channel_observer(waveform_.channel_observer());
  }

  [[nodiscard]] Simulation& simulation() noexcept { return simulation_; }
  [[nodiscard]] Waveform& waveform() noexcept { return waveform_; }
  [[nodiscard]] const OpLog& log() const noexcept { return log_; }

  [[nodiscard]] Vcd close() {
    waveform_.close();
    return parse_vcd(platform::read_file(path_ + ".vcd"));
  }

 private:
  std::string path_;
  Simulation simulation_;
  OpLog log_;
  Waveform waveform_;
  PeObserverGroup pes_;
};

class WaveformTest : public kernwave::testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] WaveformOptions options(std::string scope = "*") const {
    WaveformOptions options;
    options.path = path("run");
    options.scope = std::move(scope);
    return options;
  }
};

// ---- a program by hand

/// A load of 16 KiB, 128 x 64 times 64 x 128 on 64 x 64, and a store of 64 KiB. In ns, one cycle each:
///   load    issue 0 to 8, dispatch to 10, 20 setup + 100 latency + 128 data: 10 to 258
///   dot     waits for the load, issue 258 to 264, dispatch to 266, 2 x 128: 266 to 522
///   store   waits for the dot, issue 522 to 530, dispatch to 532, 20 + 100 + 512: 532 to 1164
void load_dot_store(tl::Context& tl) {
  const auto a = tl.buffer({128, 64}, DType::f16);
  const auto b = tl.load(HbmAddress(0), tile, DType::f16);
  tl.store(HbmAddress(1 << 20), tl.dot(a, b));
}
constexpr std::int64_t end_of_load_dot_store = 1164;

TEST_F(WaveformTest, ShowsWhatAProgramDoesAndWaitsFor) {
  in_child([this] {
    Traced traced(one_cube(), options());
    traced.simulation().run(load_dot_store);
    ASSERT_EQ(traced.simulation().latency(), end_of_load_dot_store * nanosecond);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes,
              (Changes{since(0, TimeCause::issue), since(8, TimeCause::load), since(258, TimeCause::issue),
                       since(264, TimeCause::compute), since(522, TimeCause::issue), since(530, TimeCause::drain),
                       since(1164, TimeCause::idle)}));
    EXPECT_EQ(vcd.signal("pe0.operation").changes, (Changes{since(0, 0), since(264, 1), since(530, 2)}));
    EXPECT_EQ(vcd.signal("pe0.dma_read_busy").changes, (Changes{since(0, 0), since(10, 1), since(258, 0)}));
    EXPECT_EQ(vcd.signal("pe0.gemm_busy").changes, (Changes{since(0, 0), since(266, 1), since(522, 0)}));
    EXPECT_EQ(vcd.signal("pe0.dma_write_busy").changes, (Changes{since(0, 0), since(532, 1), since(1164, 0)}));
    EXPECT_EQ(vcd.signal("pe0.math_busy").changes, (Changes{since(0, 0)}));
    EXPECT_EQ(vcd.signal("pe0.outstanding_loads").changes, (Changes{since(0, 0), since(8, 1), since(258, 0)}));
    EXPECT_EQ(vcd.signal("pe0.scheduler_queue").changes, (Changes{since(0, 0), since(8, 1), since(10, 0), since(264, 1),
                                                                  since(266, 0), since(530, 1), since(532, 0)}));
    EXPECT_EQ(vcd.signal("pe0.gemm_queue").changes, (Changes{since(0, 0), since(266, 1), since(522, 0)}));
    EXPECT_EQ(vcd.signal("pe0.scratch_bytes").at(300 * nanosecond), 16384U + 16384U + 65536U);
    EXPECT_EQ(vcd.stamps.front(), Picoseconds(0));
    EXPECT_EQ(vcd.stamps.back(), end_of_load_dot_store * nanosecond);
  });
}

TEST_F(WaveformTest, ShowsAWaitForAnEarlierOperationUnderItsNumber) {
  in_child([this] {
    Traced traced(one_cube(), options("pe0.operation"));
    traced.simulation().run([](tl::Context& tl) {
      const auto first = tl.load(HbmAddress(0), tile, DType::f16);
      tl.load(HbmAddress(1 << 20), tile, DType::f16);  // issued from 8 to 16 ns
      tl.wait(first);                                  // from 16 to 258 ns
    });
    EXPECT_EQ(traced.close().signal("pe0.operation").changes, (Changes{since(0, 0), since(258, 1)}));
  });
}

TEST_F(WaveformTest, OfAMemoryShowsItsChannels) {
  in_child([this] {
    // Given two PEs that load the same 256 B, all of channel 0: 5 ns at 51.2 GB/s
    Traced traced(one_cube(2), options("cube0"));
    // When both requests become eligible at 8 + 2 + 20 + 100 ns
    traced.simulation().run_grid({2, 1, 1}, [](tl::Context& tl) { tl.load(HbmAddress(0), {1, 128}, DType::f16); });
    // Then one waits for the other
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("cube0.channel0_busy").changes, (Changes{since(0, 0), since(130, 1), since(140, 0)}));
    EXPECT_EQ(vcd.signal("cube0.channel0_queue").changes, (Changes{since(0, 0), since(130, 1), since(135, 0)}));
    EXPECT_EQ(vcd.signal("cube0.channel1_busy").changes, (Changes{since(0, 0)}));
  });
}

// ---- against the run's own numbers

/// Loads, a composite in several tiles, products, sums, stores and messages to the eastern neighbour.
void sender(tl::Context& tl) {
  const auto a = tl.full({64, 64}, 1.0, DType::f16);
  const auto out = tl.buffer({64, 512}, DType::f32);
  const auto b = tl.load(HbmAddress(0), {64, 64}, DType::f16);
  tl.composite(a, tl.ref(HbmAddress(1 << 20), {64, 512}, DType::f16), tl::CompositeOptions().out(out).tile(128));
  const auto c = tl.dot(a, b);
  for (int i = 0; i < 3; ++i) tl.send(Direction::east, tl.cast(c, DType::f16));
  tl.store(HbmAddress(2 << 20), out);
}

void receiver(tl::Context& tl) {
  for (int i = 0; i < 3; ++i) {
    const auto scope = tl.scratch_scope();
    const auto x = tl.recv(Direction::west, {64, 64}, DType::f16);
    tl.store(HbmAddress(CubeId(1), Bytes(i * 8192)), tl.dot(x, tl.load(HbmAddress(0), {64, 64}, DType::f16)));
  }
}

[[nodiscard]] SystemConfig two_cubes() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 1;
  return config;
}

void run_ring(Traced& traced, tl::Policy policy = tl::Policy::lazy) {
  traced.simulation().run_parts({{0, sender}, {1, receiver}}, {{Direction::west}, Bytes(8192)}, policy);
}

TEST_F(WaveformTest, HoldsTheBusyTimeOfEveryEngineToThePicosecond) {
  for (const tl::Policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    in_child([this, policy] {
      Traced traced(two_cubes(), options("pe?"));
      run_ring(traced, policy);
      const Vcd vcd = traced.close();
      const std::vector<std::pair<Engine, std::string>> engines = {{Engine::dma_read, "dma_read_busy"},
                                                                   {Engine::dma_write, "dma_write_busy"},
                                                                   {Engine::gemm, "gemm_busy"},
                                                                   {Engine::math, "math_busy"},
                                                                   {Engine::ipcq, "sends_in_service"}};
      for (const auto& [engine, name] : engines) {
        EXPECT_GT(vcd.integral("pe0." + name), Picoseconds(0)) << name;
        for (std::int64_t id = 0; id < 2; ++id) {
          const std::string signal = "pe" + std::to_string(id) + "." + name;
          EXPECT_EQ(vcd.integral(signal), traced.simulation().pe(id).statistics(engine).busy) << signal;
        }
      }
    });
  }
}

TEST_F(WaveformTest, HoldsTheTimeOfEveryState) {
  in_child([this] {
    Traced traced(two_cubes(), options("pe?.state"));
    run_ring(traced);
    const Vcd vcd = traced.close();
    for (std::int64_t id = 0; id < 2; ++id) {
      const Changes& changes = vcd.signal("pe" + std::to_string(id) + ".state").changes;
      std::vector<Picoseconds> times(time_cause_count);
      for (std::size_t i = 0; i < changes.size(); ++i) {
        const Picoseconds end = i + 1 < changes.size() ? changes[i + 1].first : vcd.stamps.back();
        times.at(changes[i].second) += end - changes[i].first;
      }
      for (std::size_t i = 0; i < time_cause_count; ++i) {
        const auto cause = static_cast<TimeCause>(i);
        if (cause == TimeCause::idle) continue;  // which the account leaves out
        EXPECT_EQ(times[i], traced.simulation().time(cause, id)) << "PE " << id << ", " << name_of(cause);
      }
    }
  });
}

TEST_F(WaveformTest, CountsTheSlotsOfALinkedDirection) {
  in_child([this] {
    Traced traced(two_cubes(), options("pe1"));
    // Given a message of 16 KiB: issue 8, dispatch 2, hop 100, 128 of data, so that it lands at 238 ns
    const auto send = [](tl::Context& tl) { tl.send(Direction::east, tl.buffer(tile, DType::f16)); };
    // And a receiver that waits for it and holds it until 512 vectors are done: issue 2, dispatch 2, 512: at 754 ns
    const auto receive = [](tl::Context& tl) {
      const auto scope = tl.scratch_scope();
      tl.recv(Direction::west, tile, DType::f16);
      tl.wait(tl.full({256, 512}, 0.0, DType::f32));
    };
    traced.simulation().run_parts({{0, send}, {1, receive}}, {{Direction::west}, Bytes(16384)});
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe1.west_slots").changes, (Changes{since(0, 0), since(238, 1), since(754, 0)}));
    EXPECT_EQ(vcd.signals.count("SystemC.pe1.north_slots"), 0U);  // a cube of one PE has no neighbour there
  });
}

TEST_F(WaveformTest, HasEventsAtTheirLoggedTimes) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.timescale, "1 ps");
    const auto& busy = vcd.signal("pe0.gemm_busy");
    for (const OperationRow& row : traced.log().rows()) {
      if (row.descriptor.id.pe != PeId(0) || row.descriptor.engine != Engine::gemm) continue;
      EXPECT_NE(std::find(busy.changes.begin(), busy.changes.end(), VcdChange(row.start, 1)), busy.changes.end());
      EXPECT_EQ(busy.at(row.end - Picoseconds(1)), 1U);
    }
  });
}

// ---- the file

TEST_F(WaveformTest, HasAscendingTimesAndUniqueNamesThatAreSafe) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    const Vcd vcd = traced.close();
    EXPECT_EQ(std::adjacent_find(vcd.stamps.begin(), vcd.stamps.end(), std::greater_equal<>()), vcd.stamps.end());
    // 15 signals of a PE with queues to east and west, 2 for each of 16 channels
    EXPECT_EQ(vcd.names.size(), 2U * (14 + 2) + 2U * 32);
    EXPECT_EQ(vcd.names.size(), traced.waveform().signals().size());
    const std::regex safe("SystemC\\.(pe|cube)[0-9]+\\.[a-z0-9_]+");
    std::set<std::string> unique;
    for (const std::string& name : vcd.names) {
      EXPECT_TRUE(std::regex_match(name, safe)) << name;
      EXPECT_TRUE(unique.insert(name).second) << name << " twice";
    }
  });
}

TEST_F(WaveformTest, IsReadByOthers) {
  if (std::system("command -v vcd2fst >/dev/null") != 0) {  // NOLINT(cert-env33-c): the shell's own command
    GTEST_SKIP() << "vcd2fst is not installed (package gtkwave)";
  }
  in_child([this] {
    Traced traced(two_cubes(), options());
    run_ring(traced);
    (void)traced.close();
    const std::string command = "vcd2fst '" + path("run.vcd") + "' '" + path("run.fst") + "' >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
    EXPECT_FALSE(platform::read_file(path("run.fst")).empty());
  });
}

TEST_F(WaveformTest, IsTheSameInEveryRunButForItsDate) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    in_child([this] {
      Traced traced(two_cubes(), options());
      run_ring(traced);
      (void)traced.close();
    });
    const std::string text = platform::read_file(path("run.vcd"));
    texts.push_back(text.substr(text.find("$end", text.find("$date"))));
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// ---- a part of a run

TEST_F(WaveformTest, BeginsAndEndsWhereItIsTold) {
  in_child([this] {
    WaveformOptions window = options("pe0.state");
    window.from = 100 * nanosecond;
    window.to = 300 * nanosecond;
    Traced traced(one_cube(), window);
    traced.simulation().run(load_dot_store);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes,
              (Changes{since(100, TimeCause::load), since(258, TimeCause::issue), since(264, TimeCause::compute)}));
    EXPECT_EQ(vcd.stamps.front(), 100 * nanosecond);
    EXPECT_EQ(vcd.stamps.back(), 300 * nanosecond);
  });
}

TEST_F(WaveformTest, DoesNotKeepARunFromItsEnd) {
  in_child([this] {
    WaveformOptions window = options("pe0.state");
    window.to = Picoseconds(1'000'000'000'000);
    Traced traced(one_cube(), window);
    traced.simulation().run(load_dot_store);
    EXPECT_EQ(now(), end_of_load_dot_store * nanosecond);
    EXPECT_EQ(traced.close().stamps.back(), end_of_load_dot_store * nanosecond);
  });
}

TEST_F(WaveformTest, OfARunThatEndsBeforeItBeginsHoldsTheEnd) {
  in_child([this] {
    WaveformOptions late = options("pe0.state");
    late.from = Picoseconds(1'000'000'000'000);
    Traced traced(one_cube(), late);
    traced.simulation().run(load_dot_store);
    const Vcd vcd = traced.close();
    EXPECT_EQ(vcd.signal("pe0.state").changes, (Changes{since(end_of_load_dot_store, TimeCause::idle)}));
  });
}

// ---- a part of a machine

TEST(WaveformScope, IsAPatternOfTheWholeNameOrOfThePartBeforeTheDot) {
  EXPECT_TRUE(in_scope("*", "pe0.state"));
  EXPECT_TRUE(in_scope("pe3", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("pe3.*", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("pe?.gemm_*", "pe3.gemm_busy"));
  EXPECT_TRUE(in_scope("*_busy", "cube0.channel5_busy"));
  EXPECT_FALSE(in_scope("pe3", "pe30.gemm_busy"));
  EXPECT_FALSE(in_scope("gemm_busy", "pe3.gemm_busy"));
  EXPECT_FALSE(in_scope("", "pe3.gemm_busy"));
}

TEST_F(WaveformTest, HoldsNothingOutsideItsScope) {
  in_child([this] {
    Traced traced(one_cube(3), options("pe[12].*_busy"));
    traced.simulation().run_grid({3, 1, 1}, load_dot_store);
    const std::vector<std::string> expected = {"pe1.dma_read_busy", "pe1.dma_write_busy", "pe1.gemm_busy",
                                               "pe1.math_busy",     "pe2.dma_read_busy",  "pe2.dma_write_busy",
                                               "pe2.gemm_busy",     "pe2.math_busy"};
    EXPECT_EQ(traced.waveform().signals(), expected);
    EXPECT_EQ(traced.waveform().channel_observer(), nullptr);
    EXPECT_EQ(traced.close().names.size(), expected.size());
  });
}

TEST_F(WaveformTest, OfNothingIsRefused) {
  in_child([this] {
    try {
      const Traced traced(one_cube(2), options("pe7"));
      FAIL() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()),
                "no signal is in the scope \"pe7\"; there are pe0 to pe1 (pe0.state, pe0.gemm_busy, ...) and cube0 to "
                "cube0 (cube0.channel0_busy, ...)");
    }
    EXPECT_EQ(entries(), 0U);
  });
}

// ---- files that cannot be written

TEST_F(WaveformTest, InAFolderThatDoesNotExistIsRefused) {
  in_child([this] {
    WaveformOptions absent = options();
    absent.path = path("absent/run");
    EXPECT_THROW(const Traced traced(one_cube(), absent), WriteError);
  });
}

TEST_F(WaveformTest, OnAFullDiskIsAnErrorWhenItIsClosed) {
  in_child([this] {
    Traced traced(two_cubes(), options());
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit full{4096, RLIM_INFINITY};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    run_ring(traced);
    EXPECT_THROW(traced.waveform().close(), WriteError);
  });
}

// ---- values ahead of time

TEST(TimedSignals, TakeTheirValuesInTheOrderOfTimeAndThenOfTheCall) {
  in_child([] {
    TimedSignals signals("signals", {{"a"}, {"b", 32, 7}, {"hidden", 32, 0, false}});
    signals.set(0, Picoseconds(20), 1);
    signals.set(0, Picoseconds(10), 2);
    signals.set(0, Picoseconds(20), 3);
    signals.add(1, Picoseconds(10), 5);
    signals.add(1, Picoseconds(20), -4);
    signals.set(2, Picoseconds(0), 9);
    EXPECT_EQ(signals.value(0), 0U);
    EXPECT_EQ(signals.value(1), 7U);
    sc_core::sc_start(to_sc_time(Picoseconds(15)));
    EXPECT_EQ(signals.value(0), 2U);
    EXPECT_EQ(signals.value(1), 12U);
    sc_core::sc_start(to_sc_time(Picoseconds(10)));
    EXPECT_EQ(signals.value(0), 3U);
    EXPECT_EQ(signals.value(1), 8U);
    EXPECT_EQ(signals.value(2), 0U);
    signals.set(0, Picoseconds(3), 4);  // has passed: now
    EXPECT_EQ(signals.value(0), 4U);
    EXPECT_FALSE(sc_core::sc_pending_activity());
  });
}

// ---- GTKWave

TEST(GtkwaveSave, GroupsSignalsAndNamesStates) {
  GtkwaveSave save;
  save.name = "run.gtkw";
  save.vcd = "run.vcd";
  save.states = "run.states.txt";
  save.signals = {"pe0.state", "pe0.gemm_busy", "cube0.channel0_queue"};
  save.from = Picoseconds(512'000);
  save.to = Picoseconds(512'000 + 1020 * 1024);
  // 1024 ps a pixel of 1020, in frames of 200 pixels: 2^10 x 200 = 2^17.643856
  EXPECT_EQ(gtkwave_save(save),
            "[*] Open with: gtkwave run.gtkw\n[dumpfile] \"run.vcd\"\n[savefile] \"run.gtkw\"\n[timestart] 512000\n"
            "[size] 1400 800\n[pos] -1 -1\n*-17.643856 -1\n[sst_expanded] 0\n[signals_width] 300\n"
            "@800200\n-pe0\n"
            "@2024\n^1 run.states.txt\n+{state} SystemC.pe0.state[3:0]\n"
            "[color] 3\n@28\n+{gemm_busy} SystemC.pe0.gemm_busy\n"
            "@1000200\n-pe0\n@800200\n-cube0\n"
            "@24\n+{channel0_queue} SystemC.cube0.channel0_queue[31:0]\n"
            "@1000200\n-cube0\n");
}

TEST(GtkwaveSave, HasANameForEveryState) {
  const std::string names = state_names();
  EXPECT_EQ(names.substr(0, names.find("2 ")), "0 issue\n1 load\n");
  EXPECT_EQ(std::count(names.begin(), names.end(), '\n'), static_cast<std::ptrdiff_t>(time_cause_count));
}

}  // namespace
}  // namespace kernwave::traces
