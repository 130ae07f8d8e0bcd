#include "tests/support/timeline_run.h"

#include <vector>

#include "tests/support/contended_machine.h"

namespace kernwave::testing {

namespace {

/// Loads, a product, arithmetic, composites of which several are in flight, a store, messages around a ring.
void busy_kernel(tl::Context& tl, std::int64_t pe, std::int64_t pes_per_cube, std::int64_t rounds) {
  const CubeId cube(pe / pes_per_cube);
  const auto at = [cube](std::int64_t offset) { return HbmAddress(cube, Bytes(offset)); };
  for (std::int64_t round = 0; round < rounds; ++round) {
    auto scope = tl.scratch_scope();
    const auto a = tl.load(at(round * 8192), {32, 64}, DType::f16);
    const auto b = tl.load(at(0x40000 + round * 8192), {64, 32}, DType::f16);
    const auto c = tl.dot(a, b);
    const auto x = tl.buffer({16, 64}, DType::f16);
    const auto results = tl.buffers(2, {16, 128}, DType::f32);
    for (std::int64_t i = 0; i < 2; ++i) {
      tl.composite(x, tl.ref(at(0x80000 + i * 65536), {64, 128}, DType::f16),
                   tl::CompositeOptions().out(results[static_cast<std::size_t>(i)]).tile(32).then(tl::MathOp::exp2));
    }
    tl.send(Direction::east, a);
    tl.send(Direction::east, x);
    const auto first = tl.recv(Direction::west, {32, 64}, DType::f16);
    tl.recv(Direction::west, {16, 64}, DType::f16);
    tl.store(at(0x100000 + (pe * rounds + round) * 4096), tl.max(c + 1.0F, 1));
    tl.store(at(0x200000 + (pe * rounds + round) * 4096), first);
  }
}

}  // namespace

void run_with_timeline(const std::string& path, const SystemConfig& config, const std::function<void(Simulation&)>& run,
                       traces::Compression compression, ConstructionOrder order) {
  Simulation simulation(config, DataMode::full, order);
  traces::Timeline timeline(path, compression, config);
  simulation.system().set_observer(&timeline);
  simulation.system().set_channel_observer(&timeline);
  run(simulation);
  timeline.close({true, "", simulation.latency()});
}

SystemConfig busy_machine() {
  SystemConfig config = contended_machine();
  config.pe.ipcq.window = 2;
  return config;
}

void run_busy(Simulation& simulation, tl::Policy policy, std::int64_t rounds) {
  const std::int64_t per_cube = simulation.system().config().pes_per_cube;
  std::vector<Simulation::Part> parts;
  for (std::int64_t pe = 0; pe < simulation.system().pe_count(); ++pe) {
    parts.push_back({pe, [=](tl::Context& tl) { busy_kernel(tl, pe, per_cube, rounds); }});
  }
  simulation.run_parts(parts, {{Direction::west}, Bytes(4096)}, policy);
}

}  // namespace kernwave::testing
