// HBM of other cubes: what it takes to reach it, who shares what, and that nothing is lost on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "models/memory/cube_links.h"
#include "models/memory/cube_router.h"
#include "models/memory/hbm.h"
#include "tests/support/at_initiator.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "tests/support/stub_memory.h"
#include "traces/protocol_monitor.h"

namespace kernwave::interconnect_test {
namespace {

using testing::AnswerStyle;
using testing::AtInitiator;
using testing::EndResponse;
using testing::from_child;
using testing::in_child;
using testing::Simulation;
using testing::StubMemory;
using testing::StubTiming;
using Transaction = AtInitiator::Transaction;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds before = 10 * cycle;  // issue of a load or a store, and dispatch
constexpr Bytes tile_bytes(16384);          // 64 x 128 f16: 1 KiB in each of 16 channels

[[nodiscard]] SystemConfig ring_of(std::int64_t cubes, std::int64_t pes_per_cube = 1) {
  SystemConfig config;
  config.cubes = cubes;
  config.pes_per_cube = pes_per_cube;
  return config;
}

[[nodiscard]] Picoseconds way(const SystemConfig& config, std::int64_t hops) {
  return config.interconnect.hop_latency * hops;
}

[[nodiscard]] Bandwidth channel_rate(const SystemConfig& config) {
  return Bandwidth(config.hbm.bandwidth.count() / config.hbm.channels);
}

/// setup + way + memory latency + way + the slowest of port, link and busiest channel.
[[nodiscard]] Picoseconds remote_transfer(const SystemConfig& config, std::int64_t hops, Bytes bytes, Bytes busiest) {
  const Picoseconds data =
      std::max({duration(bytes, config.pe.dma.bandwidth), duration(bytes, config.interconnect.bandwidth),
                duration(busiest, channel_rate(config))});
  return config.pe.dma.setup + 2 * way(config, hops) + config.hbm.latency + data;
}

/// When the operations of a PE ended, in program order.
[[nodiscard]] std::vector<Picoseconds> ends_of(const Simulation& simulation, std::int64_t pe) {
  std::vector<Picoseconds> ends;
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.descriptor.id.pe == PeId(pe)) ends.push_back(row.end);
  }
  return ends;
}

void load_tile(tl::Context& tl, CubeId cube, std::int64_t offset = 0) {
  tl.load(HbmAddress(cube, Bytes(offset)), {64, 128}, DType::f16);
}

void store_tile(tl::Context& tl, CubeId cube, std::int64_t offset = 0) {
  tl.store(HbmAddress(cube, Bytes(offset)), tl.buffer({64, 128}, DType::f16));
}

// ---- one transfer

struct Route {
  const char* name;
  std::int64_t cubes;
  std::int64_t target;  ///< of a request of cube 0
  std::int64_t hops;
  friend void PrintTo(const Route& route, std::ostream* out) { *out << route.name; }
};

class IsolatedRemote : public ::testing::TestWithParam<Route> {
 protected:
  /// Loads and stores of 64 x 128 f16 and of 16 rows of 64 B that lie in one channel.
  static void expect_formula(const SystemConfig& config) {
    const Route route = GetParam();
    const CubeId target(route.target);
    const auto latency_of = [&config](const tl::Kernel& kernel) {
      return std::stoll(from_child([&] {
        Simulation simulation(config);
        simulation.run(kernel);
        return std::to_string(simulation.latency().count());
      }));
    };
    const Picoseconds dense = before + remote_transfer(config, route.hops, tile_bytes, Bytes(1024));
    const Picoseconds strided = before + remote_transfer(config, route.hops, Bytes(1024), Bytes(1024));
    EXPECT_EQ(latency_of([=](tl::Context& tl) { load_tile(tl, target); }), dense.count());
    EXPECT_EQ(latency_of([=](tl::Context& tl) { store_tile(tl, target); }), dense.count());
    EXPECT_EQ(latency_of([=](tl::Context& tl) {
                tl.load(HbmAddress(target, Bytes(0)), {16, 32}, DType::f16, tl::LoadOptions().strides(2048));
              }),
              strided.count());
    EXPECT_EQ(latency_of([=](tl::Context& tl) {
                const auto rows = tl.buffer({16, 32}, DType::f16);
                tl.store(HbmAddress(target, Bytes(0)), rows, tl::StoreOptions().strides(2048));
              }),
              strided.count());
  }
};

TEST_P(IsolatedRemote, TakesTheWayTwiceTheMemorysLatencyAndItsBytesOnce) {
  expect_formula(ring_of(GetParam().cubes));  // the port is slower than the link
}

