#include "models/numeric/tensor_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernwave::numeric {

namespace {

constexpr std::int32_t integer_poison = 0x7FBADBAD;

template <typename T>
[[nodiscard]] T load(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void save(std::uint8_t* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

[[nodiscard]] std::int32_t truncate_to_int32(float value) noexcept {
  if (std::isnan(value)) return 0;
  if (value >= 2147483648.0F) return std::numeric_limits<std::int32_t>::max();
  if (value <= -2147483648.0F) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(value);
}

template <typename Stored, typename Convert, typename Out>
void read_elements(const TensorBytes& tensor, std::int64_t row, Convert convert, Out* out) {
  const std::uint8_t* from = tensor.element(row, 0);
  const std::int64_t step = tensor.view.col_stride * static_cast<std::int64_t>(sizeof(Stored));
  for (std::int32_t col = 0; col < tensor.view.cols; ++col, from += step) {
    out[col] = static_cast<Out>(convert(load<Stored>(from)));
  }
}

template <typename Convert, typename In>
void write_elements(const TensorBytes& tensor, std::int64_t row, Convert convert, const In* values) {
  std::uint8_t* to = tensor.element(row, 0);
  const std::int64_t step = tensor.view.col_stride * size_of(tensor.view.dtype);
  for (std::int32_t col = 0; col < tensor.view.cols; ++col, to += step) save(to, convert(values[col]));
}

/// Adjacent elements of the types that rows of numbers mostly have; false: it is another row, and nothing was done.
[[nodiscard]] bool read_adjacent(const TensorBytes& tensor, std::int64_t row, float* out) {
  if (tensor.view.col_stride != 1) return false;
  const std::uint8_t* from = tensor.element(row, 0);
  switch (tensor.view.dtype) {
    case DType::f32:
      std::memcpy(out, from, static_cast<std::size_t>(tensor.view.cols) * sizeof *out);
      return true;
    case DType::f16:
      f16_to_f32(from, out, tensor.view.cols);
      return true;
    case DType::bf16:
      bf16_to_f32(from, out, tensor.view.cols);
      return true;
    case DType::int32:
    case DType::boolean:
      break;
  }
  return false;
}

[[nodiscard]] bool write_adjacent(const TensorBytes& tensor, std::int64_t row, const float* values) {
  if (tensor.view.col_stride != 1) return false;
  std::uint8_t* to = tensor.element(row, 0);
  switch (tensor.view.dtype) {
    case DType::f32:
      std::memcpy(to, values, static_cast<std::size_t>(tensor.view.cols) * sizeof *values);
      return true;
    case DType::f16:
      f32_to_f16(values, to, tensor.view.cols);
      return true;
    case DType::bf16:
      f32_to_bf16(values, to, tensor.view.cols);
      return true;
    case DType::int32:
    case DType::boolean:
      break;
  }
  return false;
}

}  // namespace

ScratchOperand dense_row(DType dtype, std::int64_t count) noexcept {
  ScratchOperand view;
  view.rows = 1;
  view.cols = static_cast<std::int32_t>(count);
  view.row_stride = view.cols;
  view.col_stride = 1;
  view.dtype = dtype;
  return view;
}

void read_row(const TensorBytes& tensor, std::int64_t row, float* out) {
  if (read_adjacent(tensor, row, out)) return;
  switch (tensor.view.dtype) {
    case DType::f32:
      return read_elements<float>(
          tensor, row, [](float v) { return v; }, out);
    case DType::f16:
      return read_elements<std::uint16_t>(
          tensor, row, [](std::uint16_t v) { return f16_to_f32(v); }, out);
    case DType::bf16:
      return read_elements<std::uint16_t>(
          tensor, row, [](std::uint16_t v) { return bf16_to_f32(v); }, out);
    case DType::int32:
      return read_elements<std::int32_t>(
          tensor, row, [](std::int32_t v) { return v; }, out);
    case DType::boolean:
      return read_elements<std::uint8_t>(
          tensor, row, [](std::uint8_t v) { return v != 0 ? 1 : 0; }, out);
  }
}

void write_row(const TensorBytes& tensor, std::int64_t row, const float* values) {
  if (write_adjacent(tensor, row, values)) return;
  switch (tensor.view.dtype) {
    case DType::f32:
      return write_elements(
          tensor, row, [](float v) { return v; }, values);
    case DType::f16:
      return write_elements(
          tensor, row, [](float v) { return f32_to_f16(v); }, values);
    case DType::bf16:
      return write_elements(
          tensor, row, [](float v) { return f32_to_bf16(v); }, values);
    case DType::int32:
      return write_elements(tensor, row, truncate_to_int32, values);
    case DType::boolean:
      return write_elements(
          tensor, row, [](float v) { return static_cast<std::uint8_t>(v != 0.0F); }, values);
  }
}

void read_row(const TensorBytes& tensor, std::int64_t row, std::int64_t* out) {
  switch (tensor.view.dtype) {
    case DType::int32:
      return read_elements<std::int32_t>(
          tensor, row, [](std::int32_t v) { return v; }, out);
    case DType::boolean:
      return read_elements<std::uint8_t>(
          tensor, row, [](std::uint8_t v) { return v != 0 ? 1 : 0; }, out);
    case DType::f32:
      return read_elements<float>(tensor, row, truncate_to_int32, out);
    case DType::f16:
      return read_elements<std::uint16_t>(
          tensor, row, [](std::uint16_t v) { return truncate_to_int32(f16_to_f32(v)); }, out);
    case DType::bf16:
      return read_elements<std::uint16_t>(
          tensor, row, [](std::uint16_t v) { return truncate_to_int32(bf16_to_f32(v)); }, out);
  }
}

void write_row(const TensorBytes& tensor, std::int64_t row, const std::int64_t* values) {
  switch (tensor.view.dtype) {
    case DType::int32:
      return write_elements(
          tensor, row, [](std::int64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); }, values);
    case DType::boolean:
      return write_elements(
          tensor, row, [](std::int64_t v) { return static_cast<std::uint8_t>(v != 0); }, values);
    case DType::f32:
      return write_elements(
          tensor, row, [](std::int64_t v) { return static_cast<float>(v); }, values);
    case DType::f16:
      return write_elements(
          tensor, row, [](std::int64_t v) { return f32_to_f16(static_cast<float>(v)); }, values);
    case DType::bf16:
      return write_elements(
          tensor, row, [](std::int64_t v) { return f32_to_bf16(static_cast<float>(v)); }, values);
  }
}

void poison_element(const TensorBytes& tensor, std::int64_t row, std::int64_t col) {
  std::uint8_t* to = tensor.element(row, col);
  switch (tensor.view.dtype) {
    case DType::f32:
      return save(to, std::numeric_limits<float>::quiet_NaN());
    case DType::f16:
      return save(to, f32_to_f16(std::numeric_limits<float>::quiet_NaN()));
    case DType::bf16:
      return save(to, f32_to_bf16(std::numeric_limits<float>::quiet_NaN()));
    case DType::int32:
      return save(to, integer_poison);
    case DType::boolean:
      return save(to, std::uint8_t{1});
  }
}

void write_element(const TensorBytes& tensor, std::int64_t row, std::int64_t col, float value) {
  TensorBytes one = tensor;
  one.data = tensor.element(row, col);
  one.view.rows = 1;
  one.view.cols = 1;
  write_row(one, 0, &value);
}

namespace {

/// Copies the first `size` bytes over all `count`, doubling what is there.
void repeat(std::uint8_t* bytes, std::size_t size, std::size_t count) {
  for (std::size_t done = size; done < count; done *= 2) std::memcpy(bytes + done, bytes, std::min(done, count - done));
}

}  // namespace

void poison(const TensorBytes& tensor) {
  if (tensor.view.elements() == 0) return;
  // One poisoned element, copied over the rows: buffers are poisoned for every operation.
  poison_element(tensor, 0, 0);
  const std::uint8_t* pattern = tensor.element(0, 0);
  const auto size = static_cast<std::size_t>(size_of(tensor.view.dtype));
  if (tensor.view.col_stride == 1) {
    const std::size_t row_bytes = static_cast<std::size_t>(tensor.view.cols) * size;
    repeat(tensor.element(0, 0), size, row_bytes);
    for (std::int32_t row = 1; row < tensor.view.rows; ++row) {
      std::uint8_t* to = tensor.element(row, 0);
      if (to != pattern) std::memcpy(to, pattern, row_bytes);
    }
    return;
  }
  for (std::int32_t row = 0; row < tensor.view.rows; ++row) {
    for (std::int32_t col = 0; col < tensor.view.cols; ++col) {
      std::uint8_t* to = tensor.element(row, col);
      if (to != pattern) std::memcpy(to, pattern, size);
    }
  }
}

}  // namespace kernwave::numeric
