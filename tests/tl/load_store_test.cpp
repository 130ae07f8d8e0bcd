// Loads and stores: shapes, strides, valid parts, what fills the rest, tensor descriptors.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::load_store_test {
namespace {

using testing::eighths;
using testing::get;
using testing::in_child;
using testing::in_child_for_each_policy;
using testing::matrix_of;
using testing::put;
using testing::Simulation;
using testing::tabulate;
using testing::Values;
using testing::vector_of;

constexpr HbmAddress source(1 << 20);
constexpr HbmAddress target(2 << 20);
const double nan = std::numeric_limits<double>::quiet_NaN();

/// Row r, column c holds 100 r + c: exact in every type but bool.
[[nodiscard]] Values numbered(const tl::Shape& shape, DType dtype) {
  return tabulate(shape, dtype,
                  [](std::int64_t row, std::int64_t col) { return static_cast<double>(100 * row + col); });
}

using Kernel = std::function<void(tl::Context&)>;

/// The tensor at `target` after a kernel has run on `memory` at `source`.
void expect_target(const Values& memory, const Kernel& kernel, const Values& expected) {
  in_child([&] {
    Simulation simulation;
    put(simulation, source, memory);
    simulation.run(kernel);
    EXPECT_EQ(get(simulation, target, expected.shape, expected.dtype), expected);
  });
}

// ---- loads

TEST(Load, BringsEveryTypeAndShapeUnchanged) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::int32}) {
    for (const tl::Shape& shape : {tl::Shape{1}, tl::Shape{77}, tl::Shape{1, 5}, tl::Shape{5, 1}, tl::Shape{3, 33}}) {
      SCOPED_TRACE(to_string(shape) + " " + std::string(name_of(dtype)));
      const Values x = dtype == DType::int32 ? numbered(shape, dtype) : eighths(shape, dtype, 5);
      expect_target(
          x, [&](tl::Context& tl) { tl.store(target, tl.load(source, shape, dtype)); }, x);
    }
  }
  const Values truth = vector_of(DType::boolean, {1, 0, 0, 1, 1});
  expect_target(
      truth, [](tl::Context& tl) { tl.store(target, tl.load(source, {5}, DType::boolean)); }, truth);
}

TEST(Load, OfAMatrixWithAStrideTakesTheLeadingColumnsOfWiderRows) {
  expect_target(
      numbered({3, 10}, DType::int32),
      [](tl::Context& tl) {
        tl.store(target, tl.load(source, {3, 4}, DType::int32, tl::LoadOptions().strides(10)));
      },
      matrix_of(DType::int32, {{0, 1, 2, 3}, {100, 101, 102, 103}, {200, 201, 202, 203}}));
}

TEST(Load, OfAMatrixWithStrideZeroRepeatsOneRow) {
  expect_target(
      vector_of(DType::f32, {1, 2, 3}),
      [](tl::Context& tl) {
        tl.store(target, tl.load(source, {2, 3}, DType::f32, tl::LoadOptions().strides(0)));
      },
      matrix_of(DType::f32, {{1, 2, 3}, {1, 2, 3}}));
}

TEST(Load, OfAVectorWithAStrideTakesEveryNthElement) {
  for (const DType dtype : {DType::f32, DType::f16}) {
    expect_target(
        tabulate({16}, dtype, [](std::int64_t, std::int64_t i) { return static_cast<double>(i); }),
        [dtype](tl::Context& tl) { tl.store(target, tl.load(source, {5}, dtype, tl::LoadOptions().strides(3))); },
        vector_of(dtype, {0, 3, 6, 9, 12}));
  }
}

