// Times of engines and links that are given as functions take the place of the formulas.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/protocol/descriptor.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"

namespace kernwave::given_timing_test {
namespace {

using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds dispatch = 2 * cycle;

void two_products(tl::Context& tl) {
  const auto a = tl.zeros({16, 16}, DType::f16);
  tl.dot(a, a);
  tl.dot(a, a);
}

TEST(GivenTiming, SaysHowLongProductsTake) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.gemm.timing = {"by hand", [](const Descriptor& command, ServiceStart /*start*/) {
                               return Picoseconds(command.gemm().a.rows * 777);
                             }};
    Simulation simulation(config);
    simulation.run(two_products);
    EXPECT_EQ(simulation.pe().statistics(Engine::gemm).busy, Picoseconds(2 * 16 * 777));
    EXPECT_EQ(simulation.pe().gemm_work().dataflow, Picoseconds(2 * 16 * 777));
    EXPECT_EQ(simulation.pe().gemm_work().ideal, Picoseconds(2 * 16 * 777));
  });
}

TEST(GivenTiming, HasAStateOfItsOwnInEachEngine) {
  in_child([] {
    SystemConfig config = one_cube(2);
    config.pe.gemm.timing = {"warms up", [calls = 0](const Descriptor& /*command*/, ServiceStart /*start*/) mutable {
                               return Picoseconds(++calls == 1 ? 5'000 : 3'000);
                             }};
    Simulation simulation(config);
    simulation.run_grid({2, 1, 1}, two_products);
    for (const std::int64_t id : {0, 1}) {
      EXPECT_EQ(simulation.pe(id).statistics(Engine::gemm).busy, Picoseconds(5'000 + 3'000)) << "PE " << id;
    }
  });
}

TEST(GivenTiming, IsToldOfTheStartAndOfCommandsWithoutAGap) {
  in_child([] {
    SystemConfig config = one_cube();
    auto starts = std::make_shared<std::vector<ServiceStart>>();
    config.pe.math.timing = {"notes", [starts](const Descriptor& /*command*/, ServiceStart start) {
                               starts->push_back(start);
                               return Picoseconds(50'000);
                             }};
    Simulation simulation(config);
    // Issued 2 cycles apart, 50 ns each, under a policy that does not wait: the second follows the first.
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.buffer({4}, DType::f32);
          const auto b = tl.buffer({4}, DType::f32);
          tl.fill(a, 1);
          tl.fill(b, 2);
          tl.wait(b);
          tl.fill(b, 3);
        },
        tl::Policy::stall_on_use);
    ASSERT_EQ(starts->size(), 3U);
    EXPECT_FALSE((*starts)[0].back_to_back);
    EXPECT_TRUE((*starts)[1].back_to_back);
    EXPECT_EQ((*starts)[1].at, (*starts)[0].at + Picoseconds(50'000));
    EXPECT_FALSE((*starts)[2].back_to_back);
  });
}

TEST(GivenTiming, OfATransferIsItsSetupAndItsTimeOnThePort) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.timing = {
        "rtl", [](const Descriptor& command, Picoseconds /*start*/) {
          return TransferTime{Picoseconds(33'000), Picoseconds(command.dma().region.bytes().count() * 9)};
        }};
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) { tl.wait(tl.load(HbmAddress(0), {64, 64}, DType::f16)); });
    // By hand: 8 cycles of issue, 2 of dispatch, the setup, the memory's latency, and 8,192 B at 9 ps each.
    const Picoseconds service = Picoseconds(33'000) + config.hbm.latency + Picoseconds(8'192 * 9);
    EXPECT_EQ(simulation.latency(), 8 * cycle + dispatch + service);
    EXPECT_EQ(simulation.pe().statistics(Engine::dma_read).given_port, Picoseconds(8'192 * 9));
  });
}

TEST(GivenTiming, ThatHasNoneForATransferEndsItsProgramWithTheReason) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.dma.timing = {"rtl", [](const Descriptor& /*command*/, Picoseconds /*start*/) -> TransferTime {
                              throw TimingError("rtl knows no such transfer");
                            }};
    Simulation simulation(config);
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      tl.wait(tl.load(HbmAddress(0), {64, 64}, DType::f16));
    });
    EXPECT_NE(message.find("memory/dma_read of 64x64 f16 at cube 0, offset 0x0, issued at "), std::string::npos)
        << message;
    EXPECT_NE(message.find(", rtl knows no such transfer"), std::string::npos) << message;
  });
}

TEST(GivenTiming, ThatIsNoTimeIsAnError) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.gemm.timing = {"broken",
                             [](const Descriptor& /*command*/, ServiceStart /*start*/) { return Picoseconds(-1); }};
    Simulation simulation(config);
    const std::string message = simulation.run_failing(two_products);
    EXPECT_NE(message.find(", broken gives it -1 ps, and at least -1 ps"), std::string::npos) << message;
  });
}

TEST(GivenTiming, OfALinkIsHowLongAMessageKeepsIt) {
  in_child([] {
    SystemConfig config;
    config.cubes = 2;
    config.pes_per_cube = 1;
    config.pe.ipcq.timing = {"serdes",
                             [](Bytes bytes, Picoseconds /*start*/) { return Picoseconds(bytes.count() + 11); }};
    Simulation simulation(config);
    const auto send = [](tl::Context& tl) { tl.wait(tl.send(Direction::east, tl.buffer({64}, DType::f32))); };
    const auto receive = [](tl::Context& tl) { tl.recv(Direction::west, {64}, DType::f32); };
    simulation.run_parts({{0, send}, {1, receive}}, {{Direction::west}, Bytes(256)});
    const LinkStatistics& link = simulation.system().queue_link(PeId(0), Direction::east)->statistics();
    EXPECT_EQ(link.busy, Picoseconds(256 + 11));
    // By hand: 8 cycles of issue, 2 of dispatch, the hop, and the message.
    EXPECT_EQ(simulation.pe(0).cpu().account().of(TimeCause::issue), 8 * cycle);
    EXPECT_EQ(simulation.rows().front().end, 8 * cycle + dispatch + config.pe.ipcq.hop_latency + Picoseconds(256 + 11));
  });
}

TEST(GivenTiming, HoldsForThePartsOfAComposite) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.gemm.timing = {"flat",
                             [](const Descriptor& /*command*/, ServiceStart /*start*/) { return Picoseconds(40'000); }};
    Simulation simulation(config);
    simulation.run([](tl::Context& tl) {
      const auto a = tl.zeros({16, 64}, DType::f16);
      const auto out = tl.buffer({16, 64}, DType::f32);
      const auto b = tl.ref(HbmAddress(0), {64, 64}, DType::f16);
      tl.composite(a, b, tl::CompositeOptions().out(out).tile(32).along(CompositeAxis::n));
    });
    EXPECT_EQ(simulation.pe().statistics(Engine::gemm).busy, Picoseconds(2 * 40'000));  // two tiles
  });
}

}  // namespace
}  // namespace kernwave::given_timing_test
