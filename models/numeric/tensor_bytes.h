// Elements of a strided tensor in memory, read and written as f32 or integers.
#pragma once

#include <cstdint>

#include "models/numeric/sixteen_bit_floats.h"
#include "models/protocol/descriptor.h"

namespace kernwave::numeric {

/// A view together with the memory that its strides index.
struct TensorBytes {
  std::uint8_t* data = nullptr;
  ScratchOperand view;

  [[nodiscard]] std::uint8_t* element(std::int64_t row, std::int64_t col) const noexcept {
    return data + (row * view.row_stride + col * view.col_stride) * size_of(view.dtype);
  }
};

/// One row of `count` adjacent elements.
[[nodiscard]] ScratchOperand dense_row(DType dtype, std::int64_t count) noexcept;

/// One row, converted. Integers become the nearest float; a boolean 0 or 1.
void read_row(const TensorBytes& tensor, std::int64_t row, float* out);
/// One row, converted: to a float type by rounding to nearest even; to int32 towards zero, saturating, NaN as 0; to
/// boolean as "is not 0".
void write_row(const TensorBytes& tensor, std::int64_t row, const float* values);

/// One row as integers; a float is truncated towards zero.
void read_row(const TensorBytes& tensor, std::int64_t row, std::int64_t* out);
/// One row from integers; int32 wraps modulo 2^32, as the hardware's would.
void write_row(const TensorBytes& tensor, std::int64_t row, const std::int64_t* values);

/// Fills a tensor with NaN; int32 with 0x7FBADBAD; boolean with 1.
void poison(const TensorBytes& tensor);
/// Fills one element with its poison, or with `value`.
void poison_element(const TensorBytes& tensor, std::int64_t row, std::int64_t col);
void write_element(const TensorBytes& tensor, std::int64_t row, std::int64_t col, float value);

}  // namespace kernwave::numeric