TEST(Load, OfAValidPartFillsTheRestWithOther) {
  // B19: what stands outside the valid part is `other`.
  expect_target(
      numbered({2, 3}, DType::f16),
      [](tl::Context& tl) {
        const auto options = tl::LoadOptions().strides(3).valid({2, 3}).other(-1.5F);
        tl.store(target, tl.load(source, {3, 4}, DType::f16, options));
      },
      matrix_of(DType::f16, {{0, 1, 2, -1.5}, {100, 101, 102, -1.5}, {-1.5, -1.5, -1.5, -1.5}}));
  expect_target(
      vector_of(DType::int32, {7, 8}),
      [](tl::Context& tl) {
        tl.store(target, tl.load(source, {4}, DType::int32, tl::LoadOptions().valid({2}).other(0.0F)));
      },
      vector_of(DType::int32, {7, 8, 0, 0}));
  expect_target(
      vector_of(DType::f32, {1, -1, 2, -1, 3}),
      [](tl::Context& tl) {
        const auto options = tl::LoadOptions().strides(2).valid({3}).other(9.0F);
        tl.store(target, tl.load(source, {5}, DType::f32, options));
      },
      vector_of(DType::f32, {1, 2, 3, 9, 9}));
}

TEST(Load, OfNothingIsAllOther) {
  const auto expect_sevens = [](const tl::Shape& valid) {
    SCOPED_TRACE(to_string(valid));
    expect_target(
        numbered({2, 2}, DType::f32),
        [&valid](tl::Context& tl) {
          const auto options = tl::LoadOptions().valid(valid).other(7.0F);
          tl.store(target, tl.load(source, {2, 2}, DType::f32, options));
        },
        matrix_of(DType::f32, {{7, 7}, {7, 7}}));
  };
  expect_sevens({0, 2});
  expect_sevens({2, 0});
  expect_sevens({0, 0});
}

TEST(Load, WithoutOtherPoisonsWhatIsNotValidAndUsingItShows) {
  // B19: without `other` the rest is NaN; a sum over it is NaN, a maximum ignores it.
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const auto load = [dtype](tl::Context& tl) {
      return tl.load(source, {2, 4}, dtype, tl::LoadOptions().valid({1, 3}));
    };
    const Values memory = vector_of(dtype, {1, 2, 3, 4});
    expect_target(
        memory, [&](tl::Context& tl) { tl.store(target, load(tl)); },
        matrix_of(dtype, {{1, 2, 3, nan}, {nan, nan, nan, nan}}));
    expect_target(
        memory, [&](tl::Context& tl) { tl.store(target, tl.sum(load(tl), 1)); }, vector_of(dtype, {nan, nan}));
    expect_target(
        memory, [&](tl::Context& tl) { tl.store(target, tl.max(load(tl), 1)); }, vector_of(dtype, {3, nan}));
  }
  // int32 has no NaN: a large odd number, documented in tensor_bytes.h, that no sum hides.
  expect_target(
      vector_of(DType::int32, {5, 6}),
      [](tl::Context& tl) { tl.store(target, tl.load(source, {3}, DType::int32, tl::LoadOptions().valid({2}))); },
      vector_of(DType::int32, {5, 6, 0x7FBADBAD}));
}

TEST(Load, IntoATensorReturnsThatTensorAndLeavesNothingOfTheOldOne) {
  expect_target(
      vector_of(DType::f32, {1, 2, 3, 4}),
      [](tl::Context& tl) {
        const auto buffer = tl.full({2, 3}, 55.0, DType::f32);
        const auto loaded = tl.load(source, {2, 3}, DType::f32, tl::into(buffer).valid({1, 2}));
        EXPECT_EQ(loaded.address(), buffer.address());
        tl.store(target, buffer);
      },
      matrix_of(DType::f32, {{1, 2, nan}, {nan, nan, nan}}));
}

TEST(Load, IntoAViewThatIsDense) {
  expect_target(
      vector_of(DType::f32, {1, 2, 3, 4}),
      [](tl::Context& tl) {
        const auto buffer = tl.buffer({4}, DType::f32);
        tl.load(source, {2, 2}, DType::f32, tl::into(tl.reshape(buffer, {2, 2})));
        tl.store(target, buffer);  // sees the load through the view
      },
      vector_of(DType::f32, {1, 2, 3, 4}));
}

// ---- stores

