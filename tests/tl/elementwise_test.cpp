// Elementwise operations against plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/tensors.h"

namespace kernwave::elementwise_test {
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
constexpr std::array<DType, 3> float_types = {DType::f32, DType::f16, DType::bf16};

using Binary = tl::Tensor (tl::Context::*)(const tl::Operand&, const tl::Operand&, const tl::Out&);
using Unary = tl::Tensor (tl::Context::*)(const tl::Operand&, const tl::Out&);

/// Both operands, element by element, through `reference`, rounded to `dtype`.
[[nodiscard]] Values zip(const Values& a, const Values& b, DType dtype,
                         const std::function<double(double, double)>& reference) {
  return tabulate(a.shape, dtype, [&](std::int64_t row, std::int64_t col) {
    return nearest(dtype, reference(a.at(row, col), b.at(row, col)));
  });
}

// ---- floats

struct BinaryCase {
  const char* name;
  Binary operation;
  float (*reference)(float, float);
};

const std::vector<BinaryCase> float_binaries = {
    BinaryCase{"add", &tl::Context::add, [](float a, float b) { return a + b; }},
    BinaryCase{"sub", &tl::Context::sub, [](float a, float b) { return a - b; }},
    BinaryCase{"mul", &tl::Context::mul, [](float a, float b) { return a * b; }},
    BinaryCase{"div", &tl::Context::div, [](float a, float b) { return a / b; }},
    BinaryCase{"maximum", &tl::Context::maximum, [](float a, float b) { return a > b ? a : b; }},
    BinaryCase{"minimum", &tl::Context::minimum, [](float a, float b) { return a < b ? a : b; }}};

TEST(Elementwise, FloatArithmeticIsDoneInF32AndRoundedOnce) {
  for (const BinaryCase& test : float_binaries) {
    for (const DType dtype : float_types) {
      SCOPED_TRACE(std::string(test.name) + " " + std::string(name_of(dtype)));
      const Values a = eighths({3, 37}, dtype, 1);
      const Values b = eighths({3, 37}, dtype, 2);
      const auto reference = [&test](double x, double y) {
        return double{test.reference(static_cast<float>(x), static_cast<float>(y))};
      };
      EXPECT_EQ(compute({a, b},
                        [&test](tl::Context& tl, const Tensors& in) { return (tl.*test.operation)(in[0], in[1], {}); }),
                zip(a, b, dtype, reference));
    }
  }
}

TEST(Elementwise, FmaRoundsTheProductToF32AndThenTheSum) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 lies halfway between two floats and rounds to the even 1 + 2^-11, so that nothing
  // is left of it. (An operation that rounds once would leave 2^-24.)
  EXPECT_EQ(compute({vector_of(DType::f32, {1.0 + 0x1p-12, 3.0}), vector_of(DType::f32, {1.0 + 0x1p-12, -2.0}),
                     vector_of(DType::f32, {-1.0 - 0x1p-11, 0.5})},
                    [](tl::Context& tl, const Tensors& in) { return tl.fma(in[0], in[1], in[2]); }),
            vector_of(DType::f32, {0.0, -5.5}));
  // f16: 300 x 300 = 90000 is beyond f16, yet not in f32, where the sum is formed.
  EXPECT_EQ(compute({vector_of(DType::f16, {300.0})},
                    [](tl::Context& tl, const Tensors& in) { return tl.fma(in[0], in[0], -60000.0); }),
            vector_of(DType::f16, {nearest(DType::f16, 30000.0)}));
}

TEST(Elementwise, OverflowDivisionByZeroAndNanFollowIeee) {
  EXPECT_EQ(compute({vector_of(DType::f32, {1.0, -1.0, 0.0, infinity, nan}),
                     vector_of(DType::f32, {0.0, 0.0, 0.0, infinity, 1.0})},
                    [](tl::Context&, const Tensors& in) { return in[0] / in[1]; }),
            vector_of(DType::f32, {infinity, -infinity, nan, nan, nan}));
  EXPECT_EQ(compute({vector_of(DType::f16, {60000.0, -60000.0})},
                    [](tl::Context&, const Tensors& in) { return in[0] + in[0]; }),
            vector_of(DType::f16, {infinity, -infinity}));
}