TEST_P(IsolatedRemote, TakesTheLinksTimeWhereTheLinkIsSlower) {
  SystemConfig config = ring_of(GetParam().cubes);
  config.interconnect.bandwidth = Bandwidth(3'300'000'000);  // no whole number of picoseconds a byte
  config.interconnect.hop_latency = Picoseconds(1'234);
  expect_formula(config);
}

TEST_P(IsolatedRemote, TakesTheFormulaWithTheShortestLatencies) {
  SystemConfig config = ring_of(GetParam().cubes);
  config.interconnect.hop_latency = Picoseconds(1);
  config.hbm.latency = Picoseconds(1);
  config.pe.dma.setup = Picoseconds(0);
  expect_formula(config);
}

INSTANTIATE_TEST_SUITE_P(Interconnect, IsolatedRemote,
                         ::testing::Values(Route{"TheOtherOfTwo", 2, 1, 1}, Route{"TheNext", 8, 1, 1},
                                           Route{"TheLastOfARing", 8, 7, 1}, Route{"HalfWayRound", 8, 4, 4},
                                           Route{"ThreeBackwards", 8, 5, 3}, Route{"AnOddRing", 5, 3, 2}),
                         [](const ::testing::TestParamInfo<Route>& instance) {
                           return std::string(instance.param.name);
                         });

TEST(Interconnect, ByHandALoadOf16KiBThreeHopsAway) {
  in_child([] {
    // 8 + 2 ns; 20 ns setup; 3 x 100 ns there, 100 ns of memory, 3 x 100 ns back; 16384 B / 128 GB/s.
    Simulation simulation(ring_of(8));
    simulation.run([](tl::Context& tl) { load_tile(tl, CubeId(5)); });
    EXPECT_EQ(simulation.latency(), Picoseconds(10'000 + 20'000 + 300'000 + 100'000 + 300'000 + 128'000));
    // The cube that holds the data has sent them, nobody else anything.
    ASSERT_NE(simulation.system().links(), nullptr);
    for (std::int64_t cube = 0; cube < 8; ++cube) {
      EXPECT_EQ(simulation.system().links()->sent(CubeId(cube)), cube == 5 ? tile_bytes : Bytes(0)) << cube;
    }
  });
}

/// Bursts of 64 B, each to the memory and back on its own: one after another through the link, and each on the whole of
/// its way before the next station works on it. The port starts with the first answer and ends after the last:
///   setup + way + memory latency + burst / channel + max(burst / link + bytes / port, bytes / link) + way
/// as long as no channel is slower than the rest (here four bursts a channel).
[[nodiscard]] Picoseconds remote_transfer_in_bursts(const SystemConfig& config, std::int64_t hops, Bytes bytes) {
  const Bytes burst = config.pe.dma.burst;
  const Bandwidth link = config.interconnect.bandwidth;
  const Picoseconds data =
      std::max(duration(burst, link) + duration(bytes, config.pe.dma.bandwidth), duration(bytes, link));
  return config.pe.dma.setup + 2 * way(config, hops) + config.hbm.latency + duration(burst, channel_rate(config)) +
         data;
}

TEST(Interconnect, InBurstsEachIsStoredAndForwarded) {
  // 1 KiB: 16 bursts, four in each of four channels. A link faster than the port, and one slower.
  for (const std::int64_t gigabytes : {256, 32}) {
    for (const bool storing : {false, true}) {
      in_child([=] {
        SystemConfig config = ring_of(8);
        config.pe.dma.burst = Bytes(64);
        config.interconnect.bandwidth = Bandwidth(gigabytes * 1'000'000'000);
        Simulation simulation(config);
        simulation.run([storing](tl::Context& tl) {
          const HbmAddress there(CubeId(6), Bytes(0));
          if (storing) {
            tl.store(there, tl.buffer({4, 64}, DType::f32));
          } else {
            tl.load(there, {4, 64}, DType::f32);
          }
        });
        EXPECT_EQ(simulation.latency(), before + remote_transfer_in_bursts(config, 2, Bytes(1024)))
            << gigabytes << " GB/s, " << (storing ? "store" : "load");
      });
    }
  }
}

// ---- several transfers

TEST(Interconnect, TwoCubesReadingAThirdShareItsLink) {
  in_child([] {
    SystemConfig config = ring_of(4);
    config.interconnect.bandwidth = Bandwidth(64'000'000'000);  // 256 ns a tile
    Simulation simulation(config);
    simulation.run_grid({3, 1, 1}, [](tl::Context& tl) {
      if (tl.program_id(0) != 1) load_tile(tl, CubeId(1), tl.program_id(0) * tile_bytes.count());
    });
    const Picoseconds first_data = before + config.pe.dma.setup + way(config, 2) + config.hbm.latency;
    EXPECT_EQ(ends_of(simulation, 0), std::vector<Picoseconds>{first_data + Picoseconds(256'000)});
    EXPECT_EQ(ends_of(simulation, 2), std::vector<Picoseconds>{first_data + Picoseconds(512'000)});
  });
}

TEST(Interconnect, TwoReadersAtHalfTheLinksRateDoNotHinderEachOther) {
  in_child([] {
    const SystemConfig config = ring_of(4);  // a link of 256 GB/s, ports of 128 GB/s
    Simulation simulation(config);
    simulation.run_grid({3, 1, 1}, [](tl::Context& tl) {
      if (tl.program_id(0) != 1) load_tile(tl, CubeId(1));
    });
    EXPECT_EQ(simulation.latency(), before + remote_transfer(config, 1, tile_bytes, Bytes(1024)));
  });
}

TEST(Interconnect, PesOfOneCubeShareItsLinkForTheirWritesWhereverTheyGo) {
  in_child([] {
    SystemConfig config = ring_of(4, 3);
    config.interconnect.bandwidth = Bandwidth(64'000'000'000);
    Simulation simulation(config);
    // To the neighbours on either side, and to the far one.
    simulation.run_grid({3, 1, 1}, [](tl::Context& tl) {
      constexpr std::array<std::int64_t, 3> targets{1, 3, 2};
      store_tile(tl, CubeId(targets.at(static_cast<std::size_t>(tl.program_id(0)))));
    });
    const Picoseconds start = before + config.pe.dma.setup + config.hbm.latency;
    for (std::int64_t pe = 0; pe < 3; ++pe) {
      const std::int64_t hops = pe == 2 ? 2 : 1;
      EXPECT_EQ(ends_of(simulation, pe),
                std::vector<Picoseconds>{start + way(config, 2 * hops) + Picoseconds(256'000) * (pe + 1)});
    }
  });
}

TEST(Interconnect, WritersAtHalfTheLinksRateDoNotHinderEachOther) {
  in_child([] {
    const SystemConfig config = ring_of(2, 2);
    Simulation simulation(config);
    simulation.run_grid({2, 1, 1},
                        [](tl::Context& tl) { store_tile(tl, CubeId(1), tl.program_id(0) * tile_bytes.count()); });
    EXPECT_EQ(simulation.latency(), before + remote_transfer(config, 1, tile_bytes, Bytes(1024)));
  });
}

TEST(Interconnect, ReadsOfACubeAndItsWritesShareItsLink) {
  in_child([] {
    SystemConfig config = ring_of(4);
    config.interconnect.bandwidth = Bandwidth(64'000'000'000);
    Simulation simulation(config);
    // PE 1 writes out of cube 1 before the answer to PE 0 leaves it.
    simulation.run_grid({2, 1, 1}, [](tl::Context& tl) {
      tl.program_id(0) == 0 ? load_tile(tl, CubeId(1)) : store_tile(tl, CubeId(2));
    });
    const Picoseconds sent = before + config.pe.dma.setup;
    const Picoseconds answer = way(config, 2) + config.hbm.latency;
    EXPECT_EQ(ends_of(simulation, 1), std::vector<Picoseconds>{sent + answer + Picoseconds(256'000)});
    // The write has the link for 256 ns from when it was sent; the read's data would have it 200 ns after that instant.
    EXPECT_EQ(ends_of(simulation, 0), std::vector<Picoseconds>{sent + Picoseconds(256'000 + 256'000) + way(config, 1)});
  });
}

/// Expects that the n-th of all transfers ended when the link had moved n tiles since `first`, rounded up there and
/// nowhere else.
void expect_ends_exact_to_the_ratio(const Simulation& simulation, Picoseconds first, Bandwidth link) {
  std::vector<Picoseconds> ends;
  for (const traces::OperationRow& row : simulation.rows()) ends.push_back(row.end);
  std::sort(ends.begin(), ends.end());
  ASSERT_EQ(ends.size(), 32U);
  for (std::int64_t n = 1; n <= 32; ++n) {
    EXPECT_EQ(ends[static_cast<std::size_t>(n - 1)], first + duration(tile_bytes * n, link)) << "transfer " << n;
  }
}

TEST(Interconnect, ASharedLinkIsExactToItsRatio) {
  // Four PEs with eight transfers each over one link; 16 KiB take 496,484.84... ps.
  SystemConfig config = ring_of(3, 4);
  config.interconnect.bandwidth = Bandwidth(33'000'000'000);
  const Picoseconds first = before + config.pe.dma.setup + way(config, 2) + config.hbm.latency;
  in_child([=] {
    Simulation simulation(config);
    // Two PEs on either side of cube 0 read there.
    simulation.run_grid({12, 1, 1}, [](tl::Context& tl) {
      if (tl.program_id(0) < 4 || tl.program_id(0) % 2 == 0) return;
      for (const tl::Tensor& buffer : tl.buffers(8, {64, 128}, DType::f16)) {
        tl.load(HbmAddress(CubeId(0), Bytes(0)), {64, 128}, DType::f16, tl::into(buffer));
      }
    });
    expect_ends_exact_to_the_ratio(simulation, first, config.interconnect.bandwidth);
  });
  in_child([=] {
    Simulation simulation(config);
    // The PEs of cube 0 write to both sides.
    simulation.run_grid({4, 1, 1}, [](tl::Context& tl) {
      const auto tile = tl.buffer({64, 128}, DType::f16);
      for (std::int64_t n = 0; n < 8; ++n) {
        tl.store(HbmAddress(CubeId(1 + n % 2), (tl.program_id(0) * 8 + n) * tile_bytes), tile);
      }
    });
    expect_ends_exact_to_the_ratio(simulation, first, config.interconnect.bandwidth);
  });
}

TEST(Interconnect, AMemoryThatWithholdsEndReqHoldsUpWhoeverIsNext) {
  in_child([] {
    SystemConfig config = ring_of(4);
    config.hbm.queue_depth = 1;
    Simulation simulation(config);
    simulation.run_grid({3, 1, 1}, [](tl::Context& tl) {
      if (tl.program_id(0) != 1) load_tile(tl, CubeId(1), tl.program_id(0) * tile_bytes.count());
    });
    // The first is answered when its 1 KiB a channel have come, 20 ns; only then is the second taken, and a latency
    // later eligible.
    const Picoseconds answered = config.hbm.latency + Picoseconds(20'000);
    const Picoseconds one = before + remote_transfer(config, 1, tile_bytes, Bytes(1024));
    EXPECT_EQ(ends_of(simulation, 0), std::vector<Picoseconds>{one});
    EXPECT_EQ(ends_of(simulation, 2), std::vector<Picoseconds>{one + answered});
  });
}

// ---- what must not change

/// Loads, stores and computes in cube 0, with the log of PE 0 alone.
[[nodiscard]] std::string log_of_pe_0(const SystemConfig& config, bool with_remote_traffic) {
  return from_child([&] {
    Simulation simulation(config);
    simulation.run_grid({config.cubes * config.pes_per_cube, 1, 1}, [=](tl::Context& tl) {
      for (std::int64_t round = 0; round < 6; ++round) {
        const auto scope = tl.scratch_scope();
        if (tl.program_id(0) == 0) {
          const auto a = tl.load(HbmAddress(CubeId(0), tile_bytes * round), {64, 64}, DType::f16);
          tl.store(HbmAddress(CubeId(0), Bytes(0x100000) + tile_bytes * round), tl.dot(a, a));
        } else if (with_remote_traffic) {
          // Cubes 1 to 3 among each other, and PE 1 out of cube 0; each stores to bytes of its own.
          const std::int64_t own = 0x100000 * (1 + tl.program_id(0));
          load_tile(tl, CubeId(1 + tl.program_id(0) % 3), tile_bytes.count() * round);
          store_tile(tl, CubeId(1 + (tl.program_id(0) + 1) % 3), own + tile_bytes.count() * round);
        }
      }
    });
    std::istringstream all(simulation.log_text());
    std::string own;
    for (std::string line; std::getline(all, line);) {
      if (line.rfind("pe0.", 0) == 0) own += line + "\n";
    }
    return own;
  });
}

TEST(Interconnect, TrafficBetweenOtherCubesLeavesLocalTrafficAlone) {
  const std::string quiet = log_of_pe_0(ring_of(4, 2), false);
  EXPECT_EQ(std::count(quiet.begin(), quiet.end(), '\n'), 18);
  EXPECT_EQ(log_of_pe_0(ring_of(4, 2), true), quiet);
  // Nor do the router and the other cubes cost time.
  EXPECT_EQ(log_of_pe_0(ring_of(1, 2), false), quiet);
}

// ---- data and order

/// Every PE reads a strided part of the next cube's matrix and writes its transpose, plus one, into the cube before.
constexpr std::int64_t rounds = 5;
constexpr std::int64_t matrix_bytes = 4096;  // 32 x 32 f32
constexpr std::int64_t results = 0x100000;

void exchange(tl::Context& tl, const SystemConfig& config) {
  const std::int64_t program = tl.program_id(0);
  const std::int64_t cube = program / config.pes_per_cube;
  const CubeId next((cube + 1) % config.cubes);
  const CubeId previous((cube + config.cubes - 1) % config.cubes);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto scope = tl.scratch_scope();
    const Bytes place((program % config.pes_per_cube * rounds + round) * matrix_bytes);
    const auto x =
        tl.load(HbmAddress(next, place + Bytes(4 * (32 * 3 + 5))), {7, 11}, DType::f32, tl::LoadOptions().strides(32));
    const auto local = tl.load(HbmAddress(CubeId(cube), place), {7, 11}, DType::f32);
    tl.store(HbmAddress(previous, Bytes(results) + place), tl.trans(x + local), tl::StoreOptions().strides(13));
  }
}

/// Matrix `index` of a cube: numbers that occur nowhere else.
[[nodiscard]] std::vector<float> matrix_of(std::int64_t cube, std::int64_t index) {
  std::vector<float> matrix(32 * 32);
  std::iota(matrix.begin(), matrix.end(), static_cast<float>(cube * 100'000 + index * 2'000));
  return matrix;
}

struct Machine {
  const char* name;
  std::int64_t queue_depth;  ///< of everything
  Bytes burst;
  friend void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }
};

/// Narrow memories and links, so that all of them contend.
[[nodiscard]] SystemConfig contended_ring(const Machine& machine) {
  SystemConfig config = ring_of(3, 4);
  config.hbm.channels = 4;
  config.hbm.bandwidth = Bandwidth(51'200'000'000);
  config.interconnect.bandwidth = Bandwidth(17'000'000'000);
  config.hbm.queue_depth = machine.queue_depth;
  config.pe.dma.queue_depth = machine.queue_depth;
  config.pe.dma.burst = machine.burst;
  config.pe.dma.zero_writes = true;  // into the model's own memory, which ignores them
  return config;
}

/// The latency and the op log of `exchange`; in mode `full` the results are checked too.
[[nodiscard]] std::string exchange_log(const Machine& machine, DataMode mode = DataMode::full,
                                       ConstructionOrder order = ConstructionOrder::ascending) {
  return from_child([&] {
    const SystemConfig config = contended_ring(machine);
    Simulation simulation(config, mode, order);  // with a monitor on every socket
    const std::int64_t matrices = config.pes_per_cube * rounds;
    for (std::int64_t cube = 0; cube < config.cubes; ++cube) {
      for (std::int64_t index = 0; index < matrices; ++index) {
        simulation.write(HbmAddress(CubeId(cube), Bytes(index * matrix_bytes)), DType::f32, matrix_of(cube, index));
      }
    }
    simulation.run_grid({config.cubes * config.pes_per_cube, 1, 1},
                        [&config](tl::Context& tl) { exchange(tl, config); });
    for (std::int64_t cube = 0; mode == DataMode::full && cube < config.cubes; ++cube) {
      for (std::int64_t index = 0; index < matrices; ++index) {
        const std::vector<float> x = matrix_of((cube + 1) % config.cubes, index);
        const std::vector<float> local = matrix_of(cube, index);
        std::vector<float> expected(11 * 13 - 6);
        for (std::size_t row = 0; row < 7; ++row) {
          for (std::size_t col = 0; col < 11; ++col) {
            expected[col * 13 + row] = x[(row + 3) * 32 + col + 5] + local[row * 11 + col];
          }
        }
        const CubeId previous((cube + config.cubes - 1) % config.cubes);
        EXPECT_EQ(simulation.read(HbmAddress(previous, Bytes(results + index * matrix_bytes)), DType::f32, 11 * 13 - 6),
                  expected)
            << "cube " << cube << ", matrix " << index;
      }
    }
    return std::to_string(simulation.latency().count()) + " ps\n" + simulation.log_text();
  });
}

class RemoteExchange : public ::testing::TestWithParam<Machine> {};

TEST_P(RemoteExchange, BringsEveryByteToItsPlaceAndTakesTheSameTimeWithoutData) {
  const std::string full = exchange_log(GetParam());
  EXPECT_EQ(std::count(full.begin(), full.end(), '\n'), 1 + 12 * rounds * 4);
  EXPECT_EQ(exchange_log(GetParam(), DataMode::none), full);
}

TEST_P(RemoteExchange, DoesNotDependOnTheOrderOfConstruction) {
  const std::string ascending = exchange_log(GetParam());
  EXPECT_EQ(exchange_log(GetParam(), DataMode::full, ConstructionOrder::descending), ascending);
  EXPECT_EQ(exchange_log(GetParam(), DataMode::full, ConstructionOrder::interleaved), ascending);
}

INSTANTIATE_TEST_SUITE_P(Interconnect, RemoteExchange,
                         ::testing::Values(Machine{"Whole", 16, Bytes(0)}, Machine{"WholeInQueuesOfOne", 1, Bytes(0)},
                                           Machine{"Bursts", 16, Bytes(64)},
                                           Machine{"BurstsInQueuesOfOne", 1, Bytes(64)}),
                         [](const ::testing::TestParamInfo<Machine>& instance) {
                           return std::string(instance.param.name);
                         });

TEST(Interconnect, CubesAndPesThatAKernelDoesNotUseChangeNothing) {
  const auto run = [](std::int64_t cubes, std::int64_t pes_per_cube) {
    return from_child([=] {
      Simulation simulation(ring_of(cubes, pes_per_cube));
      simulation.run([](tl::Context& tl) {
        for (std::int64_t round = 0; round < 4; ++round) {
          const auto x = tl.load(HbmAddress(CubeId(1), tile_bytes * round), {64, 64}, DType::f16);
          tl.store(HbmAddress(CubeId(1), Bytes(0x100000) + tile_bytes * round), x + 1.0F);
          tl.store(HbmAddress(CubeId(0), tile_bytes * round), x);
        }
      });
      return simulation.log_text();
    });
  };
  const std::string smallest = run(2, 1);
  EXPECT_NE(smallest, "");
  EXPECT_EQ(run(2, 8), smallest);
  EXPECT_EQ(run(3, 2), smallest);
  EXPECT_EQ(run(8, 3), smallest);
}

// ---- errors

TEST(Interconnect, ACubeThatDoesNotExistIsAnAddressError) {
  for (const std::int64_t cubes : {1, 3}) {
    in_child([cubes] {
      Simulation simulation(ring_of(cubes));
      const std::string message = simulation.run_failing(
          [cubes](tl::Context& tl) { tl.load(HbmAddress(CubeId(cubes), Bytes(0)), {4}, DType::f32); });
      EXPECT_NE(message.find("ADDRESS_ERROR"), std::string::npos) << message;
      EXPECT_NE(message.find("cube " + std::to_string(cubes)), std::string::npos) << message;
    });
  }
}

TEST(Interconnect, BeyondTheCapacityOfAnotherCubeIsAnAddressError) {
  for (const bool storing : {false, true}) {
    in_child([storing] {
      SystemConfig config = ring_of(3);
      config.hbm.capacity = Bytes(0x10000);
      Simulation simulation(config);
      const std::string message = simulation.run_failing([storing](tl::Context& tl) {
        const HbmAddress beyond(CubeId(2), Bytes(0xFFF0));
        if (storing) {
          tl.store(beyond, tl.buffer({8}, DType::f32));
        } else {
          tl.load(beyond, {8}, DType::f32);
        }
      });
      EXPECT_NE(message.find("ADDRESS_ERROR"), std::string::npos) << message;
      EXPECT_NE(message.find("cube 2, offset 0xfff0"), std::string::npos) << message;
      EXPECT_EQ(simulation.system().links()->sent(CubeId(2)), Bytes(0)) << "an error brings no data";
    });
  }
}

TEST(Interconnect, AnAddressErrorOfAnotherCubeTakesTheLatenciesAndNoTimeOfALink) {
  for (const bool storing : {false, true}) {
    in_child([storing] {
      // Given a link on which a tile takes 16 us, and a tile that lies half beyond the memory, two hops away
      SystemConfig config = ring_of(4);
      config.interconnect.bandwidth = Bandwidth(1'000'000'000);
      config.hbm.capacity = Bytes(0x10000);
      Simulation simulation(config);
      const std::string message = simulation.run_failing([storing](tl::Context& tl) {
        storing ? store_tile(tl, CubeId(2), 0xE000) : load_tile(tl, CubeId(2), 0xE000);
      });
      EXPECT_NE(message.find("ADDRESS_ERROR"), std::string::npos) << message;
      // Then the error is back after the way there, the memory's latency and the way back.
      const std::vector<traces::OperationRow> rows = simulation.rows();
      ASSERT_EQ(rows.size(), 1U);
      EXPECT_EQ(rows.front().end, before + config.pe.dma.setup + 2 * way(config, 2) + config.hbm.latency);
      EXPECT_EQ(now(), rows.front().end);
    });
  }
}

/// The first of two bursts lies at the end of one cube's addresses, where there is no memory, the second one at the
/// beginning of the next cube's, which is further away and answers later.
TEST(Interconnect, ABurstThatSucceedsDoesNotHideOneThatFailedBefore) {
  in_child([] {
    SystemConfig config = ring_of(2);
    config.pe.dma.burst = Bytes(64);
    Simulation simulation(config);
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      const HbmAddress next_cube(CubeId(1), Bytes(0));
      tl.load(HbmAddress(next_cube.value() - 64), {32}, DType::f32);
    });
    EXPECT_NE(message.find("ADDRESS_ERROR"), std::string::npos) << message;
  });
}

// ---- the router, on memories of the test's own

constexpr CubeId here(0);
constexpr CubeId there(1);
constexpr Bytes word(64);

/// An initiator, through a monitor, on a fork whose two ways lead, through monitors, to a stub memory each.
class Fork {
 public:
  Fork(const std::string& name, AnswerStyle near_style, AnswerStyle far_style, EndResponse end, Picoseconds end_delay,
       const StubTiming& timing = {})
      : initiator_((name + "initiator").c_str(), end, end_delay),
        near_idle_((name + "near_idle").c_str()),
        far_idle_((name + "far_idle").c_str()),
        router_((name + "router").c_str(), here, 2, 1),
        near_((name + "near").c_str(), near_style, timing),
        far_((name + "far").c_str(), far_style, timing) {
    connector_.connect(initiator_.socket(), router_.port(0).socket(), name + "to_router");
    connector_.connect(router_.port(0).hbm_socket(), near_.read_socket(), name + "to_near");
    connector_.connect(router_.port(0).links_socket(), far_.read_socket(), name + "to_far");
    // A stub has a second socket, which wants an initiator.
    connector_.connect(near_idle_.socket(), near_.write_socket(), name + "near_idle");
    connector_.connect(far_idle_.socket(), far_.write_socket(), name + "far_idle");
  }

  [[nodiscard]] AtInitiator& initiator() noexcept { return initiator_; }
  void expect_quiet() const {
    EXPECT_EQ(connector_.violations(), std::vector<std::string>());
    EXPECT_EQ(connector_.in_flight(), 0U);
    EXPECT_EQ(initiator_.in_use(), 0);
  }

 private:
  traces::MonitoringConnector connector_;
  AtInitiator initiator_;
  AtInitiator near_idle_;
  AtInitiator far_idle_;
  CubeRouter router_;
  StubMemory near_;
  StubMemory far_;
};

/// Answers 60 ns after the request, in order.
constexpr StubTiming one_at_a_time{Picoseconds(1'000), Picoseconds(60'000), Picoseconds(1'000), 1};
constexpr Picoseconds answered(60'000);

TEST(CubeRouter, OfTwoResponsesInOneInstantTheSecondWaitsForTheEndOfTheFirst) {
  const Picoseconds late(7'000);
  for (const EndResponse end : {EndResponse::accepted, EndResponse::updated, EndResponse::completed}) {
    for (const Picoseconds delay : {Picoseconds(0), late}) {
      in_child([=] {
        Fork fork("", AnswerStyle::responses_out_of_order, AnswerStyle::responses_out_of_order, end, delay,
                  one_at_a_time);
        const Transaction& near = fork.initiator().read(Picoseconds(0), HbmAddress(here, Bytes(0)), word);
        const Transaction& far = fork.initiator().read(Picoseconds(0), HbmAddress(there, Bytes(0)), word);
        sc_core::sc_start();
        fork.expect_quiet();
        ASSERT_TRUE(near.response.has_value() && far.response.has_value());
        EXPECT_EQ(std::min(*near.response, *far.response), answered);
        EXPECT_EQ(std::max(*near.response, *far.response), answered + delay);
      });
    }
  }
}

TEST(CubeRouter, AResponseInTheReturnValueWaitsToo) {
  in_child([] {
    // Given a near response whose END_RESP comes 7 ns after it, and meanwhile a request that is answered at once.
    Fork fork("", AnswerStyle::responses_out_of_order, AnswerStyle::response_at_once, EndResponse::accepted,
              Picoseconds(7'000), one_at_a_time);
    const Picoseconds meanwhile = answered + Picoseconds(2'000);
    const Transaction& near = fork.initiator().read(Picoseconds(0), HbmAddress(here, Bytes(0)), word);
    const Transaction& far = fork.initiator().read(meanwhile, HbmAddress(there, Bytes(0)), word);
    sc_core::sc_start();
    fork.expect_quiet();
    EXPECT_EQ(near.response, answered);
    EXPECT_EQ(far.end_request, meanwhile);
    EXPECT_EQ(far.response, answered + Picoseconds(7'000));
  });
}

struct Acknowledgement {
  const char* name;
  EndResponse style;
  Picoseconds delay;
  friend void PrintTo(const Acknowledgement& acknowledgement, std::ostream* out) { *out << acknowledgement.name; }
};

class AnyAcknowledgement : public ::testing::TestWithParam<Acknowledgement> {};

TEST_P(AnyAcknowledgement, OfAnyTwoLegalMemoriesTogetherBreaksNoRule) {
  // Without those that answer in the return value whether or not their response before has been acknowledged.
  constexpr std::array styles{
      AnswerStyle::end_req_later,     AnswerStyle::end_req_announced,   AnswerStyle::end_req_annotated,
      AnswerStyle::completed_at_once, AnswerStyle::completed_annotated, AnswerStyle::response_ends_request,
      AnswerStyle::late_annotation,   AnswerStyle::responses_annotated, AnswerStyle::responses_out_of_order};
  in_child([&] {
    // All pairs in one simulation, each with twenty requests of a changing mix.
    std::vector<std::unique_ptr<Fork>> forks;
    std::vector<const Transaction*> sent;
    for (const AnswerStyle near : styles) {
      for (const AnswerStyle far : styles) {
        const std::string name = "fork" + std::to_string(forks.size()) + "_";
        forks.push_back(std::make_unique<Fork>(name, near, far, GetParam().style, GetParam().delay));
        for (std::int64_t i = 0; i < 20; ++i) {
          const CubeId cube(i % 3 == 0 || i % 7 == 0 ? here : there);
          sent.push_back(&forks.back()->initiator().read(Picoseconds(i * 2'500), HbmAddress(cube, word * i), word));
        }
      }
    }
    sc_core::sc_start();
    for (const auto& fork : forks) fork->expect_quiet();
    for (const Transaction* transaction : sent) {
      ASSERT_TRUE(transaction->response.has_value());
      EXPECT_EQ(transaction->status(), tlm::TLM_OK_RESPONSE);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(CubeRouter, AnyAcknowledgement,
                         ::testing::Values(Acknowledgement{"Completed", EndResponse::completed, Picoseconds(0)},
                                           Acknowledgement{"Updated", EndResponse::updated, Picoseconds(0)},
                                           Acknowledgement{"Accepted", EndResponse::accepted, Picoseconds(0)},
                                           Acknowledgement{"AcceptedLate", EndResponse::accepted, Picoseconds(7'000)}),
                         [](const ::testing::TestParamInfo<Acknowledgement>& instance) {
                           return std::string(instance.param.name);
                         });

// ---- the whole way, by other calls than a DMA's

struct Caller : sc_core::sc_module {
  explicit Caller(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
  tlm_utils::simple_initiator_socket<Caller> socket;
};

/// Router, links and two memories, with a caller on the router and callers that say nothing on the links' other ports.
class Wiring {
 public:
  Wiring() {
    caller.socket.bind(router_.port(0).socket());
    router_.port(0).hbm_socket().bind(near_.socket(0));
    router_.port(0).links_socket().bind(links_.socket(0));
    for (std::int64_t id = 1; id < 4; ++id) {
      idle_.push_back(std::make_unique<Caller>(("idle" + std::to_string(id)).c_str()));
      idle_.back()->socket.bind(links_.socket(id));
    }
    links_.memory_socket(here).bind(near_.socket(1));
    links_.memory_socket(there).bind(far_.socket(0));
  }

  Caller caller{"caller"};

 private:
  SystemConfig config_ = ring_of(2);
  CubeRouter router_{"router", here, 2, 1};
  CubeLinks links_{"links", config_};
  Hbm near_{"near", here, config_.hbm, DataMode::full, 2};
  Hbm far_{"far", there, config_.hbm, DataMode::full, 1};
  std::vector<std::unique_ptr<Caller>> idle_;
};

void describe(Payload& payload, tlm::tlm_command command, HbmAddress address, std::vector<std::uint8_t>& data) {
  payload.set_command(command);
  payload.set_address(address.value());
  payload.set_data_ptr(data.data());
  payload.set_data_length(static_cast<unsigned>(data.size()));
  payload.set_streaming_width(payload.get_data_length());
}

TEST(Interconnect, ABlockingCallWithAPayloadOnTheStackTakesTheTimeOfABurst) {
  in_child([] {
    Wiring wiring;
    std::vector<std::uint8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    std::vector<std::uint8_t> read(256);
    std::vector<Picoseconds> took;
    sc_core::sc_spawn(
        [&] {
          const auto access = [&](tlm::tlm_command command, CubeId cube, std::vector<std::uint8_t>& data) {
            const Picoseconds start = now();
            Payload payload;
            describe(payload, command, HbmAddress(cube, Bytes(0x100)), data);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            wiring.caller.socket->b_transport(payload, delay);
            EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
            EXPECT_FALSE(payload.has_mm());
            took.push_back(now() + to_picoseconds(delay) - start);
          };
          access(tlm::TLM_WRITE_COMMAND, there, bytes);
          access(tlm::TLM_READ_COMMAND, there, read);
          std::vector<std::uint8_t> local(256);
          access(tlm::TLM_READ_COMMAND, here, local);
          EXPECT_EQ(local, std::vector<std::uint8_t>(256));
        },
        "test_process");
    sc_core::sc_start();
    EXPECT_EQ(read, bytes);
    // 256 B: 1 ns on the link, 5 ns in their channel.
    const Picoseconds local(100'000 + 5'000);
    const Picoseconds remote = local + Picoseconds(100'000 + 100'000 + 1'000);
    EXPECT_EQ(took, (std::vector<Picoseconds>{remote, remote, local}));
  });
}

TEST(Interconnect, DebugAccessReachesEveryCubeWithoutTime) {
  in_child([] {
    Wiring wiring;
    std::vector<std::uint8_t> bytes(300, std::uint8_t{7});
    std::vector<std::uint8_t> read(300);
    sc_core::sc_spawn(
        [&] {
          const auto access = [&](tlm::tlm_command command, CubeId cube, std::vector<std::uint8_t>& data) {
            Payload payload;
            describe(payload, command, HbmAddress(cube, Bytes(0x100)), data);
            return wiring.caller.socket->transport_dbg(payload);
          };
          EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, there, bytes), 300U);
          EXPECT_EQ(access(tlm::TLM_READ_COMMAND, here, read), 300U);
          EXPECT_EQ(read, std::vector<std::uint8_t>(300)) << "the other cube's bytes";
          EXPECT_EQ(access(tlm::TLM_READ_COMMAND, there, read), 300U);
          EXPECT_EQ(access(tlm::TLM_READ_COMMAND, CubeId(2), read), 0U) << "no such cube";
          tlm::tlm_dmi dmi;
          Payload payload;
          describe(payload, tlm::TLM_READ_COMMAND, HbmAddress(there, Bytes(0)), read);
          EXPECT_FALSE(wiring.caller.socket->get_direct_mem_ptr(payload, dmi));
          EXPECT_EQ(now(), Picoseconds(0));
        },
        "test_process");
    sc_core::sc_start();
    EXPECT_EQ(read, bytes);
  });
}

TEST(Interconnect, EveryLinkOfAMachineOfSeveralCubesIsMonitored) {
  in_child([] {
    // 6 links inside a PE, 3 for each of its two channels, one from the links to each cube's HBM. Queues: a PE's east
    // and west, and north and south between the two of a cube, 6 directions a cube of an input and an output each.
    Simulation several(ring_of(3, 2));
    EXPECT_EQ(several.monitor().links(), 3U * (2 * (6 + 2 * 3) + 1 + 6 * 2));
    several.run_grid({6, 1, 1}, [](tl::Context& tl) { load_tile(tl, CubeId((tl.program_id(0) + 1) % 3)); });
  });
  in_child([] {
    // A cube that is alone needs neither router nor links; its two PEs have queues to each other.
    Simulation alone(ring_of(1, 2));
    EXPECT_EQ(alone.monitor().links(), 2U * (6 + 2) + 2 * 2);
    EXPECT_EQ(alone.system().links(), nullptr);
    alone.run([](tl::Context& tl) { load_tile(tl, CubeId(0)); });
  });
}

}  // namespace
}  // namespace kernwave::interconnect_test
