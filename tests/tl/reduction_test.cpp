// Sums, maxima and minima along an axis against plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/tensors.h"

namespace kernwave::reduction_test {
namespace {

using testing::compute;
using testing::eighths;
using testing::matrix_of;
using testing::nearest;
using testing::tabulate;
using testing::Values;
using testing::vector_of;
using Tensors = std::vector<tl::Tensor>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

using Reduction = tl::Tensor (tl::Context::*)(const tl::Operand&, int, bool, const tl::Out&);

struct Case {
  const char* name;
  Reduction operation;
  float (*combine)(float, float);
};

const std::array<Case, 3> cases = {Case{"sum", &tl::Context::sum, [](float a, float b) { return a + b; }},
                                   Case{"max", &tl::Context::max, [](float a, float b) { return a > b ? a : b; }},
                                   Case{"min", &tl::Context::min, [](float a, float b) { return a < b ? a : b; }}};

/// The elements along `axis` of row or column `index`, combined in ascending order in f32, then rounded.
[[nodiscard]] double reduced(const Values& x, int axis, std::int64_t index, float (*combine)(float, float)) {
  const std::int64_t count = axis == 0 ? x.shape.rows() : x.shape.cols();
  const auto element = [&](std::int64_t i) { return static_cast<float>(axis == 0 ? x.at(i, index) : x.at(index, i)); };
  float result = element(0);
  for (std::int64_t i = 1; i < count; ++i) result = combine(result, element(i));
  return nearest(x.dtype, double{result});
}

TEST(Reduction, FloatsAlongEitherAxisWithAndWithoutTheReducedDimension) {
  for (const Case& test : cases) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const int axis : {0, 1}) {
        for (const bool keep : {false, true}) {
          SCOPED_TRACE(std::string(test.name) + " " + std::string(name_of(dtype)) + " axis " + std::to_string(axis));
          const Values x = eighths({5, 9}, dtype, 3);
          const std::int64_t left = axis == 0 ? 9 : 5;
          const tl::Shape kept = axis == 0 ? tl::Shape{1, left} : tl::Shape{left, 1};
          const Values expected =
              tabulate(keep ? kept : tl::Shape{left}, dtype,
                       [&](std::int64_t row, std::int64_t col) { return reduced(x, axis, row + col, test.combine); });
          EXPECT_EQ(compute({x}, [&](tl::Context& tl,
                                     const Tensors& in) { return (tl.*test.operation)(in[0], axis, keep, {}); }),
                    expected);
        }
      }
    }
  }
}

TEST(Reduction, AVectorBecomesOneElement) {
  const Values x = vector_of(DType::f32, {3, -1, 4, 1});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 0); }),
            vector_of(DType::f32, {7}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.max(in[0], 0, true); }),
            vector_of(DType::f32, {4}));
}

TEST(Reduction, ASingleRowOrColumnKeepsItsElements) {
  const auto keep = [](int axis) { return [axis](tl::Context& tl, const Tensors& in) { return tl.max(in[0], axis); }; };
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, 2, 3}})}, keep(0)), vector_of(DType::f32, {1, 2, 3}));
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, 2, 3}})}, keep(1)), vector_of(DType::f32, {3}));
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1}, {2}})}, keep(0)), vector_of(DType::f32, {2}));
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1}, {2}})}, keep(1)), vector_of(DType::f32, {1, 2}));
}

TEST(Reduction, SumsRunInAscendingOrderOfTheIndexInF32) {
  // 2^24 + 1 is 2^24 in f32: (2^24 + 1) + 1 + ... stays at 2^24, any other order does not.
  std::vector<double> elements(9, 1.0);
  elements[0] = 16777216.0;
  EXPECT_EQ(
      compute({vector_of(DType::f32, elements)}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 0); }),
      vector_of(DType::f32, {16777216.0}));
  std::reverse(elements.begin(), elements.end());  // the ones first: 8, then 2^24 + 8
  EXPECT_EQ(
      compute({vector_of(DType::f32, elements)}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 0); }),
      vector_of(DType::f32, {16777224.0}));
}