struct UnaryCase {
  const char* name;
  Unary operation;
  double (*reference)(double);
};

const std::vector<UnaryCase> float_unaries = {
    UnaryCase{"exp", &tl::Context::exp, [](double x) { return std::exp(x); }},
    UnaryCase{"exp2", &tl::Context::exp2, [](double x) { return std::exp2(x); }},
    UnaryCase{"log", &tl::Context::log, [](double x) { return std::log(x); }},
    UnaryCase{"log2", &tl::Context::log2, [](double x) { return std::log2(x); }},
    UnaryCase{"sqrt", &tl::Context::sqrt, [](double x) { return std::sqrt(x); }},
    UnaryCase{"rsqrt", &tl::Context::rsqrt, [](double x) { return 1.0 / std::sqrt(x); }},
    UnaryCase{"neg", &tl::Context::neg, [](double x) { return -x; }},
    UnaryCase{"abs", &tl::Context::abs, [](double x) { return std::abs(x); }}};

/// Half the spacing of the type's neighbours, and two f32 roundings before that.
[[nodiscard]] double relative_error(DType dtype) {
  const double rounding = dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : 0x1p-24;
  return rounding + 0x1p-23;
}

TEST(Elementwise, FunctionsAgreeWithFloat64ToTheRoundingOfTheirType) {
  for (const UnaryCase& test : float_unaries) {
    for (const DType dtype : float_types) {
      SCOPED_TRACE(std::string(test.name) + " " + std::string(name_of(dtype)));
      const Values x = tabulate({1, 64}, dtype, [](std::int64_t, std::int64_t col) {
        return 0.0625 * static_cast<double>(col + 1);  // 1/16 to 4, exact in every type
      });
      const Values result =
          compute({x}, [&test](tl::Context& tl, const Tensors& in) { return (tl.*test.operation)(in[0], {}); });
      ASSERT_EQ(result.dtype, dtype);
      ASSERT_EQ(result.elements.size(), x.elements.size());
      for (std::size_t i = 0; i < x.elements.size(); ++i) {
        const double expected = test.reference(x.elements[i]);
        EXPECT_NEAR(result.elements[i], expected, relative_error(dtype) * std::abs(expected)) << x.elements[i];
      }
    }
  }
}

TEST(Elementwise, FunctionsAtTheEdgesOfTheirDomain) {
  const auto apply = [](Unary operation, const std::vector<double>& x) {
    return compute({vector_of(DType::f32, x)},
                   [operation](tl::Context& tl, const Tensors& in) { return (tl.*operation)(in[0], {}); });
  };
  EXPECT_EQ(apply(&tl::Context::exp, {-infinity, 0.0, infinity, 200.0, nan}),
            vector_of(DType::f32, {0.0, 1.0, infinity, infinity, nan}));
  EXPECT_EQ(apply(&tl::Context::exp2, {-infinity, 3.0, 128.0, -200.0, nan}),
            vector_of(DType::f32, {0.0, 8.0, infinity, 0.0, nan}));
  EXPECT_EQ(apply(&tl::Context::log, {0.0, 1.0, infinity, -1.0, nan}),
            vector_of(DType::f32, {-infinity, 0.0, infinity, nan, nan}));
  EXPECT_EQ(apply(&tl::Context::log2, {0.0, 8.0, infinity, -1.0, nan}),
            vector_of(DType::f32, {-infinity, 3.0, infinity, nan, nan}));
  EXPECT_EQ(apply(&tl::Context::sqrt, {0.0, 9.0, infinity, -1.0, nan}),
            vector_of(DType::f32, {0.0, 3.0, infinity, nan, nan}));
  EXPECT_EQ(apply(&tl::Context::rsqrt, {0.0, 4.0, infinity, -1.0, nan}),
            vector_of(DType::f32, {infinity, 0.5, 0.0, nan, nan}));
  EXPECT_EQ(apply(&tl::Context::neg, {0.0, -infinity, nan}), vector_of(DType::f32, {-0.0, infinity, nan}));
  EXPECT_EQ(apply(&tl::Context::abs, {-0.0, -infinity, nan}), vector_of(DType::f32, {0.0, infinity, nan}));
}

