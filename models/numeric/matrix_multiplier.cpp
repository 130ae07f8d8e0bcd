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
constexpr std::int64_t panel_cols = block_vectors * lanes;

/// Panels of `panel_cols` columns, filled up with zeros.
[[nodiscard]] std::int64_t panels_of(std::int64_t cols) noexcept { return (cols + panel_cols - 1) / panel_cols; }

[[nodiscard]] FourFloats load(const float* from) noexcept {
  FourFloats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// `Rows` rows of `a`, k apart, times a panel, added to as many rows of `out`. Sums stay in registers: the bounds are
/// constants, so that the compiler unrolls.
template <std::int64_t Rows>
void multiply_block(const float* a, const float* panel, std::int64_t k, float* out, std::int64_t out_stride) {
  FourFloats sum[Rows][block_vectors];  // NOLINT(modernize-avoid-c-arrays): registers
  for (std::int64_t i = 0; i < Rows; ++i) {
    for (std::int64_t j = 0; j < block_vectors; ++j) sum[i][j] = load(out + i * out_stride + j * lanes);
  }
  for (std::int64_t step = 0; step < k; ++step, ++a, panel += panel_cols) {
    const FourFloats b0 = load(panel);
    const FourFloats b1 = load(panel + lanes);
    for (std::int64_t i = 0; i < Rows; ++i) {
      const float factor = a[i * k];
      const FourFloats spread = {factor, factor, factor, factor};
      sum[i][0] += spread * b0;
      sum[i][1] += spread * b1;
    }
  }
  for (std::int64_t i = 0; i < Rows; ++i) {
    for (std::int64_t j = 0; j < block_vectors; ++j) {
      std::memcpy(out + i * out_stride + j * lanes, &sum[i][j], sizeof sum[i][j]);
    }
  }
}

/// `rows` rows of `a` times one panel, which stays in the cache.
void multiply_panel(const float* a, std::int64_t rows, const float* panel, std::int64_t k, float* out,
                    std::int64_t out_stride) {
  std::int64_t row = 0;
  for (; row + block_rows <= rows; row += block_rows) {
    multiply_block<block_rows>(a + row * k, panel, k, out + row * out_stride, out_stride);
  }
  for (; row < rows; ++row) multiply_block<1>(a + row * k, panel, k, out + row * out_stride, out_stride);
}

void pack_rows(const TensorBytes& tensor, std::vector<float>& packed) {
  const std::int64_t cols = tensor.view.cols;
  packed.resize(static_cast<std::size_t>(tensor.view.elements()));
  for (std::int64_t row = 0; row < tensor.view.rows; ++row) read_row(tensor, row, packed.data() + row * cols);
}

/// Panel after panel, each with its rows one behind another.
void pack_panels(const TensorBytes& tensor, std::vector<float>& line, std::vector<float>& packed) {
  const std::int64_t rows = tensor.view.rows;
  const std::int64_t panels = panels_of(tensor.view.cols);
  packed.resize(static_cast<std::size_t>(panels * rows * panel_cols));
  line.assign(static_cast<std::size_t>(panels * panel_cols), 0.0F);
  for (std::int64_t row = 0; row < rows; ++row) {
    read_row(tensor, row, line.data());
    float* to = packed.data() + row * panel_cols;
    for (std::int64_t panel = 0; panel < panels; ++panel, to += rows * panel_cols) {
      std::memcpy(to, line.data() + panel * panel_cols, panel_cols * sizeof(float));
    }
  }
}

/// The same of a transposed view: its columns are read, whose elements are adjacent, a panel at a time, and turned.
void pack_transposed(const TensorBytes& tensor, std::vector<float>& lines, std::vector<float>& packed) {
  const std::int64_t rows = tensor.view.rows;
  const std::int64_t cols = tensor.view.cols;
  TensorBytes turned = tensor;
  std::swap(turned.view.rows, turned.view.cols);
  std::swap(turned.view.row_stride, turned.view.col_stride);
  packed.resize(static_cast<std::size_t>(panels_of(cols) * rows * panel_cols));
  lines.resize(static_cast<std::size_t>(rows * panel_cols));
  float* to = packed.data();
  for (std::int64_t first = 0; first < cols; first += panel_cols) {
    const std::int64_t count = std::min(panel_cols, cols - first);
    for (std::int64_t i = 0; i < count; ++i) read_row(turned, first + i, lines.data() + i * rows);
    std::fill(lines.begin() + count * rows, lines.end(), 0.0F);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < panel_cols; ++i) *to++ = lines[static_cast<std::size_t>(i * rows + row)];
    }
  }
}

[[nodiscard]] bool is_transposed(const ScratchOperand& view) noexcept {
  return view.row_stride == 1 && view.col_stride != 1 && view.rows > 1;
}

}  // namespace

void MatrixMultiplier::multiply(const TensorBytes& a, const TensorBytes& b, const TensorBytes& out, bool accumulate) {
  const std::int64_t k = a.view.cols;
  const std::int64_t panels = panels_of(b.view.cols);
  const std::int64_t stride = panels * panel_cols;
  pack_rows(a, a_);
  is_transposed(b.view) ? pack_transposed(b, lines_, b_) : pack_panels(b, lines_, b_);
  out_.assign(static_cast<std::size_t>(out.view.rows * stride), 0.0F);
  for (std::int64_t row = 0; accumulate && row < out.view.rows; ++row) read_row(out, row, out_.data() + row * stride);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    multiply_panel(a_.data(), a.view.rows, b_.data() + panel * k * panel_cols, k, out_.data() + panel * panel_cols,
                   stride);
  }
  for (std::int64_t row = 0; row < out.view.rows; ++row) write_row(out, row, out_.data() + row * stride);
}

}  // namespace kernwave::numeric
