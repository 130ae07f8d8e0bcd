#include "tests/support/traced.h"

namespace kernwave::testing {

void load_dot_store(tl::Context& tl) {
  const auto a = tl.buffer({128, 64}, DType::f16);
  const auto b = tl.load(HbmAddress(0), {64, 128}, DType::f16);
  tl.store(HbmAddress(1 << 20), tl.dot(a, b));
}

namespace {

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

}  // namespace

SystemConfig two_cubes() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 1;
  return config;
}

void run_ring(Traced& traced, tl::Policy policy) {
  traced.simulation().run_parts({{0, sender}, {1, receiver}}, {{Direction::west}, Bytes(8192)}, policy);
}

}  // namespace kernwave::testing
