// Scratch: addresses are a function of program order; capacity alone decides what fits.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/kernel_errors.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::scratch_test {
namespace {

using testing::expect_kernel_error;
using testing::in_child;
using testing::in_child_for_each_policy;
using testing::one_cube;
using testing::Simulation;

[[nodiscard]] std::int64_t at(const tl::Tensor& tensor) { return tensor.address().count(); }

/// A machine with `capacity` bytes of scratch.
[[nodiscard]] SystemConfig with_scratch(std::int64_t capacity) {
  SystemConfig config = one_cube();
  config.pe.scratch.capacity = Bytes(capacity);
  return config;
}

TEST(Scratch, TensorsFollowOneAnotherAtMultiplesOf64InEveryPolicy) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.load(HbmAddress(0), {3}, DType::f32);             // 12 B: [0, 64)
          const auto b = tl.load(HbmAddress(4096), {16}, DType::f32);         // 64 B: [64, 128)
          const auto c = tl.zeros({33, 1}, DType::f16);                       // 66 B: [128, 256)
          const auto d = a + a;                                               // 12 B: [256, 320)
          const auto e = tl.sum(b, 0);                                        // 4 B: [320, 384)
          const auto f = tl.buffers(2, {65}, DType::boolean);                 // 65 B each: [384, 512), [512, 640)
          const auto g = tl.dot(tl.expand_dims(a, 1), tl.expand_dims(a, 0));  // 36 B: [640, 704)
          EXPECT_EQ(at(a), 0);
          EXPECT_EQ(at(b), 64);
          EXPECT_EQ(at(c), 128);
          EXPECT_EQ(at(d), 256);
          EXPECT_EQ(at(e), 320);
          EXPECT_EQ(at(f[0]), 384);
          EXPECT_EQ(at(f[1]), 512);
          EXPECT_EQ(at(g), 640);
          EXPECT_EQ(tl.scratch_used(), Bytes(704));
        },
        policy);
    EXPECT_EQ(simulation.pe().scratch().peak(), Bytes(704));
  });
}

TEST(Scratch, AScopeGivesItsBytesBackAtOnceInEveryPolicy) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto outer = tl.zeros({16}, DType::f32);  // [0, 64)
          std::vector<std::int64_t> addresses;
          for (int i = 0; i < 3; ++i) {
            const auto scope = tl.scratch_scope();
            const auto tile = tl.load(HbmAddress(0), {32, 32}, DType::f32);  // in flight when its scope ends
            addresses.push_back(at(tile));
            {
              const auto inner = tl.scratch_scope();
              EXPECT_EQ(at(tl.zeros({64}, DType::f32)), 64 + 4096);
              EXPECT_EQ(tl.scratch_used(), Bytes(64 + 4096 + 256));
            }
            EXPECT_EQ(at(tl.zeros({1}, DType::f32)), 64 + 4096);
          }
          EXPECT_EQ(addresses, (std::vector<std::int64_t>{64, 64, 64}));
          EXPECT_EQ(tl.scratch_used(), Bytes(64));
          EXPECT_EQ(at(outer), 0);
        },
        policy);
    EXPECT_EQ(simulation.pe().scratch().peak(), Bytes(64 + 4096 + 256));  // the most at any one time
  });
}

TEST(Scratch, OutAndIntoAndAccAllocateNothing) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      const auto x = tl.zeros({4, 4}, DType::f32);
      const auto y = tl.zeros({4, 4}, DType::f32);
      const Bytes used = tl.scratch_used();
      tl.add(x, y, tl::out(x));
      tl.dot(x, x, y);
      tl.load(HbmAddress(0), {4, 4}, DType::f32, tl::into(x));
      tl.copy_to(x, y);
      tl.fill(y, 1.0);
      tl.store(HbmAddress(0), y);
      EXPECT_EQ(tl.scratch_used(), used);
    });
  });
}

TEST(Scratch, ATensorMayFillTheCapacityWhateverIsInFlight) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(with_scratch(8192));
    simulation.run(
        [](tl::Context& tl) {
          EXPECT_EQ(tl.scratch_capacity(), Bytes(8192));
          for (int i = 0; i < 3; ++i) {
            const auto scope = tl.scratch_scope();
            tl.load(HbmAddress(0), {2048}, DType::f32);  // all of it, still arriving when the next one asks for it
          }
        },
        policy);
    EXPECT_EQ(simulation.pe().scratch().peak(), Bytes(8192));
    EXPECT_EQ(simulation.count(Engine::dma_read), 3);
  });
}

TEST(Scratch, OneElementTooManyFailsInEveryPolicy) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(with_scratch(8192));
    const std::string message = simulation.run_failing(
        [](tl::Context& tl) {
          tl.load(HbmAddress(0), {1}, DType::f32);        // 64 B with its alignment
          tl.load(HbmAddress(4096), {2033}, DType::f32);  // 8132 B, where 8128 are left
        },
        policy);
    EXPECT_NE(message.find("scratch overflow"), std::string::npos) << message;
  });
}

TEST(Scratch, TheOverflowNamesWhatWasAskedTheCapacityAndTheLargestHolders) {
  // 1 MiB: 512 KiB and 64 KiB and 256 B are held when 512 KiB more are asked for.
  expect_kernel_error("load",
                      {"512x512 f16 needs 524288 B", "590080 of 1048576 B", "524288 B by load 1024x256 f16",
                       "65536 B by zeros 128x128 f32", "256 B by buffer 64 f32", "scratch_test.cpp:"},
                      [](tl::Context& tl, int& line) {
                        static_cast<void>(tl.buffer({64}, DType::f32));
                        tl.load(HbmAddress(0), {1024, 256}, DType::f16);
                        tl.zeros({128, 128}, DType::f32);
                        line = __LINE__ + 1;
                        tl.load(HbmAddress(0), {512, 512}, DType::f16);
                      });
}

TEST(Scratch, TheOverflowListsTheLargestHoldersFirstAndCountsTheRest) {
  in_child([] {
    Simulation simulation(with_scratch(8192));
    const std::string message = simulation.run_failing([](tl::Context& tl) {
      std::vector<tl::Tensor> held;
      held.reserve(8);
      for (std::int64_t i = 1; i <= 8; ++i) held.push_back(tl.buffer({16 * i}, DType::f32));
      tl.zeros({8, 256}, DType::f32);
    });
    const std::size_t largest = message.find("512 B by buffer 128 f32");
    const std::size_t next = message.find("448 B by buffer 112 f32");
    EXPECT_NE(largest, std::string::npos) << message;
    EXPECT_NE(next, std::string::npos) << message;
    EXPECT_LT(largest, next) << message;
    EXPECT_NE(message.find("and 2 smaller ones"), std::string::npos) << message;  // six of eight are named
  });
}

TEST(Scratch, AnOverflowThatNobodyElseHoldsSaysSo) {
  expect_kernel_error("full", {"2097152 B", "0 of 1048576 B", "nobody"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    tl.full({1024, 512}, 0.0, DType::f32);
  });
}

TEST(Scratch, FreshTensorsAreNanUntilTheyAreWritten) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      {
        const auto scope = tl.scratch_scope();
        tl.full({4}, 3.0, DType::f32);
      }
      tl.store(HbmAddress(0), tl.buffer({4}, DType::f32));  // the same bytes; nothing of the old tensor is left
    });
    const testing::Values found = testing::get(simulation, HbmAddress(0), {4}, DType::f32);
    for (const double element : found.elements) EXPECT_NE(element, element);  // NaN
  });
}

}  // namespace
}  // namespace kernwave::scratch_test
