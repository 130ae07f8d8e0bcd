#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <vector>

namespace kernwave::kernels {

namespace {

/// A row-major matrix in HBM.
struct Matrix {
  HbmAddress base;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;
  DType dtype = DType::f16;

  [[nodiscard]] HbmAddress at(std::int64_t row, std::int64_t col) const {
    return base + Bytes((row * stride + col) * size_of(dtype));
  }
  /// The part of a block at (row, col) that lies inside the matrix.
  [[nodiscard]] tl::Shape inside(const tl::Shape& block, std::int64_t row, std::int64_t col) const {
    return {std::min(block[0], rows - row), std::min(block[1], cols - col)};
  }
};

/// Starts to load the block at (row, col) into `buffer`; what lies outside the matrix is 0, so that it adds nothing.
void load_block(tl::Context& tl, const Matrix& matrix, std::int64_t row, std::int64_t col, const tl::Tensor& buffer) {
  tl.load(matrix.at(row, col), buffer.shape(), matrix.dtype,
          tl::into(buffer).strides(matrix.stride).valid(matrix.inside(buffer.shape(), row, col)).other(0.0F));
}

void store_block(tl::Context& tl, const Matrix& matrix, std::int64_t row, std::int64_t col, const tl::Tensor& block) {
  tl.store(matrix.at(row, col), block,
           tl::StoreOptions().strides(matrix.stride).valid(matrix.inside(block.shape(), row, col)));
}

}  // namespace

tl::Grid gemm_grid(const GemmArgs& args) { return {tl::cdiv(args.m, args.block_m), tl::cdiv(args.n, args.block_n), 1}; }

void gemm(tl::Context& tl, const GemmArgs& args) {
  const Matrix a{args.a, args.m, args.k, args.a_stride, args.dtype};
  const Matrix b{args.b, args.k, args.n, args.b_stride, args.dtype};
  const Matrix c{args.c, args.m, args.n, args.c_stride, args.dtype};
  const std::int64_t row = tl.program_id(0) * args.block_m;
  const std::int64_t col = tl.program_id(1) * args.block_n;
  const std::int64_t steps = tl::cdiv(args.k, args.block_k);

  // Step j uses buffer j mod `buffers`. A load into a buffer waits until the product that still reads it is done.
  const auto a_blocks = tl.buffers(args.buffers, {args.block_m, args.block_k}, args.dtype);
  const auto b_blocks = tl.buffers(args.buffers, {args.block_k, args.block_n}, args.dtype);
  const auto slot = [&args](std::int64_t step) { return static_cast<std::size_t>(step % args.buffers); };
  const auto request = [&](std::int64_t step) {
    if (step >= steps) return;
    load_block(tl, a, row, step * args.block_k, a_blocks[slot(step)]);
    load_block(tl, b, step * args.block_k, col, b_blocks[slot(step)]);
  };

  const std::int64_t ahead = args.buffers - 1;
  for (std::int64_t j = 0; j < ahead; ++j) request(j);
  const auto acc = tl.zeros({args.block_m, args.block_n}, DType::f32);  // while the first blocks are on their way
  for (std::int64_t j = 0; j < steps; ++j) {
    request(j + ahead);
    tl.dot(a_blocks[slot(j)], b_blocks[slot(j)], acc);  // waits for these two blocks; the next ones stream meanwhile
  }
  store_block(tl, c, row, col, acc.to(args.dtype));
}

}  // namespace kernwave::kernels
