// The timeline of a run: what stands in its file.
#include "traces/timeline/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timeline_reader.h"
#include "tests/support/timeline_run.h"

namespace kernwave::traces::timeline_test {
namespace {

using kernwave::testing::all_policies;
using kernwave::testing::busy_machine;
using kernwave::testing::in_child;
using kernwave::testing::one_cube;
using kernwave::testing::read_timeline;
using kernwave::testing::run_busy;
using kernwave::testing::run_with_timeline;
using kernwave::testing::Simulation;
using kernwave::testing::TimelineFile;
using kernwave::testing::TimelineSlice;

using Slices = std::vector<std::string>;   // "name from to", in ns
using Flows = std::multiset<std::string>;  // "name of one -> name of another"

class Timelines : public kernwave::testing::TemporaryFolderTest {
 protected:
  [[nodiscard]] std::string file() const { return path("timeline.pftrace"); }
};

[[nodiscard]] std::string text_of(const TimelineSlice& slice) {
  return slice.name + " " + std::to_string(slice.begin_ns) + " " + std::to_string(slice.end_ns);
}

[[nodiscard]] Slices texts_of(const TimelineFile& file, const std::string& process, const std::string& track) {
  Slices texts;
  for (const TimelineSlice& slice : file.of_track(process, track)) texts.push_back(text_of(slice));
  return texts;
}

[[nodiscard]] Flows flows_of(const TimelineFile& file) {
  std::map<std::string, std::string> sources;
  for (const TimelineSlice& slice : file.slices) {
    for (const std::string& flow : slice.flows_out) {
      EXPECT_TRUE(sources.emplace(flow, text_of(slice)).second) << "one id, one flow";
    }
  }
  Flows flows;
  for (const TimelineSlice& slice : file.slices) {
    for (const std::string& flow : slice.flows_in) {
      EXPECT_EQ(sources.count(flow), 1U) << text_of(slice);
      flows.insert(sources[flow] + " -> " + text_of(slice));
      sources.erase(flow);  // it ends once
    }
  }
  return flows;
}

/// Loads 64 x 128 f16, multiplies, stores 64 x 64 f32: 16 KiB each way.
void load_dot_and_store(tl::Context& tl) {
  const auto w = tl.buffer({128, 64}, DType::f16);
  const auto x = tl.load(HbmAddress(0), {64, 128}, DType::f16);
  tl.store(HbmAddress(0x100000), tl.dot(x, w));
}

// A transfer of 16 KiB takes 20 ns of setup, 100 ns of latency, 16,384 B / 128 GB/s = 128 ns: 248 ns. The product takes
// 64 x 128 x 64 / (64 x 64) = 128 cycles of 1 ns. Issues take 8, 6 and 8 cycles, dispatch takes 2. So the load is
// issued until 8 and served from 10 to 258; the dot waits for it, is issued until 264 and served from 266 to 394; the
// store waits for that, is issued until 402 and served from 404 to 652.

TEST_F(Timelines, OfALoadADotAndAStoreHasTheirStartsAndEnds) {
  in_child([this] {
    run_with_timeline(file(), one_cube(), [](Simulation& simulation) { simulation.run(load_dot_and_store); });
    const TimelineFile timeline = read_timeline(file());
    const std::string pe = "PE 0 (cube 0)";
    EXPECT_EQ(texts_of(timeline, pe, "DMA read"), (Slices{"dma_read 64x128 f16 10 258"}));
    EXPECT_EQ(texts_of(timeline, pe, "GEMM"), (Slices{"dot 64x128 . 128x64 f16 266 394"}));
    EXPECT_EQ(texts_of(timeline, pe, "DMA write"), (Slices{"dma_write 64x64 f32 404 652"}));
    EXPECT_EQ(texts_of(timeline, pe, "kernel"),
              (Slices{"issue dma_read 0 8", "wait load 8 258", "issue dot 258 264", "wait compute 264 394",
                      "issue dma_write 394 402", "wait drain 402 652"}));
    EXPECT_EQ(timeline.processes, (std::vector<std::string>{"cube 0", pe}));
    EXPECT_TRUE(timeline.instants.empty());
  });
}

TEST_F(Timelines, SlicesSayWhatTheyStandFor) {
  in_child([this] {
    run_with_timeline(file(), one_cube(), [](Simulation& simulation) { simulation.run(load_dot_and_store); });
    const TimelineFile timeline = read_timeline(file());
    const TimelineSlice load = timeline.of_track("PE 0 (cube 0)", "DMA read").at(0);
    EXPECT_EQ(load.number("sequence"), 0);
    EXPECT_EQ(load.number("bytes"), 64 * 128 * 2);
    EXPECT_EQ(load.number("start_ps"), 10'000);
    EXPECT_EQ(load.number("end_ps"), 258'000);
    EXPECT_EQ(load.notes.at("source").rfind("timeline_test.cpp:", 0), 0U) << load.notes.at("source");
    const TimelineSlice dot = timeline.of_track("PE 0 (cube 0)", "GEMM").at(0);
    EXPECT_EQ(dot.number("sequence"), 1);
    EXPECT_EQ(dot.number("flops"), 2 * 64 * 128 * 64);
    const TimelineSlice wait = timeline.of_track("PE 0 (cube 0)", "kernel").at(1);
    EXPECT_EQ(wait.name, "wait load");
    EXPECT_EQ(wait.notes.at("operation"), load.name);
    EXPECT_EQ(wait.notes.at("issued_at"), load.notes.at("source"));
    EXPECT_EQ(wait.number("sequence"), 0);
  });
}

TEST_F(Timelines, ArrowsLeadFromALoadToItsFirstUseAlone) {
  in_child([this] {
    run_with_timeline(file(), one_cube(), [](Simulation& simulation) {
      simulation.run([](tl::Context& tl) {
        const auto x = tl.load(HbmAddress(0), {64, 128}, DType::f16);       // 10 to 258
        const auto unused = tl.load(HbmAddress(0), {64, 128}, DType::f16);  // its data follow: to 386
        const auto y = tl.load(HbmAddress(0x8000), {64, 128}, DType::f16);  // to 514
        static_cast<void>(unused);
        const auto sum = x + y;  // 32 vectors of 256 elements
        tl.store(HbmAddress(0x100000), sum);
        tl.store(HbmAddress(0x200000), x);
      });
    });
    const TimelineFile timeline = read_timeline(file());
    // Issued from 514 to 516, dispatched for 2 ns: 518.
    const std::string add = "add 64x128 f16 518 550";
    EXPECT_EQ(flows_of(timeline),
              (Flows{"dma_read 64x128 f16 10 258 -> " + add, "dma_read 64x128 f16 386 514 -> " + add}));
  });
}

// ---- queues

constexpr tl::Shape message{64, 128};  // of f16: 16 KiB, 128 ns on a link, whose hop takes 100 ns
const tl::Queues from_west{{Direction::west}, Bytes(16384)};

[[nodiscard]] std::vector<Simulation::Part> ring_of_messages(std::int64_t pes, int messages) {
  std::vector<Simulation::Part> parts;
  for (std::int64_t pe = 0; pe < pes; ++pe) {
    parts.push_back({pe, [messages](tl::Context& tl) {
                       const auto x = tl.buffer(message, DType::f16);
                       for (int i = 0; i < messages; ++i) tl.send(Direction::east, x);
                       for (int i = 0; i < messages; ++i) {
                         auto scope = tl.scratch_scope();
                         tl.recv(Direction::west, message, DType::f16);
                       }
                     }});
  }
  return parts;
}

[[nodiscard]] SystemConfig ring_machine() {
  SystemConfig config;
  config.cubes = 3;
  config.pes_per_cube = 1;
  config.pe.ipcq.window = 2;
  return config;
}

TEST_F(Timelines, ArrowsLeadFromASendToItsReceive) {
  in_child([this] {
    run_with_timeline(file(), ring_machine(),
                      [](Simulation& simulation) { simulation.run_parts(ring_of_messages(3, 2), from_west); });
    const TimelineFile timeline = read_timeline(file());
    EXPECT_EQ(timeline.processes, (std::vector<std::string>{"PE 0 (cube 0)", "PE 1 (cube 1)", "PE 2 (cube 2)"}));
    std::map<std::string, TimelineSlice> sends;
    for (const TimelineSlice& slice : timeline.slices) {
      for (const std::string& flow : slice.flows_out) sends[flow] = slice;
    }
    EXPECT_EQ(sends.size(), 6U);
    for (std::int64_t pe = 0; pe < 3; ++pe) {
      const std::string name = "PE " + std::to_string(pe) + " (cube " + std::to_string(pe) + ")";
      const std::int64_t sender = (pe + 2) % 3;
      const auto received = timeline.of_track(name, "receive west");
      for (const TimelineSlice& receive : received) {
        ASSERT_EQ(receive.flows_in.size(), 1U);
        const TimelineSlice& send = sends.at(*receive.flows_in.begin());
        EXPECT_EQ(send.process, "PE " + std::to_string(sender) + " (cube " + std::to_string(sender) + ")");
        EXPECT_EQ(send.end_ns, receive.end_ns) << "it ends when it has landed";
        EXPECT_EQ(send.number("peer"), pe);
        EXPECT_EQ(receive.number("peer"), sender);
      }
    }
  });
}

TEST_F(Timelines, SendsThatOverlapHaveALaneEach) {
  in_child([this] {
    run_with_timeline(file(), ring_machine(),
                      [](Simulation& simulation) { simulation.run_parts(ring_of_messages(3, 2), from_west); });
    const TimelineFile timeline = read_timeline(file());
    // The second send is issued 8 ns after the first, and its message follows on the link: 128 ns later.
    const std::string pe = "PE 1 (cube 1)";
    EXPECT_EQ(texts_of(timeline, pe, "send east"), (Slices{"ipcq_copy 64x128 f16 10 238"}));
    EXPECT_EQ(texts_of(timeline, pe, "send east 2"), (Slices{"ipcq_copy 64x128 f16 18 366"}));
  });
}

// ---- everything at once

[[nodiscard]] Picoseconds busy(const TimelineFile& file, const std::string& process, const std::string& track) {
  std::int64_t sum = 0;
  for (const TimelineSlice& slice : file.slices) {
    if (slice.process == process && slice.track.rfind(track, 0) == 0) sum += slice.duration_ps();
  }
  return Picoseconds(sum);
}

void expect_busy_times(const TimelineFile& file, System& system) {
  const std::map<std::string, Engine> engines = {{"DMA read", Engine::dma_read},
                                                 {"DMA write", Engine::dma_write},
                                                 {"GEMM", Engine::gemm},
                                                 {"MATH", Engine::math},
                                                 {"send", Engine::ipcq}};
  for (std::int64_t id = 0; id < system.pe_count(); ++id) {
    Pe& pe = system.pe(PeId(id));
    const std::string process =
        "PE " + std::to_string(id) + " (cube " + std::to_string(id / system.config().pes_per_cube) + ")";
    for (const auto& [track, engine] : engines) {
      EXPECT_GT(busy(file, process, track), Picoseconds(0)) << process << " " << track;
      EXPECT_EQ(busy(file, process, track), pe.statistics(engine).busy) << process << " " << track;
    }
    // What a program does leaves no gap from its start to its end.
    EXPECT_EQ(busy(file, process, "kernel"), pe.cpu().local_time()) << process;
  }
}

TEST_F(Timelines, SlicesSumToTheBusyTimesOfTheEnginesUnderEveryPolicy) {
  for (const tl::Policy policy : all_policies) {
    in_child([this, policy] {
      Simulation simulation(busy_machine());
      Timeline timeline(file(), Compression::none, simulation.system().config());
      simulation.system().set_observer(&timeline);
      simulation.system().set_channel_observer(&timeline);
      run_busy(simulation, policy);
      timeline.close({true, "", simulation.latency()});
      const TimelineFile written = read_timeline(file());  // no slice overlaps another one of its track
      expect_busy_times(written, simulation.system());
      // Of each PE, in each of three rounds: two loads and two messages.
      EXPECT_EQ(flows_of(written).size(), 6U * 3 * 4);
    });
  }
}

TEST_F(Timelines, CompositesThatOverlapHaveALaneEachAndTheirPartsAreOnTheEngines) {
  in_child([this] {
    run_with_timeline(file(), busy_machine(), [](Simulation& simulation) { run_busy(simulation, tl::Policy::lazy); });
    const TimelineFile timeline = read_timeline(file());
    const std::string pe = "PE 4 (cube 1)";
    const auto first = timeline.of_track(pe, "composite");
    const auto second = timeline.of_track(pe, "composite 2");
    EXPECT_EQ(first.size() + second.size(), 6U);
    EXPECT_FALSE(second.empty());
    EXPECT_EQ(first.at(0).name, "gemm 16x64 . 64x128 f16");
    std::set<std::int64_t> parts;
    for (const char* track : {"DMA read", "GEMM", "MATH"}) {
      for (const TimelineSlice& slice : timeline.of_track(pe, track)) {
        if (slice.number("sequence") == first.at(0).number("sequence")) parts.insert(slice.number("part"));
      }
    }
    // Four tiles of a read, a product and a step each.
    EXPECT_EQ(parts.size(), 12U);
    EXPECT_EQ(*parts.begin(), 1);
    EXPECT_EQ(*parts.rbegin(), 12);
  });
}

TEST_F(Timelines, TheCountersOfACubeSumToTheBytesThatItMoved) {
  in_child([this] {
    run_with_timeline(file(), busy_machine(), [](Simulation& simulation) { run_busy(simulation, tl::Policy::lazy); });
    const TimelineFile timeline = read_timeline(file());
    const auto bytes_of = [&timeline](const std::string& track) {
      const auto& values = timeline.counters.at(track);
      EXPECT_EQ(values.back().second, 0.0);
      double sum = 0.0;  // GB/s times ns are bytes
      for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        sum += values[i].second * static_cast<double>(values[i + 1].first - values[i].first);
      }
      return sum;
    };
    // Three PEs, three rounds, of two loads of 4 KiB and two composites that read 16 KiB.
    EXPECT_NEAR(bytes_of("cube 0/HBM read"), 3 * 3 * (2 * 4096 + 2 * 16384), 1e-3);
    // Of 32 maxima in f32 and the message, 4 KiB.
    EXPECT_NEAR(bytes_of("cube 1/HBM write"), 3 * 3 * (32 * 4 + 4096), 1e-3);
  });
}

TEST_F(Timelines, ScratchIsCountedAsItIsUsed) {
  in_child([this] {
    run_with_timeline(file(), one_cube(), [](Simulation& simulation) { simulation.run(load_dot_and_store); });
    const TimelineFile timeline = read_timeline(file());
    // The factor of 16 KiB and the tile of 16 KiB at once; the product's 16 KiB when its factors are there; nothing
    // when the program has issued its last operation.
    const std::vector<std::pair<std::int64_t, double>> expected = {{0, 32768.0}, {258, 49152.0}, {402, 0.0}};
    EXPECT_EQ(timeline.counters.at("PE 0 (cube 0)/scratch"), expected);
  });
}

TEST_F(Timelines, OfARunThatEndsEarlySaySo) {
  in_child([this] {
    const SystemConfig config = ring_machine();
    Simulation simulation(config);
    Timeline timeline(file(), Compression::none, config);
    simulation.system().set_observer(&timeline);
    static_cast<void>(simulation.run_deadlocked_parts(
        {{1, [](tl::Context& tl) { tl.recv(Direction::west, message, DType::f16); }}}, from_west));
    timeline.close({false, "deadlock", Picoseconds(5'000'000)});
    const TimelineFile written = read_timeline(file());
    // Issued for 6 ns; then it waits until the end.
    EXPECT_EQ(texts_of(written, "PE 1 (cube 1)", "kernel"), (Slices{"issue ipcq_recv 0 6", "wait receive 6 5000"}));
    EXPECT_EQ(written.instants, (std::vector<std::string>{"PE 1 (cube 1)/kernel at 5000: run incomplete: deadlock",
                                                          "/run at 5000: run incomplete: deadlock"}));
  });
}

}  // namespace
}  // namespace kernwave::traces::timeline_test
