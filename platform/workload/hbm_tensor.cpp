#include "platform/workload/hbm_tensor.h"

#include "models/numeric/tensor_bytes.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] Bytes row_bytes(const HbmTensor& tensor) { return Bytes(tensor.row * size_of(tensor.dtype)); }

[[nodiscard]] HbmAddress row_address(const HbmTensor& tensor, std::int64_t row) {
  return tensor.base + Bytes(row * tensor.stride * size_of(tensor.dtype));
}

void write_row(System& system, const HbmTensor& tensor, std::int64_t row, const float* values) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(row_bytes(tensor).count()));
  numeric::write_row({bytes.data(), numeric::dense_row(tensor.dtype, tensor.row)}, 0, values);
  const HbmAddress address = row_address(tensor, row);
  system.cube(address.cube()).hbm().write(address.offset(), bytes.data(), row_bytes(tensor));
}

}  // namespace

void write(System& system, const HbmTensor& tensor, const std::vector<float>& values) {
  for (std::int64_t row = 0; row < tensor.rows; ++row) write_row(system, tensor, row, values.data() + row * tensor.row);
}

void fill(System& system, const HbmTensor& tensor, float value) {
  const std::vector<float> values(static_cast<std::size_t>(tensor.row), value);
  for (std::int64_t row = 0; row < tensor.rows; ++row) write_row(system, tensor, row, values.data());
}

std::vector<float> read(const System& system, const HbmTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.rows * tensor.row));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(row_bytes(tensor).count()));
  for (std::int64_t row = 0; row < tensor.rows; ++row) {
    const HbmAddress address = row_address(tensor, row);
    system.cube(address.cube()).hbm().read(address.offset(), bytes.data(), row_bytes(tensor));
    numeric::read_row({bytes.data(), numeric::dense_row(tensor.dtype, tensor.row)}, 0,
                      values.data() + row * tensor.row);
  }
  return values;
}

}  // namespace kernwave::platform
