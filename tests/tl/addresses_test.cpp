// Addresses, strides and shapes whose arithmetic does not fit are errors, before anything moves.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/tl/launch.h"
#include "models/memory/hbm.h"
#include "models/run/run.h"
#include "tests/support/child.h"
#include "tests/support/error_text.h"
#include "tests/support/kernel_errors.h"
#include "tests/support/lone_pe.h"
#include "tests/support/simulation.h"

namespace kernwave::addresses_test {
namespace {

using testing::error_of;
using testing::expect_kernel_error;
using testing::in_child;
using testing::LonePe;
using testing::one_cube;
using testing::Simulation;

constexpr std::int64_t one = 1;
constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();

// ---- strides

TEST(Addresses, WhoseStrideIsMoreBytesThan64BitsHoldAreAnError) {
  expect_kernel_error("load", {"64 bits", "2x2 f32", "2305843009213693952 elements"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {2, 2}, DType::f32, tl::LoadOptions().strides(one << 61));
  });
  expect_kernel_error("store", {"64 bits", "2x2 f16", std::to_string(longest)}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({2, 2}, DType::f16);
    line = __LINE__ + 1;
    tl.store(HbmAddress(0), x, tl::StoreOptions().strides(longest));
  });
  expect_kernel_error("load", {"64 bits", "4 f32"}, [](tl::Context& tl, int& line) {  // a vector with a stride
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4}, DType::f32, tl::LoadOptions().strides(one << 62));
  });
  expect_kernel_error("make_tensor_descriptor", {"64 bits", "8x8 f32"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    (void)tl.make_tensor_descriptor(HbmAddress(0), {8, 8}, {one << 61, 1}, {4, 4}, DType::f32);
  });
}

TEST(Addresses, WhoseRowsTimesStrideIsMoreThan64BitsHoldAreAnError) {
  // 5 rows with 2^60 elements of 4 B between them: the last one begins at 2^64.
  expect_kernel_error("load", {"64 bits", "5x2 f32", "cube 0, offset 0x40", "5 rows"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0x40), {5, 2}, DType::f32, tl::LoadOptions().strides(one << 60));
  });
  expect_kernel_error("store", {"64 bits", "5x2 f32"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({5, 2}, DType::f32);
    line = __LINE__ + 1;
    tl.store(HbmAddress(0), x, tl::StoreOptions().strides(one << 60));
  });
  // 2^30 + 2 rows of a matrix in HBM of which nothing is loaded yet, 2^31 - 1 elements apart: more than 2^63 B.
  expect_kernel_error("ref", {"64 bits", "1073741826x1 f32"}, [](tl::Context& tl, int& line) {
    const tl::RefOptions options = tl::RefOptions().strides((one << 31) - 1);
    line = __LINE__ + 1;
    (void)tl.ref(HbmAddress(0), {(one << 30) + 2, 1}, DType::f32, options);
  });
  expect_kernel_error("make_tensor_descriptor", {"64 bits", "1024x8 f16"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    (void)tl.make_tensor_descriptor(HbmAddress(0), {1024, 8}, {one << 53, 1}, {4, 4}, DType::f16);
  });
}

TEST(Addresses, ThatBeginAtTheEndOf64BitsAreAnError) {
  const HbmAddress last(std::numeric_limits<std::uint64_t>::max() - 7);
  expect_kernel_error("load", {"64 bits", "4 f32", "cube 16777215"}, [last](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(last, {4}, DType::f32);
  });
}

TEST(Addresses, OfRowsBeyondACubeAreNoOtherCubes) {
  // Given two cubes; the second row of a tile at the beginning of the first lies at the beginning of the second
  for (const std::int64_t burst : {0, 64}) {
    in_child([burst] {
      SystemConfig config = one_cube();
      config.cubes = 2;
      config.pe.dma.burst = Bytes(burst);
      Simulation simulation(config);
      const std::string message = simulation.run_failing([](tl::Context& tl) {
        tl.load(HbmAddress(0), {2, 16}, DType::f32, tl::LoadOptions().strides(HbmAddress::cube_bytes / 4));
      });
      EXPECT_EQ(message.find("PE 0, load at "), 0U) << message;
      EXPECT_NE(message.find("beyond the addresses of a cube: 2x16 f32 at cube 0, offset 0x0, 2 rows with "
                             "1099511627776 B"),
                std::string::npos)
          << message;
    });
  }
}

TEST(Addresses, OfAMemoryOfTheUsersReachBeyondWhatACubeHas) {
  in_child([] {
    // Given a PE by itself on a memory that does not look at the cube in an address
    LonePe bench(testing::AnswerStyle::end_req_later);
    // Then rows may lie 2^40 B apart.
    EXPECT_EQ(bench.run([](tl::Context& tl) {
      tl.load(HbmAddress(0), {2, 4}, DType::f32, tl::LoadOptions().strides(HbmAddress::cube_bytes / 4));
    }),
              RunEnd::finished)
        << bench.ledger().failures().front().message;
  });
}

TEST(Addresses, OfOneRowNeedNoRoomForAnother) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      tl.load(HbmAddress(0), {1, 4}, DType::f32, tl::LoadOptions().strides(one << 60));
      tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::LoadOptions().strides(one << 60).valid({0, 4}).other(0.0F));
    });
    EXPECT_EQ(simulation.count(Engine::dma_read), 2);
  });
}

