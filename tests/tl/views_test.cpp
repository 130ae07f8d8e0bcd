// Views: other ways to look at the same bytes, without an operation and without time.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::views_test {
namespace {

using testing::compute;
using testing::in_child;
using testing::matrix_of;
using testing::Simulation;
using testing::Values;
using testing::vector_of;
using Tensors = std::vector<tl::Tensor>;

TEST(Views, TransTurnsRowsIntoColumns) {
  const Values x = matrix_of(DType::f16, {{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.trans(in[0]); }),
            matrix_of(DType::f16, {{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.trans(tl.trans(in[0])); }), x);
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.trans(in[0]) * 2; }),
            matrix_of(DType::f16, {{2, 8}, {4, 10}, {6, 12}}));
}

TEST(Views, BroadcastToRepeatsADimensionOfOneElement) {
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1}, {2}})},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.broadcast_to(in[0], {2, 3});
                    }),
            matrix_of(DType::f32, {{1, 1, 1}, {2, 2, 2}}));
  EXPECT_EQ(compute({vector_of(DType::f32, {1, 2})},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.broadcast_to(in[0], {3, 2});
                    }),
            matrix_of(DType::f32, {{1, 2}, {1, 2}, {1, 2}}));
  EXPECT_EQ(compute({vector_of(DType::int32, {7})},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.broadcast_to(in[0], {2, 2});
                    }),
            matrix_of(DType::int32, {{7, 7}, {7, 7}}));
  EXPECT_EQ(compute({vector_of(DType::f32, {1, 2})},
                    [](tl::Context& tl, const Tensors& in) { return tl.broadcast_to(in[0], {2}); }),
            vector_of(DType::f32, {1, 2}));
}

TEST(Views, ExpandDimsMakesARowOrAColumnOfAVector) {
  const Values x = vector_of(DType::int32, {1, 2, 3});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.expand_dims(in[0], 0); }),
            matrix_of(DType::int32, {{1, 2, 3}}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.expand_dims(in[0], 1); }),
            matrix_of(DType::int32, {{1}, {2}, {3}}));
  // The tutorial's idiom: offs_m[:, None] >= offs_n[None, :].
  EXPECT_EQ(compute({},
                    [](tl::Context& tl, const Tensors&) {
                      const auto offsets = tl.arange(0, 3);
                      return tl.expand_dims(offsets, 1) >= tl.expand_dims(offsets, 0);
                    }),
            matrix_of(DType::boolean, {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}));
}

TEST(Views, ReshapeKeepsTheRowMajorOrder) {
  const Values x = matrix_of(DType::f32, {{1, 2, 3}, {4, 5, 6}});
  const auto reshaped = [&x](const tl::Shape& shape) {
    return compute({x}, [&shape](tl::Context& tl, const Tensors& in) { return tl.reshape(in[0], shape); });
  };
  EXPECT_EQ(reshaped({3, 2}), matrix_of(DType::f32, {{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(reshaped({6}), vector_of(DType::f32, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reshaped({6, 1}), matrix_of(DType::f32, {{1}, {2}, {3}, {4}, {5}, {6}}));
  EXPECT_EQ(reshaped({1, 6}), matrix_of(DType::f32, {{1, 2, 3, 4, 5, 6}}));
}

TEST(Views, ADenseViewOfAViewMayBeReshaped) {
  EXPECT_EQ(compute({vector_of(DType::f32, {1, 2, 3, 4})},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto column = tl.trans(tl.reshape(in[0], {1, 4}));  // 4 x 1: still dense
                      return tl.reshape(column, {2, 2});
                    }),
            matrix_of(DType::f32, {{1, 2}, {3, 4}}));
}

TEST(Views, ShareTheirBytesAndSeeLaterWrites) {
  EXPECT_EQ(compute({},
                    [](tl::Context& tl, const Tensors&) {
                      const auto x = tl.zeros({2, 3}, DType::f32);
                      const auto view = tl.trans(x);
                      EXPECT_EQ(view.address(), x.address());
                      tl.add(tl.expand_dims(tl.arange(0, 3), 1), tl.broadcast_to(tl.zeros({1}, DType::f32), {3, 2}),
                             tl::out(view));
                      return x;
                    }),
            matrix_of(DType::f32, {{0, 1, 2}, {0, 1, 2}}));
}

TEST(Views, CostNoOperationAndNoTime) {
  in_child([] {
    Simulation simulation;
    simulation.run([](tl::Context& tl) {
      const auto x = tl.zeros({4, 8}, DType::f32);
      const Bytes used = tl.scratch_used();
      const auto turned = tl.trans(x);
      const auto flat = tl.reshape(x, {32});
      const auto column = tl.expand_dims(flat, 1);
      const auto wide = tl.broadcast_to(column, {32, 5});
      EXPECT_EQ(wide.shape(), (tl::Shape{32, 5}));
      EXPECT_EQ(wide.stride(1), 0);
      EXPECT_EQ(turned.stride(0), 1);
      EXPECT_EQ(turned.stride(1), 8);
      EXPECT_EQ(tl.scratch_used(), used);
    });
    // The fill alone: issue 2, dispatch 2 and one vector of 256 lanes, at 1 GHz.
    EXPECT_EQ(simulation.rows().size(), 1U);
    EXPECT_EQ(simulation.latency(), Picoseconds(5000));
  });
}

TEST(Views, WaitForThePendingLoadOfTheirTensor) {
  in_child([] {
    Simulation simulation;
    testing::put(simulation, HbmAddress(0), matrix_of(DType::f32, {{1, 2}, {3, 4}}));
    simulation.run([](tl::Context& tl) {
      const auto view = tl.trans(tl.load(HbmAddress(0), {2, 2}, DType::f32));
      tl.store(HbmAddress(4096), view + view);
    });
    EXPECT_EQ(testing::get(simulation, HbmAddress(4096), {2, 2}, DType::f32), matrix_of(DType::f32, {{2, 6}, {4, 8}}));
    EXPECT_GT(simulation.time(TimeCause::load), Picoseconds(0));
  });
}

}  // namespace
}  // namespace kernwave::views_test
