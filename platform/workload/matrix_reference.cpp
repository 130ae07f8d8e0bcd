#include "platform/workload/matrix_reference.h"

#include <Eigen/Core>

namespace kernwave::platform {

std::vector<double> matrix_reference(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<float>& a,
                                     const std::vector<float>& b) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Doubles left = Eigen::Map<const Floats>(a.data(), m, k).cast<double>();
  const Doubles right = Eigen::Map<const Floats>(b.data(), k, n).cast<double>();
  std::vector<double> product(static_cast<std::size_t>(m * n));
  Eigen::Map<Doubles>(product.data(), m, n).noalias() = left * right;
  return product;
}

}  // namespace kernwave::platform