/// What `kernel` leaves of an area of 8 x 8 that held 1, 2, 3, ... before.
void expect_area(const Kernel& kernel,
                 const std::function<double(std::int64_t row, std::int64_t col, double old)>& now) {
  const auto old = [](std::int64_t row, std::int64_t col) { return static_cast<double>(8 * row + col + 1); };
  in_child([&] {
    Simulation simulation;
    put(simulation, target, tabulate({8, 8}, DType::int32, old));
    simulation.run(kernel);
    EXPECT_EQ(get(simulation, target, {8, 8}, DType::int32),
              tabulate({8, 8}, DType::int32,
                       [&](std::int64_t row, std::int64_t col) { return now(row, col, old(row, col)); }));
  });
}

TEST(Store, WithAStrideTouchesOnlyItsRows) {
  expect_area(
      [](tl::Context& tl) {
        tl.store(target, tl.full({3, 4}, -1.0, DType::int32), tl::StoreOptions().strides(8));
      },
      [](std::int64_t row, std::int64_t col, double old) { return row < 3 && col < 4 ? -1.0 : old; });
}

TEST(Store, OfAValidPartTouchesNothingElse) {
  for (const tl::Shape& valid :
       {tl::Shape{2, 3}, tl::Shape{4, 4}, tl::Shape{1, 4}, tl::Shape{4, 1}, tl::Shape{0, 4}, tl::Shape{4, 0}}) {
    SCOPED_TRACE(to_string(valid));
    expect_area(
        [&valid](tl::Context& tl) {
          tl.store(target, tl.full({4, 4}, -1.0, DType::int32), tl::StoreOptions().strides(8).valid(valid));
        },
        [&valid](std::int64_t row, std::int64_t col, double old) {
          return row < valid[0] && col < valid[1] ? -1.0 : old;
        });
  }
}

TEST(Store, OfAVectorWithAStrideTouchesEveryNthElement) {
  expect_area([](tl::Context& tl) { tl.store(target, tl.arange(-5, -1), tl::StoreOptions().strides(9).valid({3})); },
              [](std::int64_t row, std::int64_t col, double old) {
                return row == col && row < 3 ? static_cast<double>(row) - 5.0 : old;
              });
}

TEST(Store, OfViewsWritesWhatTheyShow) {
  const Values x = matrix_of(DType::f16, {{1, 2, 3}, {4, 5, 6}});
  const auto load = [](tl::Context& tl) { return tl.load(source, {2, 3}, DType::f16); };
  expect_target(
      x, [&](tl::Context& tl) { tl.store(target, tl.trans(load(tl))); },
      matrix_of(DType::f16, {{1, 4}, {2, 5}, {3, 6}}));
  expect_target(
      x,
      [&](tl::Context& tl) {
        tl.store(target, tl.trans(load(tl)), tl::StoreOptions().strides(4).valid({3, 1}));
      },
      matrix_of(DType::f16, {{1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}}));
  expect_target(
      vector_of(DType::f16, {8, 9}),
      [](tl::Context& tl) {
        const auto row = tl.load(source, {2}, DType::f16);
        tl.store(target, tl.broadcast_to(row, {3, 2}));
      },
      matrix_of(DType::f16, {{8, 9}, {8, 9}, {8, 9}}));
}

TEST(Store, WritesTheTensorsOwnType) {
  expect_target(
      vector_of(DType::f32, {1.0 + 0x1p-11, -3.0}),
      [](tl::Context& tl) { tl.store(target, tl.load(source, {2}, DType::f32).to(DType::f16)); },
      vector_of(DType::f16, {1.0, -3.0}));
}

// ---- tensor descriptors

/// A matrix of 5 x 6 in rows of 8, in blocks of 4 x 4.
[[nodiscard]] tl::TensorDescriptor five_by_six(tl::Context& tl, HbmAddress base) {
  return tl.make_tensor_descriptor(base, {5, 6}, {8, 1}, {4, 4}, DType::int32);
}