// ---- NaN in maximum and minimum

// B19
TEST(Elementwise, MaximumAndMinimumIgnoreANanUnlessBothAre) {
  const Values a = vector_of(DType::f32, {nan, 1.0, nan, -infinity});
  const Values b = vector_of(DType::f32, {2.0, nan, nan, nan});
  EXPECT_EQ(compute({a, b}, [](tl::Context& tl, const Tensors& in) { return tl.maximum(in[0], in[1]); }),
            vector_of(DType::f32, {2.0, 1.0, nan, -infinity}));
  EXPECT_EQ(compute({a, b}, [](tl::Context& tl, const Tensors& in) { return tl.minimum(in[0], in[1]); }),
            vector_of(DType::f32, {2.0, 1.0, nan, -infinity}));
  EXPECT_EQ(compute({a}, [](tl::Context& tl, const Tensors& in) { return tl.maximum(in[0], 0.0F); }),
            vector_of(DType::f32, {0.0, 1.0, 0.0, 0.0}));
}

// ---- integers

const std::vector<double> integers = {7, -7, 7, -7, 0, 2147483647.0, -2147483648.0, 16777217, 100000};
const std::vector<double> others = {2, 2, -2, -2, 5, 1, 1, -16777219.0, 100000};

/// Modulo 2^32, into [-2^31, 2^31).
[[nodiscard]] double wrapped(std::int64_t value) {
  const auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
  return low < 0x80000000U ? static_cast<double>(low) : static_cast<double>(low) - 4294967296.0;
}

TEST(Elementwise, Int32ArithmeticIsExactModuloTwoToThe32) {
  const Values a = vector_of(DType::int32, integers);
  const Values b = vector_of(DType::int32, others);
  const auto expect = [&](Binary operation, const std::function<std::int64_t(std::int64_t, std::int64_t)>& reference) {
    const auto exact = [&reference](double x, double y) {
      return wrapped(reference(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)));
    };
    Values expected = a;
    for (std::size_t i = 0; i < integers.size(); ++i) expected.elements[i] = exact(integers[i], others[i]);
    EXPECT_EQ(
        compute({a, b}, [operation](tl::Context& tl, const Tensors& in) { return (tl.*operation)(in[0], in[1], {}); }),
        expected);
  };
  expect(&tl::Context::add, [](std::int64_t x, std::int64_t y) { return x + y; });
  expect(&tl::Context::sub, [](std::int64_t x, std::int64_t y) { return x - y; });
  expect(&tl::Context::mul, [](std::int64_t x, std::int64_t y) { return x * y; });
  expect(&tl::Context::maximum, [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
  expect(&tl::Context::minimum, [](std::int64_t x, std::int64_t y) { return std::min(x, y); });
}

TEST(Elementwise, FloorDivRoundsTowardsMinusInfinityAndDividingByZeroGivesZero) {
  //  7 / 2 = 3.5, -7 / 2 = -3.5, 7 / -2 = -3.5, -7 / -2 = 3.5; exact quotients stay.
  EXPECT_EQ(compute({vector_of(DType::int32, {7, -7, 7, -7, 6, -6, 0, 5, -2147483648.0}),
                     vector_of(DType::int32, {2, 2, -2, -2, -3, 3, -4, 0, 1})},
                    [](tl::Context& tl, const Tensors& in) { return tl.floor_div(in[0], in[1]); }),
            vector_of(DType::int32, {3, -4, -4, 3, -2, -2, 0, 0, -2147483648.0}));
}

TEST(Elementwise, DividingIntegersGivesF32) {
  EXPECT_EQ(
      compute({vector_of(DType::int32, {7, -1, 1, 0})}, [](tl::Context&, const Tensors& in) { return in[0] / 2; }),
      vector_of(DType::f32, {3.5, -0.5, 0.5, 0.0}));
}

TEST(Elementwise, UnaryIntegers) {
  const Values x = vector_of(DType::int32, {0, 5, -5, -2147483648.0, 2147483647.0});
  EXPECT_EQ(compute({x}, [](tl::Context&, const Tensors& in) { return -in[0]; }),
            vector_of(DType::int32, {0, -5, 5, -2147483648.0, -2147483647.0}));  // -(-2^31) wraps
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.abs(in[0]); }),
            vector_of(DType::int32, {0, 5, 5, -2147483648.0, 2147483647.0}));
}

