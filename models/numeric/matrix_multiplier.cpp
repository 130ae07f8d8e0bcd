#include "models/numeric/matrix_multiplier.h"

#include <algorithm>
#include <cstring>

namespace kernwave::numeric {

namespace {

/// Four columns at once: lanes never mix, so the order of any one sum stays as it is.
using FourFloats __attribute__((vector_size(16))) = float;
constexpr std::int64_t lanes = 4;
constexpr std::int64_t block_rows = 4;
constexpr std::int64_t block_vectors = 2;
constexpr std::int64_t block_cols = block_vectors * lanes;

struct Product {
  const float* a;
  const float* b;
  float* out;
  std::int64_t m;
  std::int64_t k;
  std::int64_t n;
};

[[nodiscard]] FourFloats load(const float* from) noexcept {
  FourFloats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A block of the output in registers; the bounds are constants so that the compiler unrolls.
void full_block(const Product& p, std::int64_t row, std::int64_t col) {
  FourFloats sum[block_rows][block_vectors];  // NOLINT(modernize-avoid-c-arrays): registers
  for (std::int64_t i = 0; i < block_rows; ++i) {
    for (std::int64_t j = 0; j < block_vectors; ++j) sum[i][j] = load(p.out + (row + i) * p.n + col + j * lanes);
  }
  const float* a = p.a + row * p.k;
  const float* b = p.b + col;
  for (std::int64_t k = 0; k < p.k; ++k, ++a, b += p.n) {
    const FourFloats b0 = load(b);
    const FourFloats b1 = load(b + lanes);
    for (std::int64_t i = 0; i < block_rows; ++i) {
      const float factor = a[i * p.k];
      const FourFloats spread = {factor, factor, factor, factor};
      sum[i][0] += spread * b0;
      sum[i][1] += spread * b1;
    }
  }
  for (std::int64_t i = 0; i < block_rows; ++i) {
    for (std::int64_t j = 0; j < block_vectors; ++j) {
      std::memcpy(p.out + (row + i) * p.n + col + j * lanes, &sum[i][j], sizeof sum[i][j]);
    }
  }
}

void ragged_block(const Product& p, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) {
  for (std::int64_t i = row; i < row + rows; ++i) {
    for (std::int64_t j = col; j < col + cols; ++j) {
      float sum = p.out[i * p.n + j];
      for (std::int64_t k = 0; k < p.k; ++k) sum += p.a[i * p.k + k] * p.b[k * p.n + j];
      p.out[i * p.n + j] = sum;
    }
  }
}

void multiply_packed(const Product& p) {
  for (std::int64_t row = 0; row < p.m; row += block_rows) {
    const std::int64_t rows = std::min(block_rows, p.m - row);
    for (std::int64_t col = 0; col < p.n; col += block_cols) {
      const std::int64_t cols = std::min(block_cols, p.n - col);
      if (rows == block_rows && cols == block_cols) {
        full_block(p, row, col);
      } else {
        ragged_block(p, row, rows, col, cols);
      }
    }
  }
}

void pack(const TensorBytes& tensor, std::vector<float>& packed) {
  const std::int64_t cols = tensor.view.cols;
  packed.resize(static_cast<std::size_t>(tensor.view.elements()));
  // A transposed view is read along its contiguous rows and turned, so that conversion runs over adjacent bytes.
  if (tensor.view.row_stride == 1 && tensor.view.col_stride != 1 && tensor.view.rows > 1) {
    TensorBytes turned = tensor;
    std::swap(turned.view.rows, turned.view.cols);
    std::swap(turned.view.row_stride, turned.view.col_stride);
    std::vector<float> line(static_cast<std::size_t>(turned.view.cols));
    for (std::int64_t row = 0; row < turned.view.rows; ++row) {
      read_row(turned, row, line.data());
      for (std::int64_t col = 0; col < turned.view.cols; ++col) {
        packed[static_cast<std::size_t>(col * cols + row)] = line[static_cast<std::size_t>(col)];
      }
    }
    return;
  }
  for (std::int64_t row = 0; row < tensor.view.rows; ++row) read_row(tensor, row, packed.data() + row * cols);
}

}  // namespace

void MatrixMultiplier::multiply(const TensorBytes& a, const TensorBytes& b, const TensorBytes& out, bool accumulate) {
  pack(a, a_);
  pack(b, b_);
  if (accumulate) {
    pack(out, out_);
  } else {
    out_.assign(static_cast<std::size_t>(out.view.elements()), 0.0F);
  }
  multiply_packed({a_.data(), b_.data(), out_.data(), a.view.rows, a.view.cols, b.view.cols});
  for (std::int64_t row = 0; row < out.view.rows; ++row) write_row(out, row, out_.data() + row * out.view.cols);
}

}  // namespace kernwave::numeric
