#include "tests/bench/decode_loop.h"

#include <chrono>
#include <stdexcept>
#include <vector>

#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/tl/launch.h"
#include "models/run/run.h"
#include "models/system/system.h"

namespace kernwave::bench {

namespace {

constexpr std::int64_t tile = 64;  // 64 keys x 128 x 2 B = 16 KiB
constexpr std::int64_t operations_per_tile = 17;

[[nodiscard]] kernels::AttentionArgs decode_args(std::int64_t cubes, std::int64_t pes_per_cube, std::int64_t tiles,
                                                 kernels::KvSource kv) {
  kernels::AttentionArgs args;
  args.kv = kv;
  args.kv_heads = pes_per_cube;
  args.group = 4;
  args.tile = tile;
  for (std::int64_t cube = 0; cube < cubes; ++cube) {
    for (std::int64_t pe = 0; pe < pes_per_cube; ++pe) {
      constexpr std::int64_t slice = std::int64_t{1} << 31;
      const HbmAddress base(CubeId(cube), Bytes(pe * slice));
      kernels::AttentionHead head;
      head.s_kv = tiles * tile;
      head.q = base;
      head.out = base + Bytes(4096);
      head.k = base + Bytes(8192);
      head.v = base + Bytes(8192 + slice / 2);
      head.q_stride = head.out_stride = args.group * args.head_dim;
      head.kv_stride = args.head_dim;
      args.heads.push_back(head);
    }
  }
  return args;
}

}  // namespace

double decode_operation_nanoseconds(const DecodeLoop& loop, const Attach& attach) {
  SystemConfig config;
  config.cubes = loop.cubes;
  config.pes_per_cube = loop.pes_per_cube;
  Connector connector;
  System system("system", config, DataMode::none, connector);
  const std::function<void()> finish = attach(system);
  std::vector<Pe*> pes;
  for (std::int64_t id = 0; id < system.pe_count(); ++id) pes.push_back(&system.pe(PeId(id)));
  const std::int64_t tiles = loop.operations / (operations_per_tile * system.pe_count());
  const auto args = decode_args(loop.cubes, loop.pes_per_cube, tiles, loop.kv);
  tl::launch(
      pes, {loop.pes_per_cube, loop.cubes, 1},
      [&args](tl::Context& tl) { kernels::gqa_attention_decode_short(tl, args); }, loop.policy);
  const auto begin = std::chrono::steady_clock::now();
  if (run_to_end(system.ledger()) != RunEnd::finished) throw std::runtime_error("the kernels did not finish");
  finish();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  std::int64_t issued = 0;
  for (const Pe* pe : pes) issued += pe->cpu().operations();
  return taken.count() / static_cast<double>(issued);
}

}  // namespace kernwave::bench
