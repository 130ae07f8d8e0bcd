#include "platform/workload/matrix_reference.h"

#include <Eigen/Core>

#include "platform/workload/float_format.h"

namespace kernwave::platform {

ExpectedOutput matrix_reference(const MatrixProblem& problem, const std::vector<float>& a,
                                const std::vector<float>& b) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto [m, n, k, dtype] = problem;
  const Doubles left = Eigen::Map<const Floats>(a.data(), m, k).cast<double>();
  const Doubles right = Eigen::Map<const Floats>(b.data(), k, n).cast<double>();
  ExpectedOutput expected;
  expected.dtype = dtype;
  expected.values.resize(static_cast<std::size_t>(m * n));
  expected.bounds.resize(static_cast<std::size_t>(m * n));
  Eigen::Map<Doubles>(expected.values.data(), m, n).noalias() = left * right;
  Eigen::Map<Doubles>(expected.bounds.data(), m, n).noalias() = left.cwiseAbs() * right.cwiseAbs();
  const double roundings = static_cast<double>(k + 1) * FloatFormat::of(DType::f32).unit_roundoff();
  const double underflow = static_cast<double>(k) * 0x1p-150;
  for (double& bound : expected.bounds) bound = bound == 0.0 ? 0.0 : roundings * bound + underflow;
  return expected;
}

std::vector<float> pinned_product(const MatrixProblem& problem, const std::vector<float>& a,
                                  const std::vector<float>& b) {
  const auto [m, n, k, dtype] = problem;
  std::vector<float> product(static_cast<std::size_t>(m * n), 0.0F);
  for (std::int64_t row = 0; row < m; ++row) {
    float* sums = product.data() + row * n;
    for (std::int64_t i = 0; i < k; ++i) {
      const float factor = a[static_cast<std::size_t>(row * k + i)];
      const float* factors = b.data() + i * n;
      for (std::int64_t col = 0; col < n; ++col) sums[col] += factor * factors[col];
    }
  }
  if (dtype == DType::f32) return product;
  const FloatFormat format = FloatFormat::of(dtype);
  for (float& value : product) value = format.round(value);
  return product;
}

}  // namespace kernwave::platform
