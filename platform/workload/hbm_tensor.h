// Rows of numbers in HBM, written and read without simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/system/system.h"

namespace kernwave::platform {

/// Equally spaced rows of `row` elements, `stride` elements apart.
struct HbmTensor {
  HbmAddress base;
  std::int64_t rows = 0;
  std::int64_t row = 0;
  std::int64_t stride = 0;
  DType dtype = DType::f32;
};

/// Writes rows x row values, converted to the tensor's type.
void write(System& system, const HbmTensor& tensor, const std::vector<float>& values);
/// The same of numbers that are made as they are written: `make` gives elements first ... first + count - 1 of the
/// rows x row, for a few thousand at a time, in any order and from several threads at once.
using MakeNumbers = std::function<void(std::int64_t first, std::int64_t count, float* out)>;
void write(System& system, const HbmTensor& tensor, const MakeNumbers& make);
void fill(System& system, const HbmTensor& tensor, float value);
[[nodiscard]] std::vector<float> read(const System& system, const HbmTensor& tensor);

}  // namespace kernwave::platform