TEST(Elementwise, IntegerFmaIsExactAndAFractionMakesItF32) {
  const Values x = vector_of(DType::int32, {16777217, -3});
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.fma(in[0], 3, in[0]); }),
            vector_of(DType::int32, {67108868, -12}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.fma(in[0], 2, 0.5); }),
            vector_of(DType::f32, {nearest(DType::f32, 2.0 * 16777216.0 + 0.5), -5.5}));
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.fma(2, 3, in[0]); }),
            vector_of(DType::int32, {16777223, 3}));
}

// ---- comparisons and logic

struct Comparison {
  const char* name;
  Binary operation;
  bool (*reference)(double, double);
};

const std::array<Comparison, 6> comparisons = {
    Comparison{"less", &tl::Context::less, [](double a, double b) { return a < b; }},
    Comparison{"less_equal", &tl::Context::less_equal, [](double a, double b) { return a <= b; }},
    Comparison{"greater", &tl::Context::greater, [](double a, double b) { return a > b; }},
    Comparison{"greater_equal", &tl::Context::greater_equal, [](double a, double b) { return a >= b; }},
    Comparison{"equal", &tl::Context::equal, [](double a, double b) { return a == b; }},
    Comparison{"not_equal", &tl::Context::not_equal, [](double a, double b) { return a != b; }}};

TEST(Elementwise, ComparisonsGiveBooleansInEveryType) {
  for (const Comparison& test : comparisons) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::int32, DType::boolean}) {
      SCOPED_TRACE(std::string(test.name) + " " + std::string(name_of(dtype)));
      const bool truth = dtype == DType::boolean;
      const Values a = vector_of(dtype, truth ? std::vector<double>{0, 0, 1, 1} : std::vector<double>{1, 2, 3, -4});
      const Values b = vector_of(dtype, truth ? std::vector<double>{0, 1, 0, 1} : std::vector<double>{1, 3, 2, 4});
      Values expected = vector_of(DType::boolean, {0, 0, 0, 0});
      for (std::size_t i = 0; i < 4; ++i) expected.elements[i] = test.reference(a.elements[i], b.elements[i]) ? 1 : 0;
      EXPECT_EQ(compute({a, b},
                        [&test](tl::Context& tl, const Tensors& in) { return (tl.*test.operation)(in[0], in[1], {}); }),
                expected);
    }
  }
}

TEST(Elementwise, ANanIsUnequalToEverythingAndInNoOrder) {
  for (const Comparison& test : comparisons) {
    SCOPED_TRACE(test.name);
    const double expected = std::string(test.name) == "not_equal" ? 1.0 : 0.0;
    EXPECT_EQ(compute({vector_of(DType::f32, {nan, nan, 1.0}), vector_of(DType::f32, {nan, 1.0, nan})},
                      [&test](tl::Context& tl, const Tensors& in) { return (tl.*test.operation)(in[0], in[1], {}); }),
              vector_of(DType::boolean, {expected, expected, expected}));
  }
}

TEST(Elementwise, LargeIntegersCompareExactly) {
  EXPECT_EQ(compute({vector_of(DType::int32, {16777216, 16777217, 2147483646})},
                    [](tl::Context&, const Tensors& in) { return in[0] < 16777217; }),
            vector_of(DType::boolean, {1, 0, 0}));
}

