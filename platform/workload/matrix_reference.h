// A matrix product in float64.
#pragma once

#include <cstdint>
#include <vector>

namespace kernwave::platform {

/// a (m x k) times b (k x n), row-major.
[[nodiscard]] std::vector<double> matrix_reference(std::int64_t m, std::int64_t n, std::int64_t k,
                                                   const std::vector<float>& a, const std::vector<float>& b);

}  // namespace kernwave::platform