TEST(TensorDescriptor, LoadsABlockWithZeroesOutsideTheMatrix) {
  struct Case {
    std::array<std::int64_t, 2> offset;
    Values expected;
  };
  const std::vector<Case> cases = {
      {{0, 0},
       matrix_of(DType::int32, {{0, 1, 2, 3}, {100, 101, 102, 103}, {200, 201, 202, 203}, {300, 301, 302, 303}})},
      {{1, 2},
       matrix_of(DType::int32,
                 {{102, 103, 104, 105}, {202, 203, 204, 205}, {302, 303, 304, 305}, {402, 403, 404, 405}})},
      // Columns 6 and 7 exist in memory, but not in the matrix.
      {{4, 4}, matrix_of(DType::int32, {{404, 405, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}})},
      {{5, 0}, matrix_of(DType::int32, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}})},
      {{0, 64}, matrix_of(DType::int32, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}})},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE("offset " + std::to_string(test.offset[0]) + ", " + std::to_string(test.offset[1]));
    expect_target(
        numbered({8, 8}, DType::int32),
        [&test](tl::Context& tl) { tl.store(target, five_by_six(tl, source).load(test.offset)); }, test.expected);
  }
}

TEST(TensorDescriptor, StoresThePartOfABlockThatLiesInside) {
  for (const std::array<std::int64_t, 2> offset :
       std::vector<std::array<std::int64_t, 2>>{{0, 0}, {3, 4}, {4, 2}, {5, 0}}) {
    SCOPED_TRACE("offset " + std::to_string(offset[0]) + ", " + std::to_string(offset[1]));
    expect_area(
        [&offset](tl::Context& tl) {
          five_by_six(tl, target).store(offset, tl.full({4, 4}, -1.0, DType::int32));
        },
        [&offset](std::int64_t row, std::int64_t col, double old) {
          const bool in_block = row >= offset[0] && row < offset[0] + 4 && col >= offset[1] && col < offset[1] + 4;
          return in_block && row < 5 && col < 6 ? -1.0 : old;
        });
  }
}

// ---- what is logged

TEST(Load, IsLoggedAsExactlyOneReadInEveryPolicy) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [](tl::Context& tl) {
          const auto buffer = tl.buffer({4, 4}, DType::int32);
          const auto matrix = five_by_six(tl, source);
          tl.load(source, {4, 4}, DType::int32);                                     // never used
          tl.load(source, {4, 4}, DType::int32, tl::LoadOptions().strides(8));       // strided
          tl.load(source, {100}, DType::int32, tl::LoadOptions().strides(2));        // a hundred single elements
          tl.load(source, {4, 4}, DType::int32, tl::into(buffer));                   // into a tensor
          tl.load(source, {4, 4}, DType::int32, tl::LoadOptions().valid({0, 4}));    // of nothing
          tl.load(source, {4, 4}, DType::int32, tl::LoadOptions().valid({2, 3}));    // of a part
          const auto block = matrix.load({4, 4});                                    // through a descriptor
          tl.store(target, tl.load(source, {4, 4}, DType::int32) + block + buffer);  // used at once
          tl.store(target, buffer, tl::StoreOptions().valid({0, 0}));
        },
        policy);
    EXPECT_EQ(simulation.count(Engine::dma_read), 8);
    EXPECT_EQ(simulation.count(Engine::dma_write), 2);
    EXPECT_EQ(simulation.count(Engine::math), 2);
    for (const auto& row : simulation.rows()) {
      if (row.descriptor.engine != Engine::dma_read) continue;
      EXPECT_EQ(category_of(row.descriptor), "memory");
      EXPECT_EQ(name_of(row.descriptor), "dma_read");
    }
  });
}

TEST(Load, CountsTheBytesThatMove) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      tl.load(source, {4, 4}, DType::f16, tl::LoadOptions().strides(32).valid({3, 2}));
    });
    ASSERT_EQ(simulation.rows().size(), 1U);
    EXPECT_EQ(transferred_bytes(simulation.rows()[0].descriptor), Bytes(12));  // 3 rows of 2 elements of 2 bytes
  });
}

}  // namespace
}  // namespace kernwave::load_store_test