TEST(Elementwise, AnIntegerTensorComparesWithAFractionAndWithInfinity) {
  const Values x = vector_of(DType::int32, {-1, 0, 1});
  EXPECT_EQ(compute({x}, [](tl::Context&, const Tensors& in) { return in[0] < 0.5; }),
            vector_of(DType::boolean, {1, 1, 0}));
  EXPECT_EQ(compute({x}, [](tl::Context&, const Tensors& in) { return in[0] > -0.5; }),
            vector_of(DType::boolean, {0, 1, 1}));
  EXPECT_EQ(compute({x}, [](tl::Context&, const Tensors& in) { return in[0] < infinity; }),
            vector_of(DType::boolean, {1, 1, 1}));
}

TEST(Elementwise, LogicFollowsItsTruthTable) {
  const Values a = vector_of(DType::boolean, {0, 0, 1, 1});
  const Values b = vector_of(DType::boolean, {0, 1, 0, 1});
  EXPECT_EQ(compute({a, b}, [](tl::Context&, const Tensors& in) { return in[0] & in[1]; }),
            vector_of(DType::boolean, {0, 0, 0, 1}));
  EXPECT_EQ(compute({a, b}, [](tl::Context&, const Tensors& in) { return in[0] | in[1]; }),
            vector_of(DType::boolean, {0, 1, 1, 1}));
  EXPECT_EQ(compute({a}, [](tl::Context&, const Tensors& in) { return ~in[0]; }),
            vector_of(DType::boolean, {1, 1, 0, 0}));
}

// ---- where

TEST(Elementwise, WhereTakesEachElementFromOneSide) {
  const Values condition = vector_of(DType::boolean, {1, 0, 1, 0});
  EXPECT_EQ(compute({condition, vector_of(DType::f16, {1, 2, 3, 4}), vector_of(DType::f16, {-1, -2, -3, -4})},
                    [](tl::Context& tl, const Tensors& in) { return tl.where(in[0], in[1], in[2]); }),
            vector_of(DType::f16, {1, -2, 3, -4}));
  EXPECT_EQ(compute({condition}, [](tl::Context& tl, const Tensors& in) { return tl.where(in[0], 0, -1.0e6); }),
            vector_of(DType::f32, {0, -1.0e6, 0, -1.0e6}));
  EXPECT_EQ(compute({condition}, [](tl::Context& tl, const Tensors& in) { return tl.where(in[0], 7, 16777217); }),
            vector_of(DType::int32, {7, 16777217, 7, 16777217}));
  EXPECT_EQ(compute({condition}, [](tl::Context& tl, const Tensors& in) { return tl.where(in[0], in[0], 1); }),
            vector_of(DType::boolean, {1, 1, 1, 1}));
}

TEST(Elementwise, WhereEvaluatesBothSidesAndTheOneNotTakenLeavesNoTrace) {
  // 1 / 0 is evaluated, and infinite, where it is not taken; so is a NaN.
  EXPECT_EQ(compute({vector_of(DType::f32, {0.0, 4.0, nan})},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto usable = in[0] > 0.0F;
                      return tl.where(usable, 1.0F / in[0], 0.0F);
                    }),
            vector_of(DType::f32, {0.0, 0.25, 0.0}));
}

// ---- broadcasting

TEST(Elementwise, ShapesBroadcastAsInNumPy) {
  const Values column = matrix_of(DType::f32, {{10}, {20}});
  const Values row = matrix_of(DType::f32, {{1, 2, 3}});
  const Values vector = vector_of(DType::f32, {1, 2, 3});
  const Values one = vector_of(DType::f32, {100});
  const Values matrix = matrix_of(DType::f32, {{1, 2, 3}, {4, 5, 6}});
  const auto sum = [](tl::Context&, const Tensors& in) { return in[0] + in[1]; };
  EXPECT_EQ(compute({column, row}, sum), matrix_of(DType::f32, {{11, 12, 13}, {21, 22, 23}}));
  EXPECT_EQ(compute({row, column}, sum), matrix_of(DType::f32, {{11, 12, 13}, {21, 22, 23}}));
  EXPECT_EQ(compute({column, matrix}, sum), matrix_of(DType::f32, {{11, 12, 13}, {24, 25, 26}}));
  EXPECT_EQ(compute({matrix, vector}, sum), matrix_of(DType::f32, {{2, 4, 6}, {5, 7, 9}}));  // a vector is a row
  EXPECT_EQ(compute({vector, column}, sum), matrix_of(DType::f32, {{11, 12, 13}, {21, 22, 23}}));
  EXPECT_EQ(compute({one, matrix}, sum), matrix_of(DType::f32, {{101, 102, 103}, {104, 105, 106}}));
  EXPECT_EQ(compute({one, vector}, sum), vector_of(DType::f32, {101, 102, 103}));
}

