// Lazy loads overlap computation, and cost nothing when they are used at once.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

TEST(Overlap, ALoadAndAnIndependentDotTakeTheLongerOfTheTwo) {
  in_child([] {
    const SystemConfig config = one_cube();
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) {
      const auto a = tl.buffer({64, 64}, DType::f16);
      tl.load(HbmAddress(0), {64, 128}, DType::f16);
      tl.dot(a, a);
    });
    // 16 KiB: isolated. 64^3 multiply-accumulates on 64 x 64: 64 cycles; 2 x 8 KiB in + 16 KiB out at 512 B: 64 cycles.
    const Picoseconds cycle(1000);
    const Picoseconds load = testing::isolated_transfer(config, Bytes(16384));
    const Picoseconds dot = 64 * cycle;
    const Picoseconds expected = 8 * cycle + 2 * cycle + std::max(load, 6 * cycle + dot);
    EXPECT_EQ(simulation.latency(), expected);
  });
}

}  // namespace
}  // namespace kernwave
