// The critical path of programs whose answer is known by hand.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "platform/results/what_if.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "traces/critical_path/critical_path.h"

namespace kernwave::critical_path_test {
namespace {

using testing::from_child;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;
using traces::PathCause;
using Causes = std::map<std::string, std::int64_t>;

constexpr std::int64_t cycle = 1000;
constexpr tl::Shape tile{64, 128};  // of f16: 16 KiB, 128 ns at 128 GB/s
const tl::Queues from_west{{Direction::west}, Bytes(16384)};

/// Picoseconds by cause, those that are not 0.
[[nodiscard]] Causes causes_of(const traces::PathSummary& path) {
  Causes causes;
  for (std::size_t i = 0; i < traces::path_cause_count; ++i) {
    if (path.causes[i] == Picoseconds(0)) continue;
    causes[std::string(name_of(static_cast<PathCause>(i)))] = path.causes[i].count();
  }
  return causes;
}

void expect_path(const tl::Kernel& kernel, tl::Policy policy, const Causes& expected,
                 const SystemConfig& config = one_cube()) {
  in_child([&] {
    Simulation simulation(config);
    simulation.run(kernel, policy);
    EXPECT_EQ(causes_of(simulation.critical_path()), expected);
  });
}

TEST(CriticalPath, OfOneLoadHasEachOfItsPhases) {
  expect_path([](tl::Context& tl) { tl.load(HbmAddress(0), tile, DType::f16); }, tl::Policy::lazy,
              {{"issue", 8 * cycle},
               {"dispatch", 2 * cycle},
               {"dma_setup", 20 * cycle},
               {"memory", 100 * cycle},
               {"dma_read", 128 * cycle}});
}

TEST(CriticalPath, OfLoadsBehindOneAnotherHidesTheSetupOfTheSecond) {
  // Given two loads in flight at once, when the second's data follow the first's, then its setup, its latency and its
  // issue are not on the path.
  const auto kernel = [](tl::Context& tl) {
    tl.load(HbmAddress(0), tile, DType::f16);
    tl.load(HbmAddress(1 << 20), tile, DType::f16);
  };
  expect_path(kernel, tl::Policy::lazy,
              {{"issue", 8 * cycle},
               {"dispatch", 2 * cycle},
               {"dma_setup", 20 * cycle},
               {"memory", 100 * cycle},
               {"dma_read", 256 * cycle}});
  // Blocking, all of it is there twice.
  expect_path(kernel, tl::Policy::blocking,
              {{"issue", 16 * cycle},
               {"dispatch", 4 * cycle},
               {"dma_setup", 40 * cycle},
               {"memory", 200 * cycle},
               {"dma_read", 256 * cycle}});
}

TEST(CriticalPath, OfALoadBesideALongerDotLeavesTheLoadOut) {
  // A dot of 512 rows takes 512 cycles, a load 248: the path passes the issue of both and the dot alone.
  expect_path(
      [](tl::Context& tl) {
        const auto a = tl.buffer({512, 64}, DType::f16);
        const auto b = tl.buffer({64, 64}, DType::f16);
        tl.load(HbmAddress(0), tile, DType::f16);
        tl.dot(a, b);
      },
      tl::Policy::lazy, {{"issue", 14 * cycle}, {"dispatch", 2 * cycle}, {"gemm", 512 * cycle}});
}

TEST(CriticalPath, OfAQueueOfProductsFollowsTheEngine) {
  // Three dots of 64 cycles at once: issued 6 cycles apart, they wait for the engine. Only the first one's issue
  // counts.
  expect_path(
      [](tl::Context& tl) {
        const auto a = tl.buffer({64, 64}, DType::f16);
        const auto b = tl.buffer({64, 64}, DType::f16);
        for (int i = 0; i < 3; ++i) tl.dot(a, b);
      },
      tl::Policy::stall_on_use, {{"issue", 6 * cycle}, {"dispatch", 2 * cycle}, {"gemm", 192 * cycle}});
}

TEST(CriticalPath, OfAVectorOperationOnALoadedTensorTakesTheOperandsPath) {
  // 64 x 128 elements on 256 lanes: 32 vectors, 4 cycles each for exp2.
  expect_path(
      [](tl::Context& tl) {
        const auto x = tl.load(HbmAddress(0), tile, DType::f16);
        tl.exp2(x);
      },
      tl::Policy::lazy,
      {{"issue", 10 * cycle},
       {"dispatch", 4 * cycle},
       {"dma_setup", 20 * cycle},
       {"memory", 100 * cycle},
       {"dma_read", 128 * cycle},
       {"math", 128 * cycle}});
}

TEST(CriticalPath, OfAMemorySlowerThanThePortIsTheMemorys) {
  // Given channels of 64 GB/s in all, half of what the port takes: 16 KiB are 256 ns, of which the port hides.
  SystemConfig config = one_cube();
  config.hbm.bandwidth = Bandwidth(64'000'000'000);
  expect_path([](tl::Context& tl) { tl.load(HbmAddress(0), tile, DType::f16); }, tl::Policy::lazy,
              {{"issue", 8 * cycle},
               {"dispatch", 2 * cycle},
               {"dma_setup", 20 * cycle},
               {"memory", 100 * cycle},
               {"hbm", 256 * cycle}},
              config);
}

TEST(CriticalPath, NamesContentionWhereTheMemoryServesAnotherPeFirst) {
  // Two PEs read at once from a memory of 128 GB/s: PE 0 is served first, for 128 ns, and PE 1 waits as long.
  in_child([] {
    SystemConfig config = one_cube(2);
    config.hbm.bandwidth = Bandwidth(128'000'000'000);
    Simulation simulation(config);
    const auto kernel = [](tl::Context& tl) {
      tl.load(HbmAddress(static_cast<std::uint64_t>(tl.pe_id().count()) << 20), tile, DType::f16);
    };
    simulation.run_grid({2, 1, 1}, kernel);
    EXPECT_EQ(causes_of(simulation.critical_path()), (Causes{{"issue", 8 * cycle},
                                                             {"dispatch", 2 * cycle},
                                                             {"dma_setup", 20 * cycle},
                                                             {"memory", 100 * cycle},
                                                             {"contention", 128 * cycle},
                                                             {"hbm", 128 * cycle}}));
  });
}

TEST(CriticalPath, NamesContentionWhereALinkBetweenCubesServesAnotherPeFirst) {
  // Given a link of 64 GB/s, on which a tile takes 256 ns, and two transfers that want it at once: the data of two
  // loads leave cube 1 for the cubes on either side, or two stores leave cube 0.
  for (const bool storing : {false, true}) {
    in_child([storing] {
      SystemConfig config;
      config.cubes = 3;
      config.pes_per_cube = 2;
      config.interconnect.bandwidth = Bandwidth(64'000'000'000);
      Simulation simulation(config);
      const auto load = [](tl::Context& tl) { tl.load(HbmAddress(CubeId(1), Bytes(0)), tile, DType::f16); };
      const auto store = [](tl::Context& tl) {
        tl.store(HbmAddress(CubeId(1), Bytes(tl.pe_id().count() * 0x100000)), tl.buffer(tile, DType::f16));
      };
      // PE 4 is in cube 2.
      simulation.run_parts(storing ? std::vector<Simulation::Part>{{0, store}, {1, store}}
                                   : std::vector<Simulation::Part>{{0, load}, {4, load}},
                           {});
      // Then the one that comes second has waited for 256 ns, and its own data take 256.
      EXPECT_EQ(causes_of(simulation.critical_path()), (Causes{{"issue", 8 * cycle},
                                                               {"dispatch", 2 * cycle},
                                                               {"dma_setup", 20 * cycle},
                                                               {"memory", 300 * cycle},
                                                               {"contention", 256 * cycle},
                                                               {"hbm", 256 * cycle}}))
          << (storing ? "stores" : "loads");
    });
  }
}

TEST(CriticalPath, OfAMessagePassesTheSenderTheLinkAndTheReceiver) {
  // PE 0 sends 16 KiB, 128 ns behind a hop of 100; PE 1 has waited, and takes exp2 of them, 128 cycles.
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    Simulation simulation(config);
    simulation.run_parts({{0, [](tl::Context& tl) { tl.send(Direction::east, tl.buffer(tile, DType::f16)); }},
                          {1, [](tl::Context& tl) { tl.exp2(tl.recv(Direction::west, tile, DType::f16)); }}},
                         from_west);
    EXPECT_EQ(causes_of(simulation.critical_path()), (Causes{{"issue", 10 * cycle},
                                                             {"dispatch", 4 * cycle},
                                                             {"hop", 100 * cycle},
                                                             {"link", 128 * cycle},
                                                             {"math", 128 * cycle}}));
  });
}

TEST(CriticalPath, OfAWindowPassesTheReceiverAndBack) {
  // Given a window of one, the second send waits for the word that the first message is received: a hop back. Both
  // receives were issued long before, so from landing to landing it is hop + issue + dispatch + hop + transfer.
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    Simulation simulation(config);
    simulation.run_parts({{0,
                           [](tl::Context& tl) {
                             const auto x = tl.buffer(tile, DType::f16);
                             tl.send(Direction::east, x);
                             tl.send(Direction::east, x);
                           }},
                          {1,
                           [](tl::Context& tl) {
                             tl.recv_async(Direction::west, tile, DType::f16);
                             tl.wait(tl.recv_async(Direction::west, tile, DType::f16));
                           }}},
                         from_west);
    EXPECT_EQ(causes_of(simulation.critical_path()),
              (Causes{{"issue", 16 * cycle}, {"dispatch", 4 * cycle}, {"hop", 300 * cycle}, {"link", 256 * cycle}}));
  });
}

/// Four tiles of 64 columns of b: reads of 64 x 64 f16, 8 KiB, 64 ns each; products of 128 x 64 x 64, 128 cycles.
void four_tiles(tl::Context& tl) {
  const auto a = tl.buffer({128, 64}, DType::f16);
  const auto out = tl.buffer({128, 256}, DType::f32);
  tl.composite(a, tl.trans(tl.ref(HbmAddress(0), {256, 64}, DType::f16)), tl::CompositeOptions().out(out).tile(64));
}

TEST(CriticalPath, OfACompositeFollowsItsLongestStage) {
  // With three slots the reads are always ahead: behind the first one product follows product, each dispatched when the
  // one before it has ended.
  SystemConfig config = one_cube();
  config.pe.scheduler.prefetch_depth = 3;
  expect_path(four_tiles, tl::Policy::lazy,
              {{"issue", 12 * cycle},
               {"dispatch", (2 + 4 * 2) * cycle},
               {"dma_setup", 20 * cycle},
               {"memory", 100 * cycle},
               {"dma_read", 64 * cycle},
               {"gemm", 4 * 128 * cycle}},
              config);
}

TEST(CriticalPath, OfACompositeOnTwoSlotsPassesTheReadThatWaitedForOne) {
  // With two slots the third read is dispatched when the first product has ended, 184 ns before its data are there; the
  // second product takes 128 of them. So: read, product, read, product, product.
  expect_path(four_tiles, tl::Policy::lazy,
              {{"issue", 12 * cycle},
               {"dispatch", (2 + 4 * 2) * cycle},
               {"dma_setup", 2 * 20 * cycle},
               {"memory", 2 * 100 * cycle},
               {"dma_read", 2 * 64 * cycle},
               {"gemm", 3 * 128 * cycle}});
}

TEST(CriticalPath, TellsTheLineThatTheTimeWasSpentOn) {
  in_child([] {
    Simulation simulation;
    int load_line = 0;
    simulation.run([&](tl::Context& tl) {
      load_line = __LINE__ + 1;
      const auto x = tl.load(HbmAddress(0), tile, DType::f16);
      tl.exp2(x);
    });
    const auto path = simulation.critical_path();
    ASSERT_EQ(path.lines.size(), 2U);
    EXPECT_EQ(path.lines[0].where.line, load_line);
    EXPECT_EQ(path.lines[0].total, Picoseconds(258 * cycle));
    EXPECT_EQ(path.lines[1].where.line, load_line + 1);
    EXPECT_EQ(path.lines[1].total, Picoseconds((2 + 2 + 128) * cycle));
  });
}

TEST(CriticalPath, HasSegmentsThatFollowOneAnotherFromZeroToTheLatency) {
  in_child([] {
    Simulation simulation;
    traces::CriticalPath path(one_cube(), traces::CriticalPath::Detail::segments);
    simulation.observe(path);
    simulation.run([](tl::Context& tl) {
      for (int i = 0; i < 100; ++i) {  // more than the history that is kept without segments
        auto scope = tl.scratch_scope();
        tl.exp2(tl.load(HbmAddress(0), tile, DType::f16));
      }
    });
    const auto segments = path.segments();
    Picoseconds at;
    std::array<Picoseconds, traces::path_cause_count> causes{};
    for (const traces::PathSegment& segment : segments) {
      ASSERT_EQ(segment.start, at);
      ASSERT_GT(segment.end, segment.start);
      causes[static_cast<std::size_t>(segment.cause)] += segment.end - segment.start;
      at = segment.end;
    }
    EXPECT_EQ(at, simulation.latency());
    EXPECT_EQ(causes, simulation.critical_path().causes);
    EXPECT_EQ(causes, path.summary().causes);
  });
}

TEST(CriticalPath, DoesNotGrowWithTheRun) {
  // What it keeps is bounded by what is in flight: 10 times the operations take no more of it.
  const auto nodes_after = [](int iterations) {
    return std::stoll(from_child([iterations] {
      Simulation simulation;
      traces::CriticalPath path(one_cube(), traces::CriticalPath::Detail::sums);
      simulation.observe(path);
      simulation.run([iterations](tl::Context& tl) {
        for (int i = 0; i < iterations; ++i) {
          auto scope = tl.scratch_scope();
          tl.exp2(tl.load(HbmAddress(0), tile, DType::f16));
        }
      });
      return std::to_string(path.history_size());
    }));
  };
  EXPECT_EQ(nodes_after(1000), nodes_after(100));
}

TEST(CriticalPath, DoesNotDependOnTheOrderOfConstruction) {
  std::vector<std::string> texts;
  for (const auto order :
       {ConstructionOrder::ascending, ConstructionOrder::descending, ConstructionOrder::interleaved}) {
    texts.push_back(from_child([order] {
      SystemConfig config;
      config.cubes = 4;
      config.pes_per_cube = 2;
      Simulation simulation(config, DataMode::none, order);
      simulation.run_grid({8, 1, 1}, [](tl::Context& tl) {
        for (int i = 0; i < 4; ++i) {
          auto scope = tl.scratch_scope();
          const auto x = tl.load(HbmAddress(CubeId(tl.pe_id().count() % 3), Bytes(i * 16384)), tile, DType::f16);
          const Bytes own((1 << 20) + tl.pe_id().count() * 16384);
          tl.store(HbmAddress(CubeId(tl.pe_id().count() / 2), own), tl.exp2(x).to(DType::f16));
        }
      });
      std::string text;
      for (const auto& line : simulation.critical_path().lines) {
        for (const Picoseconds time : line.causes) text += std::to_string(time.count()) + " ";
      }
      return text;
    }));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

// ---- what if

/// Loads, products, vector operations and a store, each waited for: the path cannot change.
void serial_kernel(tl::Context& tl) {
  const auto a = tl.load(HbmAddress(0), {64, 64}, DType::f16);
  const auto b = tl.load(HbmAddress(1 << 20), {64, 64}, DType::f16);
  const auto product = tl.dot(a, b);
  tl.store(HbmAddress(2 << 20), tl.exp2(product));
}

[[nodiscard]] traces::PathSummary path_of(const SystemConfig& config) {
  traces::PathSummary path;
  const std::string text = from_child([&config] {
    Simulation simulation(config);
    simulation.run(serial_kernel, tl::Policy::blocking);
    std::string numbers = std::to_string(simulation.latency().count());
    for (const Picoseconds time : simulation.critical_path().causes) numbers += " " + std::to_string(time.count());
    return numbers;
  });
  std::istringstream numbers(text);
  std::int64_t number = 0;
  numbers >> number;
  path.latency = Picoseconds(number);
  for (Picoseconds& time : path.causes) {
    numbers >> number;
    time = Picoseconds(number);
  }
  return path;
}

TEST(WhatIf, IsExactForOnePeWhosePathStaysTheSame) {
  const traces::PathSummary path = path_of(one_cube());
  const auto predictions = platform::predict(path);
  ASSERT_EQ(predictions.size(), 7U);  // no contention, no messages, channels faster than the port
  for (const platform::Prediction& prediction : predictions) {
    const SystemConfig faster = platform::twice_as_fast(one_cube(), prediction.resource);
    EXPECT_EQ(path_of(faster).latency, prediction.latency) << name_of(prediction.resource);
    EXPECT_LT(prediction.latency, path.latency);
  }
}

/// The latency of `run` on a machine, and what is predicted for it with a resource twice as fast; or nothing where the
/// path does not use that resource.
struct Forecast {
  Picoseconds latency;
  std::optional<Picoseconds> predicted;
};
[[nodiscard]] Forecast forecast(const SystemConfig& config, const std::function<void(Simulation&)>& run,
                                platform::Faster resource) {
  Forecast forecast;
  std::istringstream numbers(from_child([&] {
    Simulation simulation(config);
    run(simulation);
    std::string text = std::to_string(simulation.latency().count());
    for (const platform::Prediction& prediction : platform::predict(simulation.critical_path())) {
      if (prediction.resource == resource) text += " " + std::to_string(prediction.latency.count());
    }
    return text;
  }));
  std::int64_t number = 0;
  numbers >> number;
  forecast.latency = Picoseconds(number);
  if (numbers >> number) forecast.predicted = Picoseconds(number);
  return forecast;
}

/// Expects that resource on the path for `halved` picoseconds, of which half are gained, predicted and in a run.
void expect_half(const SystemConfig& config, const std::function<void(Simulation&)>& run, platform::Faster resource,
                 Picoseconds halved) {
  SCOPED_TRACE(std::string(name_of(resource)));
  const Forecast usual = forecast(config, run, resource);
  const Picoseconds expected = usual.latency - Picoseconds(halved.count() / 2);
  EXPECT_EQ(usual.predicted, expected);
  EXPECT_EQ(forecast(platform::twice_as_fast(config, resource), run, resource).latency, expected);
}

TEST(WhatIf, OfTheMemoryIncludesTheWayToAnotherCube) {
  SystemConfig config;
  config.cubes = 8;
  config.pes_per_cube = 1;
  // 10 ns of issue and dispatch, 20 ns of setup, 3 hops of 100 ns there, 100 ns of memory, 3 hops back, 128 ns of data.
  for (const bool storing : {false, true}) {
    const auto run = [storing](Simulation& simulation) {
      simulation.run([storing](tl::Context& tl) {
        const HbmAddress there(CubeId(3), Bytes(0));
        if (storing) {
          tl.store(there, tl.buffer(tile, DType::f16));
        } else {
          tl.load(there, tile, DType::f16);
        }
      });
    };
    EXPECT_EQ(forecast(config, run, platform::Faster::memory).latency, Picoseconds(858 * cycle));
    expect_half(config, run, platform::Faster::memory, Picoseconds(700 * cycle));
    expect_half(config, run, platform::Faster::dma, Picoseconds(128 * cycle));
    expect_half(config, run, platform::Faster::dma_setup, Picoseconds(20 * cycle));
  }
}

TEST(WhatIf, OfAMessageHalvesItsHopAndItsBytesEachForItself) {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 1;
  // 8 ns of issue, 2 ns of dispatch, a hop of 100 ns, 128 ns on the link.
  const auto run = [](Simulation& simulation) {
    const auto send = [](tl::Context& tl) { tl.send(Direction::east, tl.buffer(tile, DType::f16)); };
    const auto receive = [](tl::Context& tl) { tl.recv(Direction::west, tile, DType::f16); };
    simulation.run_parts({{0, send}, {1, receive}}, from_west);
  };
  EXPECT_EQ(forecast(config, run, platform::Faster::hop).latency, Picoseconds(238 * cycle));
  expect_half(config, run, platform::Faster::hop, Picoseconds(100 * cycle));
  expect_half(config, run, platform::Faster::link, Picoseconds(128 * cycle));
  expect_half(config, run, platform::Faster::dispatch, Picoseconds(2 * cycle));
  EXPECT_EQ(forecast(config, run, platform::Faster::memory).predicted, std::nullopt);
}

TEST(WhatIf, ComesWithTheLargestGainFirst) {
  traces::PathSummary path;
  path.latency = Picoseconds(1000);
  path.causes[static_cast<std::size_t>(PathCause::gemm)] = Picoseconds(300);
  path.causes[static_cast<std::size_t>(PathCause::dma_read)] = Picoseconds(400);
  path.causes[static_cast<std::size_t>(PathCause::dma_write)] = Picoseconds(200);
  path.causes[static_cast<std::size_t>(PathCause::issue)] = Picoseconds(100);
  const auto predictions = platform::predict(path);
  ASSERT_EQ(predictions.size(), 3U);
  EXPECT_EQ(predictions[0].resource, platform::Faster::dma);
  EXPECT_EQ(predictions[0].latency, Picoseconds(700));
  EXPECT_EQ(predictions[1].resource, platform::Faster::gemm);
  EXPECT_EQ(predictions[1].latency, Picoseconds(850));
  EXPECT_EQ(predictions[2].resource, platform::Faster::issue);
  EXPECT_EQ(predictions[2].latency, Picoseconds(950));
}

}  // namespace
}  // namespace kernwave::critical_path_test