TEST(Reduction, SumsOfInexactNumbersEqualThePlainLoopBitForBit) {
  const Values x = tabulate({7, 300}, DType::f32, [](std::int64_t row, std::int64_t col) {
    return nearest(DType::f32, std::sin(static_cast<double>(row * 300 + col)));
  });
  for (const int axis : {0, 1}) {
    const Values expected = tabulate({axis == 0 ? 300 : 7}, DType::f32, [&](std::int64_t, std::int64_t index) {
      return reduced(x, axis, index, [](float a, float b) { return a + b; });
    });
    EXPECT_EQ(compute({x}, [axis](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], axis); }), expected);
  }
}

TEST(Reduction, HalfPrecisionIsSummedInF32AndRoundedOnce) {
  // In f16 itself the sum would stop at 2048, where 1 is half a spacing.
  EXPECT_EQ(compute({}, [](tl::Context& tl, const Tensors&) { return tl.sum(tl.full({4096}, 1.0, DType::f16), 0); }),
            vector_of(DType::f16, {4096.0}));
  // 2049 lies between 2048 and 2050: to the even one.
  EXPECT_EQ(compute({}, [](tl::Context& tl, const Tensors&) { return tl.sum(tl.full({2049}, 1.0, DType::f16), 0); }),
            vector_of(DType::f16, {2048.0}));
}

// B19
TEST(Reduction, MaxAndMinIgnoreNanUnlessAllAreNan) {
  const Values x = matrix_of(DType::f32, {{nan, 1, 2}, {-1, nan, nan}, {nan, nan, nan}, {nan, -infinity, nan}});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.max(in[0], 1); }),
            vector_of(DType::f32, {2, -1, nan, -infinity}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.min(in[0], 1); }),
            vector_of(DType::f32, {1, -1, nan, -infinity}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.max(in[0], 0); }),
            vector_of(DType::f32, {-1, 1, 2}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 1); }),
            vector_of(DType::f32, {nan, nan, nan, nan}));
}

TEST(Reduction, Int32IsExactAndSumsWrap) {
  const Values x = matrix_of(DType::int32, {{16777217, 1, -3}, {2147483647, 1, 0}});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 1); }),
            vector_of(DType::int32, {16777215, -2147483648.0}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.max(in[0], 0); }),
            vector_of(DType::int32, {2147483647, 1, 0}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.min(in[0], 0, true); }),
            matrix_of(DType::int32, {{16777217, 1, -3}}));
}

TEST(Reduction, TheSumOfBooleansCountsThem) {
  const Values x = matrix_of(DType::boolean, {{1, 0, 1}, {0, 0, 0}});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.sum(in[0], 1); }),
            vector_of(DType::int32, {2, 0}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.max(in[0], 1); }),
            vector_of(DType::boolean, {1, 0}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.min(in[0], 0); }),
            vector_of(DType::boolean, {0, 0, 0}));
}

TEST(Reduction, ViewsAreReducedAsTheyAreSeen) {
  const Values x = matrix_of(DType::f32, {{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.sum(tl.trans(in[0]), 0); }),
            vector_of(DType::f32, {6, 15}));
  EXPECT_EQ(compute({vector_of(DType::f32, {1, 2})},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.sum(tl.broadcast_to(in[0], {3, 2}), 0);
                    }),
            vector_of(DType::f32, {3, 6}));
}

TEST(Reduction, OutTakesTheResult) {
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, 2}, {3, 4}})},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto target = tl.buffer({2, 1}, DType::f32);
                      tl.sum(in[0], 1, true, tl::out(target));
                      return target;
                    }),
            matrix_of(DType::f32, {{3}, {7}}));
}

}  // namespace
}  // namespace kernwave::reduction_test
