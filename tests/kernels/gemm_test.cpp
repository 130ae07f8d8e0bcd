// The blocked matrix product against float64.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "platform/workload/matrix_reference.h"
#include "platform/workload/random_data.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"

namespace kernwave::testing::gemm_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
/// Columns between the rows of every matrix, NaN in A and B: no block may reach into them.
constexpr std::int64_t gap = 8;

/// A product of random matrices in HBM.
class Product {
 public:
  Product(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype = DType::f16) {
    args_.m = m;
    args_.n = n;
    args_.k = k;
    args_.dtype = dtype;
    args_.a_stride = k + gap;
    args_.b_stride = n + gap;
    args_.c_stride = n + gap;
    args_.a = HbmAddress(1 << 20);
    args_.b = HbmAddress(2 << 20);
    args_.c = HbmAddress(3 << 20);
    args_.block_m = 32;
    args_.block_n = 48;
    args_.block_k = 64;
    a_ = platform::RandomTensor(1, 0).values(0, m * k, dtype);
    b_ = platform::RandomTensor(1, 1).values(0, k * n, dtype);
  }

  [[nodiscard]] kernels::GemmArgs& args() noexcept { return args_; }

  void run(Simulation& simulation, tl::Policy policy = tl::Policy::lazy) {
    simulation.write(args_.a, args_.dtype, with_gaps(a_, args_.k));
    simulation.write(args_.b, args_.dtype, with_gaps(b_, args_.n));
    simulation.write(args_.c, args_.dtype, std::vector<float>(static_cast<std::size_t>(c_size()), nan));
    simulation.run_grid(
        kernels::gemm_grid(args_), [args = args_](tl::Context& tl) { kernels::gemm(tl, args); }, policy);
  }

  /// C as m x n; expects that the gaps between its rows were not written.
  [[nodiscard]] std::vector<float> result(Simulation& simulation) const {
    const std::vector<float> stored = simulation.read(args_.c, args_.dtype, c_size());
    std::vector<float> values;
    for (std::int64_t i = 0; i < c_size(); ++i) {
      const float value = stored[static_cast<std::size_t>(i)];
      if (i % args_.c_stride < args_.n && i < args_.m * args_.c_stride) {
        values.push_back(value);
      } else {
        EXPECT_NE(value, value) << "written outside C: element " << i;
      }
    }
    return values;
  }

  void expect_right(Simulation& simulation) const {
    const platform::MatrixProblem problem{args_.m, args_.n, args_.k, args_.dtype};
    platform::ExpectedOutput expected = platform::matrix_reference(problem, a_, b_);
    expected.bits = platform::pinned_product(problem, a_, b_);
    const platform::NumericError error = platform::numeric_error(result(simulation), expected, args_.n);
    EXPECT_TRUE(error.is_right()) << error.wrong << " wrong elements, " << error.max_of_bound << " of the bound";
  }

 private:
  /// With a row more, so that a block that is too tall shows.
  [[nodiscard]] std::int64_t c_size() const { return (args_.m + 1) * args_.c_stride; }

  [[nodiscard]] static std::vector<float> with_gaps(const std::vector<float>& dense, std::int64_t cols) {
    std::vector<float> rows;
    for (auto from = dense.begin(); from != dense.end(); from += cols) {
      rows.insert(rows.end(), from, from + cols);
      rows.insert(rows.end(), gap, nan);
    }
    rows.insert(rows.end(), static_cast<std::size_t>(cols + gap), nan);
    return rows;
  }

  kernels::GemmArgs args_;
  std::vector<float> a_;
  std::vector<float> b_;
};

TEST(Gemm, MatchesFloat64AndThePinnedBitsInEveryType) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    in_child([dtype] {
      Simulation simulation(one_cube(3));
      Product product(96, 96, 256, dtype);
      product.run(simulation);
      product.expect_right(simulation);
    });
  }
}

