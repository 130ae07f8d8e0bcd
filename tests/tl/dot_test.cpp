// Matrix products: every bit defined, f32 accumulation in ascending k.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/tensors.h"

namespace kernwave::dot_test {
namespace {

using testing::compute;
using testing::eighths;
using testing::matrix_of;
using testing::nearest;
using testing::tabulate;
using testing::Values;
using Tensors = std::vector<tl::Tensor>;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sizes {
  std::int64_t m;
  std::int64_t k;
  std::int64_t n;
};

/// The definition: ((c + a0 b0) + a1 b1) + ..., every operation rounded to f32.
[[nodiscard]] Values product(const Values& a, const Values& b, const Values& c) {
  return tabulate(c.shape, DType::f32, [&](std::int64_t row, std::int64_t col) {
    auto sum = static_cast<float>(c.at(row, col));
    for (std::int64_t k = 0; k < a.shape.cols(); ++k) {
      const float term = static_cast<float>(a.at(row, k)) * static_cast<float>(b.at(k, col));
      sum = sum + term;
    }
    return double{sum};
  });
}

[[nodiscard]] Values zeros(std::int64_t rows, std::int64_t cols) {
  return tabulate({rows, cols}, DType::f32, [](std::int64_t, std::int64_t) { return 0.0; });
}

/// Inexact products and sums, so that any other order or a fused operation gives other bits.
[[nodiscard]] Values irrational(const tl::Shape& shape, DType dtype, double frequency) {
  return tabulate(shape, dtype, [=](std::int64_t row, std::int64_t col) {
    return nearest(dtype, std::sin(frequency * static_cast<double>(row * 131 + col + 1)));
  });
}

/// On, beside and across every block size that an implementation may like.
const std::vector<Sizes> shapes = {{1, 1, 1},    {3, 5, 7},    {4, 16, 8}, {5, 64, 9},
                                   {17, 33, 23}, {1, 128, 64}, {32, 2, 1}};

[[nodiscard]] std::string text(const Sizes& sizes) {
  return std::to_string(sizes.m) + " x " + std::to_string(sizes.k) + " x " + std::to_string(sizes.n);
}

TEST(Dot, AccumulatesInAscendingKInF32BitForBit) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Sizes& sizes : shapes) {
      SCOPED_TRACE(text(sizes) + " " + std::string(name_of(dtype)));
      const Values a = irrational({sizes.m, sizes.k}, dtype, 0.7);
      const Values b = irrational({sizes.k, sizes.n}, dtype, 1.3);
      EXPECT_EQ(compute({a, b}, [](tl::Context& tl, const Tensors& in) { return tl.dot(in[0], in[1]); }),
                product(a, b, zeros(sizes.m, sizes.n)));
    }
  }
}

TEST(Dot, AddsToAnAccumulatorStartingFromItsValue) {
  for (const Sizes& sizes : shapes) {
    SCOPED_TRACE(text(sizes));
    const Values a = irrational({sizes.m, sizes.k}, DType::f16, 0.3);
    const Values b = irrational({sizes.k, sizes.n}, DType::f16, 0.9);
    const Values c = irrational({sizes.m, sizes.n}, DType::f32, 2.1);
    EXPECT_EQ(compute({a, b, c},
                      [](tl::Context& tl, const Tensors& in) {
                        const auto result = tl.dot(in[0], in[1], in[2]);
                        EXPECT_EQ(result.address(), in[2].address());  // in place
                        return result;
                      }),
              product(a, b, c));
  }
}

TEST(Dot, AChainOfAccumulationsEqualsOneLongProduct) {
  const Values a = irrational({6, 48}, DType::bf16, 0.4);
  const Values b = irrational({48, 10}, DType::bf16, 0.8);
  const auto columns = [&a](std::int64_t begin, std::int64_t end) {
    return tabulate({6, end - begin}, DType::bf16,
                    [&](std::int64_t row, std::int64_t col) { return a.at(row, begin + col); });
  };
  const auto rows = [&b](std::int64_t begin, std::int64_t end) {
    return tabulate({end - begin, 10}, DType::bf16,
                    [&](std::int64_t row, std::int64_t col) { return b.at(begin + row, col); });
  };
  EXPECT_EQ(compute({columns(0, 20), rows(0, 20), columns(20, 48), rows(20, 48)},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto acc = tl.zeros({6, 10}, DType::f32);
                      tl.dot(in[0], in[1], acc);
                      return tl.dot(in[2], in[3], acc);
                    }),
            product(a, b, zeros(6, 10)));
}