TEST(Elementwise, ThreeOperandsBroadcastTogether) {
  EXPECT_EQ(
      compute({matrix_of(DType::boolean, {{1}, {0}}), matrix_of(DType::f32, {{1, 2}}), vector_of(DType::f32, {-5})},
              [](tl::Context& tl, const Tensors& in) { return tl.where(in[0], in[1], in[2]); }),
      matrix_of(DType::f32, {{1, 2}, {-5, -5}}));
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1}, {2}}), matrix_of(DType::f32, {{10, 20}})},
                    [](tl::Context& tl, const Tensors& in) { return tl.fma(in[0], in[1], in[1]); }),
            matrix_of(DType::f32, {{20, 40}, {30, 60}}));
}

// ---- numbers on either side

TEST(Elementwise, ANumberStandsOnEitherSideOfEveryOperator) {
  const Values x = vector_of(DType::f32, {1.0, 4.0});
  const auto expect = [&x](const testing::Computation& computation, DType dtype, const std::vector<double>& expected) {
    EXPECT_EQ(compute({x}, computation), vector_of(dtype, expected));
  };
  expect([](tl::Context&, const Tensors& in) { return in[0] + 2; }, DType::f32, {3, 6});
  expect([](tl::Context&, const Tensors& in) { return 2 + in[0]; }, DType::f32, {3, 6});
  expect([](tl::Context&, const Tensors& in) { return in[0] - 2; }, DType::f32, {-1, 2});
  expect([](tl::Context&, const Tensors& in) { return 2 - in[0]; }, DType::f32, {1, -2});
  expect([](tl::Context&, const Tensors& in) { return 2.5 * in[0]; }, DType::f32, {2.5, 10});
  expect([](tl::Context&, const Tensors& in) { return in[0] / 2; }, DType::f32, {0.5, 2});
  expect([](tl::Context&, const Tensors& in) { return 2 / in[0]; }, DType::f32, {2, 0.5});
  expect([](tl::Context&, const Tensors& in) { return 2 < in[0]; }, DType::boolean, {0, 1});
  expect([](tl::Context&, const Tensors& in) { return in[0] < 2; }, DType::boolean, {1, 0});
  expect([](tl::Context&, const Tensors& in) { return 4 <= in[0]; }, DType::boolean, {0, 1});
  expect([](tl::Context&, const Tensors& in) { return 2 > in[0]; }, DType::boolean, {1, 0});
  expect([](tl::Context&, const Tensors& in) { return 1 >= in[0]; }, DType::boolean, {1, 0});
  expect([](tl::Context&, const Tensors& in) { return 4.0F == in[0]; }, DType::boolean, {0, 1});
  expect([](tl::Context&, const Tensors& in) { return in[0] != 4; }, DType::boolean, {1, 0});
  expect([](tl::Context& tl, const Tensors& in) { return tl.maximum(2.0F, in[0]); }, DType::f32, {2, 4});
}

// ---- types of results

TEST(Elementwise, MixedTypesPromoteToTheWiderOne) {
  const auto type_of_sum = [](DType a, DType b) {
    return compute({vector_of(a, {1}), vector_of(b, {1})},
                   [](tl::Context&, const Tensors& in) { return in[0] + in[1]; })
        .dtype;
  };
  EXPECT_EQ(type_of_sum(DType::f32, DType::f16), DType::f32);
  EXPECT_EQ(type_of_sum(DType::bf16, DType::f32), DType::f32);
  EXPECT_EQ(type_of_sum(DType::f16, DType::bf16), DType::f32);  // neither holds the other
  EXPECT_EQ(type_of_sum(DType::f16, DType::f16), DType::f16);
  EXPECT_EQ(type_of_sum(DType::int32, DType::f16), DType::f16);
  EXPECT_EQ(type_of_sum(DType::bf16, DType::int32), DType::bf16);
  EXPECT_EQ(type_of_sum(DType::boolean, DType::int32), DType::int32);
  EXPECT_EQ(type_of_sum(DType::f16, DType::boolean), DType::f16);
}