TEST(Gemm, AcceptsExtentsThatAreNotMultiplesOfTheBlocks) {
  const std::vector<std::vector<std::int64_t>> extents{{1, 1, 1},    {31, 47, 63}, {33, 49, 65},
                                                       {1, 200, 70}, {100, 1, 64}, {40, 60, 1}};
  for (const auto& mnk : extents) {
    SCOPED_TRACE(std::to_string(mnk[0]) + " x " + std::to_string(mnk[1]) + " x " + std::to_string(mnk[2]));
    in_child([&] {
      Simulation simulation(one_cube(2));
      Product product(mnk[0], mnk[1], mnk[2]);
      product.run(simulation);
      product.expect_right(simulation);
    });
  }
}

TEST(Gemm, IsRightWithAnyNumberOfBuffers) {
  for (const std::int64_t buffers : {1, 2, 4, 9}) {
    in_child([buffers] {
      Simulation simulation;
      Product product(32, 48, 300);
      product.args().buffers = buffers;
      product.run(simulation);
      product.expect_right(simulation);
    });
  }
}

TEST(Gemm, RunsOneProgramABlockOfC) {
  Product product(65, 48, 10);
  // ceil(65 / 32) x ceil(48 / 48)
  EXPECT_EQ(kernels::gemm_grid(product.args()), (tl::Grid{3, 1, 1}));
}

TEST(Gemm, LoadsEachPairOfBlocksOnceAndStoresEachBlockOfCOnce) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation(one_cube(2), DataMode::none);
    Product product(64, 96, 256);
    product.run(simulation, policy);
    // 2 x 2 blocks of C, each of 256 / 64 = 4 steps.
    EXPECT_EQ(simulation.count(Engine::dma_read), 4 * 4 * 2);
    EXPECT_EQ(simulation.count(Engine::gemm), 4 * 4);
    EXPECT_EQ(simulation.count(Engine::dma_write), 4);
  });
}

TEST(Gemm, GivesTheSameResultUnderEveryPolicy) {
  const auto outcome = [](tl::Policy policy) {
    return from_child([policy] {
      Simulation simulation(one_cube(2));
      Product product(70, 100, 130);
      product.run(simulation, policy);
      std::string text = "peak " + std::to_string(simulation.pe().scratch().peak().count());
      for (const float value : product.result(simulation)) text += " " + std::to_string(value);
      return text;
    });
  };
  const std::string blocking = outcome(tl::Policy::blocking);
  EXPECT_FALSE(blocking.empty());
  EXPECT_EQ(outcome(tl::Policy::lazy), blocking);
  EXPECT_EQ(outcome(tl::Policy::stall_on_use), blocking);
}

TEST(Gemm, TakesTheSameTimeWithoutData) {
  const auto timing = [](DataMode mode) {
    return from_child([mode] {
      Simulation simulation(one_cube(2), mode);
      Product product(70, 100, 130);
      product.run(simulation);
      return std::to_string(simulation.latency().count()) + "\n" + simulation.log_text();
    });
  };
  const std::string full = timing(DataMode::full);
  EXPECT_FALSE(full.empty());
  EXPECT_EQ(timing(DataMode::none), full);
}

/// Blocks of A and B of 32 KiB take 256 ns at 128 GB/s each, 512 ns a step; the product, 128 x 128 x 128 on 64 x 64,
/// 512 cycles. Issue costs (2 loads and a product, 22 cycles) hide under the transfer: the stream sets the pace.
TEST(Gemm, OfManyStepsRunsAtThePaceOfItsLoads) {
  const auto latency = [](std::int64_t steps) {
    return std::stoll(from_child([steps] {
      Simulation simulation(one_cube(), DataMode::none);
      Product product(128, 128, 128 * steps);
      product.args().block_m = 128;
      product.args().block_n = 128;
      product.args().block_k = 128;
      product.args().a_stride = 128 * steps;
      product.args().b_stride = 128;
      product.run(simulation);
      return std::to_string(simulation.latency().count());
    }));
  };
  EXPECT_NEAR(static_cast<double>(latency(40) - latency(20)), 20 * 512'000.0, 20 * 40'000.0);
}

}  // namespace
}  // namespace kernwave::testing::gemm_test