TEST(Dot, TakesTransposedFactors) {
  const Values a = irrational({9, 12}, DType::f16, 0.5);
  const Values b = irrational({12, 11}, DType::f16, 1.1);
  const auto turned = [](const Values& x) {
    return tabulate({x.shape.cols(), x.shape.rows()}, x.dtype,
                    [&x](std::int64_t row, std::int64_t col) { return x.at(col, row); });
  };
  const Values expected = product(a, b, zeros(9, 11));
  EXPECT_EQ(compute({a, turned(b)}, [](tl::Context& tl, const Tensors& in) { return tl.dot(in[0], tl.trans(in[1])); }),
            expected);
  EXPECT_EQ(compute({turned(a), b}, [](tl::Context& tl, const Tensors& in) { return tl.dot(tl.trans(in[0]), in[1]); }),
            expected);
}

TEST(Dot, TakesBroadcastFactorsAndATensorTimesItself) {
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, 2, 3}}), matrix_of(DType::f32, {{1}, {10}, {100}})},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.dot(tl.broadcast_to(in[0], {2, 3}), tl.broadcast_to(in[1], {3, 2}));
                    }),
            matrix_of(DType::f32, {{321, 321}, {321, 321}}));
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, 2}, {3, 4}})},
                    [](tl::Context& tl, const Tensors& in) { return tl.dot(in[0], in[0]); }),
            matrix_of(DType::f32, {{7, 10}, {15, 22}}));
}

TEST(Dot, PutsItsResultInOutOrThroughATransposedView) {
  const Values a = eighths({3, 4}, DType::f16, 1);
  const Values b = eighths({4, 2}, DType::f16, 2);
  const Values expected = product(a, b, zeros(3, 2));
  EXPECT_EQ(compute({a, b},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto target = tl.full({3, 2}, 99.0, DType::f32);
                      tl.dot(in[0], in[1], tl::out(target));
                      return target;
                    }),
            expected);
  EXPECT_EQ(compute({a, b},
                    [](tl::Context& tl, const Tensors& in) {
                      const auto target = tl.buffer({2, 3}, DType::f32);
                      tl.dot(in[0], in[1], tl::out(tl.trans(target)));
                      return tl.trans(target);
                    }),
            expected);
}

// B17: 128 x 40 x 40 = 204800 is beyond f16 (65504) and must not be formed in it.
TEST(Dot, OfF16IsFiniteInF32WhereF16WouldOverflow) {
  const Values q = tabulate({4, 128}, DType::f16, [](std::int64_t, std::int64_t) { return 40.0; });
  EXPECT_EQ(compute({q, q}, [](tl::Context& tl, const Tensors& in) { return tl.dot(in[0], tl.trans(in[1])); }),
            tabulate({4, 4}, DType::f32, [](std::int64_t, std::int64_t) { return 204800.0; }));
  EXPECT_EQ(compute({q, q},
                    [](tl::Context& tl, const Tensors& in) {
                      return tl.dot(in[0], tl.trans(in[1])).to(DType::f16);  // what a cast before the scale does
                    }),
            tabulate({4, 4}, DType::f16, [](std::int64_t, std::int64_t) { return infinity; }));
}

TEST(Dot, ANanOrAnInfinityReachesTheElementsThatItTakesPartInAndNoOthers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compute({matrix_of(DType::f32, {{1, nan}, {infinity, 1}, {1, 1}}), matrix_of(DType::f32, {{1, 0}, {2, 3}})},
                    [](tl::Context& tl, const Tensors& in) { return tl.dot(in[0], in[1]); }),
            matrix_of(DType::f32, {{nan, nan}, {infinity, nan}, {3, 3}}));
}

}  // namespace
}  // namespace kernwave::dot_test
