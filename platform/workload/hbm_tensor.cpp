#include "platform/workload/hbm_tensor.h"

#include <algorithm>

#include "models/numeric/tensor_bytes.h"
#include "platform/parallel.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] Bytes row_bytes(const HbmTensor& tensor) { return Bytes(tensor.row * size_of(tensor.dtype)); }

[[nodiscard]] HbmAddress row_address(const HbmTensor& tensor, std::int64_t row) {
  return tensor.base + Bytes(row * tensor.stride * size_of(tensor.dtype));
}

/// Rows without gaps are one row.
[[nodiscard]] HbmTensor as_long_rows(HbmTensor tensor) {
  if (tensor.stride != tensor.row) return tensor;
  tensor.row *= tensor.rows;
  tensor.stride = tensor.row;
  tensor.rows = tensor.rows == 0 ? 0 : 1;
  return tensor;
}

/// Makes, converts and writes elements of a tensor whose place is reserved.
class Writer {
 public:
  Writer(const System& system, const HbmTensor& tensor, const MakeNumbers& make)
      : system_(system),
        tensor_(tensor),
        make_(make),
        values_(static_cast<std::size_t>(std::min(block_elements, tensor.row))),
        bytes_(values_.size() * static_cast<std::size_t>(size_of(tensor.dtype))) {}

  /// Elements begin ... end - 1 of all.
  void write(std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t col = begin % tensor_.row;
      const std::int64_t count = std::min({block_elements, tensor_.row - col, end - begin});
      write_block(begin, begin / tensor_.row, col, count);
      begin += count;
    }
  }

 private:
  static constexpr std::int64_t block_elements = 4096;  // values and bytes stay in the first cache

  void write_block(std::int64_t first, std::int64_t row, std::int64_t col, std::int64_t count) {
    make_(first, count, values_.data());
    numeric::write_row({bytes_.data(), numeric::dense_row(tensor_.dtype, count)}, 0, values_.data());
    const HbmAddress address = row_address(tensor_, row) + Bytes(col * size_of(tensor_.dtype));
    system_.cube(address.cube())
        .hbm()
        .write_reserved(address.offset(), bytes_.data(), Bytes(count * size_of(tensor_.dtype)));
  }

  const System& system_;
  const HbmTensor& tensor_;
  const MakeNumbers& make_;
  std::vector<float> values_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

void write(System& system, const HbmTensor& given, const MakeNumbers& make) {
  const HbmTensor tensor = as_long_rows(given);
  for (std::int64_t row = 0; row < tensor.rows; ++row) {
    const HbmAddress address = row_address(tensor, row);
    system.cube(address.cube()).hbm().reserve(address.offset(), row_bytes(tensor));
  }
  const std::int64_t elements = tensor.rows * tensor.row;
  constexpr std::int64_t part = std::int64_t{256} * 1024;  // worth a thread
  for_each_in_parallel(ceil_div(elements, part), [&](std::int64_t i) {
    Writer(system, tensor, make).write(i * part, std::min(elements, (i + 1) * part));
  });
}

void write(System& system, const HbmTensor& tensor, const std::vector<float>& values) {
  write(system, tensor, [&values](std::int64_t first, std::int64_t count, float* out) {
    std::copy_n(values.begin() + first, count, out);
  });
}

void fill(System& system, const HbmTensor& tensor, float value) {
  write(system, tensor,
        [value](std::int64_t /*first*/, std::int64_t count, float* out) { std::fill_n(out, count, value); });
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