TEST(Elementwise, ANumberTakesTheTensorsType) {
  const auto type_of = [](DType dtype, const testing::Computation& computation) {
    return compute({vector_of(dtype, {1})}, computation).dtype;
  };
  const testing::Computation times_fraction = [](tl::Context&, const Tensors& in) { return in[0] * 0.5; };
  const testing::Computation plus_one = [](tl::Context&, const Tensors& in) { return in[0] + 1; };
  EXPECT_EQ(type_of(DType::f16, times_fraction), DType::f16);
  EXPECT_EQ(type_of(DType::bf16, plus_one), DType::bf16);
  EXPECT_EQ(type_of(DType::int32, plus_one), DType::int32);
  EXPECT_EQ(type_of(DType::int32, times_fraction), DType::f32);  // a fraction with integers
}

TEST(Elementwise, MixedTypesComputeInF32) {
  // 1 + 2^-9 in f16 and 1 + 2^-7 in bf16: the sum needs more bits than either has.
  EXPECT_EQ(compute({vector_of(DType::f16, {1.0 + 0x1p-9}), vector_of(DType::bf16, {1.0 + 0x1p-7})},
                    [](tl::Context&, const Tensors& in) { return in[0] + in[1]; }),
            vector_of(DType::f32, {2.0 + 0x1p-9 + 0x1p-7}));
}

// ---- all of them

TEST(MathOperations, AreEachTestedByTheirValues) {
  // Those that have tests of their own, here, in reduction_test.cpp and in types_test.cpp.
  std::set<std::string_view> tested = {"floor_div", "fma",  "logical_and", "logical_or", "logical_not", "where", "cast",
                                       "copy",      "fill", "arange",      "sum",        "max",         "min"};
  for (const BinaryCase& test : float_binaries) tested.insert(test.name);
  for (const UnaryCase& test : float_unaries) tested.insert(test.name);
  for (const Comparison& test : comparisons) tested.insert(test.name);
  for (const MathOperation& operation : math_operations) {
    EXPECT_EQ(tested.erase(operation.name), 1U) << operation.name << " is not tested: give it a case above";
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin() << " is no operation";
}

// ---- out=

TEST(Elementwise, OutPutsTheResultInATensorThatExists) {
  const Values x = matrix_of(DType::f32, {{1, 2}, {3, 4}});
  // in place
  EXPECT_EQ(compute({x}, [](tl::Context& tl, const Tensors& in) { return tl.mul(in[0], 2.0F, tl::out(in[0])); }),
            matrix_of(DType::f32, {{2, 4}, {6, 8}}));
  // into another tensor, which is returned
  EXPECT_EQ(compute({x},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto target = tl.buffer({2, 2}, DType::f32);
                      const auto result = tl.add(in[0], in[0], tl::out(target));
                      EXPECT_EQ(result.address(), target.address());
                      return target;
                    }),
            matrix_of(DType::f32, {{2, 4}, {6, 8}}));
  // through a transposed view
  EXPECT_EQ(compute({x},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto target = tl.buffer({2, 2}, DType::f32);
                      tl.add(in[0], 0.0F, tl::out(tl.trans(target)));
                      return target;
                    }),
            matrix_of(DType::f32, {{1, 3}, {2, 4}}));
}

TEST(Elementwise, CopyToOverwritesATensorThatOutlivesTheScope) {
  EXPECT_EQ(compute({vector_of(DType::bf16, {1, 2, 3})},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto persistent = tl.zeros({3}, DType::bf16);
                      {
                        const auto scope = tl.scratch_scope();
                        tl.copy_to(persistent, in[0] + in[0]);
                      }
                      return persistent;
                    }),
            vector_of(DType::bf16, {2, 4, 6}));
}

}  // namespace
}  // namespace kernwave::elementwise_test
