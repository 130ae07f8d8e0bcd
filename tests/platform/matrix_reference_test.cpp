// What a matrix product should be: values and bounds by hand, and the pinned order of its sums.
#include "platform/workload/matrix_reference.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "platform/workload/random_data.h"

namespace kernwave::platform::matrix_reference_test {
namespace {

TEST(MatrixReference, IsTheProductAndTheSumOfMagnitudesTimesTheRoundings) {
  // Row (1, -2) times columns (3, 4) and (5, -6): 3 - 8 and 5 + 12; |a||b|: 11 and 17. k = 2: three roundings of 2^-24.
  const ExpectedOutput expected = matrix_reference({1, 2, 2, DType::f16}, {1.0F, -2.0F}, {3.0F, 5.0F, 4.0F, -6.0F});
  EXPECT_EQ(expected.values, (std::vector<double>{-5.0, 17.0}));
  EXPECT_DOUBLE_EQ(expected.bounds[0], 3 * 0x1p-24 * 11.0);
  EXPECT_DOUBLE_EQ(expected.bounds[1], 3 * 0x1p-24 * 17.0);
  EXPECT_EQ(expected.dtype, DType::f16);
}

/// A product of f32 may underflow by half the spacing of subnormals; a sum of zeros is exact.
TEST(MatrixReference, AllowsForUnderflowOfProductsThatAreNotZero) {
  EXPECT_GE(matrix_reference({1, 1, 1, DType::f32}, {0x1p-100F}, {0x1p-100F}).bounds[0], 0x1p-150);
  EXPECT_EQ(matrix_reference({1, 1, 1, DType::f32}, {0.0F}, {1.0F}).bounds[0], 0.0);
}

/// 1 + 2^-24 + 2^-24 is 1 in f32 from the left, 1 + 2^-23 from the right.
TEST(PinnedProduct, SumsWithKAscendingInF32) {
  EXPECT_EQ(pinned_product({1, 1, 3, DType::f32}, {1.0F, 0x1p-24F, 0x1p-24F}, {1.0F, 1.0F, 1.0F})[0], 1.0F);
  EXPECT_EQ(pinned_product({1, 1, 3, DType::f32}, {0x1p-24F, 0x1p-24F, 1.0F}, {1.0F, 1.0F, 1.0F})[0], 1.0F + 0x1p-23F);
}

/// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: f32 drops the last term before -(1 + 2^-11) is added; a fused sum would keep it.
TEST(PinnedProduct, RoundsProductAndSumEach) {
  const float factor = 1.0F + 0x1p-12F;
  EXPECT_EQ(pinned_product({1, 1, 2, DType::f32}, {factor, 1.0F}, {factor, -1.0F - 0x1p-11F})[0], 0.0F);
}

/// 1 + 2^-11 is the middle between two numbers of f16; 2^-24 above it no longer is, if it is rounded once.
TEST(PinnedProduct, RoundsOnceToTheType) {
  EXPECT_EQ(pinned_product({1, 1, 2, DType::f16}, {1.0F, 1.0F}, {1.0F, 0x1p-11F})[0], 1.0F);
  EXPECT_EQ(pinned_product({1, 1, 2, DType::f16}, {1.0F, 1.0F}, {1.0F, 0x1p-11F + 0x1p-20F})[0], 1.0F + 0x1p-10F);
  EXPECT_EQ(pinned_product({1, 1, 1, DType::f16}, {300.0F}, {300.0F})[0], std::numeric_limits<float>::infinity());
}

/// The two agree as far as the bound says, for every depth.
TEST(PinnedProduct, LiesWithinTheBoundOfTheReference) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const std::int64_t k : {1, 2, 3, 17, 256, 5000}) {
      const MatrixProblem problem{7, 5, k, dtype};
      const std::vector<float> a = RandomTensor(1, 0).values(0, 7 * k, dtype);
      const std::vector<float> b = RandomTensor(1, 1).values(0, k * 5, dtype);
      const std::vector<float> product = pinned_product(problem, a, b);
      EXPECT_TRUE(numeric_error(product, matrix_reference(problem, a, b), 5).is_right()) << name_of(dtype) << k;
    }
  }
}

}  // namespace
}  // namespace kernwave::platform::matrix_reference_test