TEST(Addresses, OfABlockOutsideItsMatrixAreNotAskedFor) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      const auto matrix = tl.make_tensor_descriptor(HbmAddress(0), {8, 8}, {8, 1}, {4, 4}, DType::f32);
      tl.store(HbmAddress(0x1000), matrix.load({longest - 3, longest - 3}));
    });
    EXPECT_EQ(simulation.read(HbmAddress(0x1000), DType::f32, 16), std::vector<float>(16, 0.0F));
  });
}

// ---- addresses as values

TEST(HbmAddresses, ThatDoNotExistAreNotMade) {
  EXPECT_EQ(HbmAddress(CubeId(3), Bytes(0xfff)).offset(), Bytes(0xfff));
  EXPECT_EQ(HbmAddress(CubeId((1 << 24) - 1), Bytes(HbmAddress::cube_bytes - 1)).value(),
            std::numeric_limits<std::uint64_t>::max());
  const std::string allowed = ": cubes are 0 to 16777215, offsets 0 to 0xffffffffff";
  EXPECT_EQ(error_of<std::out_of_range>([] { (void)HbmAddress(CubeId(1), Bytes(HbmAddress::cube_bytes)); }),
            "no address has cube 1 and offset 1099511627776" + allowed);
  EXPECT_EQ(error_of<std::out_of_range>([] { (void)HbmAddress(CubeId(0), Bytes(-1)); }),
            "no address has cube 0 and offset -1" + allowed);
  EXPECT_EQ(error_of<std::out_of_range>([] { (void)HbmAddress(CubeId(1 << 24), Bytes(0)); }),
            "no address has cube 16777216 and offset 0" + allowed);
}

TEST(HbmAddresses, DoNotWrapAround) {
  EXPECT_EQ((HbmAddress(64) + Bytes(-64)).value(), 0U);
  EXPECT_EQ(error_of<std::out_of_range>([] { (void)(HbmAddress(0x40) + Bytes(-65)); }),
            "address 0x40 and -65 B more go beyond 64 bits");
  const HbmAddress last(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(error_of<std::out_of_range>([last] { (void)(last + Bytes(1)); }),
            "address 0xffffffffffffffff and 1 B more go beyond 64 bits");
}

TEST(HbmAddresses, ThatDoNotExistEndAKernelThatMakesThem) {
  in_child([] {
    Simulation simulation;
    EXPECT_EQ(simulation.run_failing([](tl::Context& tl) { tl.load(HbmAddress(0) + Bytes(-4), {4}, DType::f32); }),
              "PE 0, program (0, 0, 0): address 0x0 and -4 B more go beyond 64 bits");
  });
}

TEST(Regions, KnowHowFarTheyReach) {
  const auto extent = [](std::int64_t rows, std::int64_t row_bytes, std::int64_t stride) {
    return HbmRegion{HbmAddress(0), rows, Bytes(row_bytes), Bytes(stride)}.extent();
  };
  EXPECT_EQ(extent(1, 16, longest), Bytes(16));
  EXPECT_EQ(extent(3, 16, 100), Bytes(216));
  EXPECT_EQ(extent(0, 16, longest), Bytes(0));
  EXPECT_EQ(extent(2, 7, longest - 7), Bytes(longest));
  EXPECT_EQ(extent(2, 8, longest - 7), std::nullopt);
  EXPECT_EQ(extent(longest, 1, longest), std::nullopt);
}

// ---- memories and scratch of a size without addresses

TEST(Memories, LargerThanTheirAddressesAreRefused) {
  in_child([] {
    SystemConfig config = one_cube();
    config.hbm.capacity = Bytes(HbmAddress::cube_bytes + 1);
    const std::string message = error_of<sc_core::sc_report>([&] { const Simulation simulation(config); });
    EXPECT_NE(message.find("at most 1 TiB"), std::string::npos) << message;
  });
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.scratch.capacity = Bytes(one << 32);
    const std::string message = error_of<sc_core::sc_report>([&] { const Simulation simulation(config); });
    EXPECT_NE(message.find("below 4 GiB"), std::string::npos) << message;
  });
}

// ---- shapes and counts

TEST(Counts, BeyondWhatThereIsAreErrorsOfTheirOperation) {
  expect_kernel_error("buffers", {"scratch overflow", "64x64 f32"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    (void)tl.buffers(one << 62, {64, 64}, DType::f32);
  });
  expect_kernel_error("buffers", {"not negative", "-1"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    (void)tl.buffers(-1, {4}, DType::f32);
  });
  expect_kernel_error("zeros", {"below 2^31", "4611686018427387904"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.zeros({one << 62, 4}, DType::f32);
  });
  expect_kernel_error("load", {"below 2^31", std::to_string(longest)}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {longest, longest}, DType::f32);
  });
  expect_kernel_error("load", {"valid part", std::to_string(longest)}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::LoadOptions().valid({longest, 4}));
  });
  expect_kernel_error("arange", {std::to_string(longest)}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.arange(-longest, longest);
  });
  expect_kernel_error("slice", {"does not lie inside"}, [](tl::Context& tl, int& line) {
    const auto x = tl.zeros({4, 4}, DType::f32);
    line = __LINE__ + 1;
    (void)tl.slice(x, 3, longest);
  });
  expect_kernel_error("staging", {"below 2^31"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    (void)tl.staging(Bytes(longest));
  });
  EXPECT_EQ(tl::cdiv(longest, 2), (one << 62));
}

}  // namespace
}  // namespace kernwave::addresses_test
