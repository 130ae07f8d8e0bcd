#include "platform/workload/random_data.h"

#include <algorithm>
#include <array>

#include "models/numeric/tensor_bytes.h"
#include "models/numeric/vector_clones.h"

namespace kernwave::platform {

namespace {

constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;

/// The output function of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Element `index` of the sequence that starts there.
[[nodiscard]] inline float element(std::uint64_t start, std::int64_t index) noexcept {
  const std::uint64_t word = mix(start + (static_cast<std::uint64_t>(index) + 1) * golden_gamma);
  constexpr std::uint64_t two_digits = 0x0000FFFF0000FFFF;
  const std::uint64_t pairs = (word & two_digits) + ((word >> 16) & two_digits);
  const auto sum =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(pairs) + static_cast<std::uint32_t>(pairs >> 32));
  // A digit is uniform on 0 ... 65535: mean 65535 / 2, variance (2^32 - 1) / 12. Four of them: sqrt((2^32 - 1) / 3).
  constexpr std::int32_t mean = 2 * 65535;
  constexpr float deviation = 37837.2272F;
  return static_cast<float>(sum - mean) * (1.0F / deviation);
}

KERNWAVE_VECTOR_CLONES void write_elements(std::uint64_t start, std::int64_t first, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = element(start, first + i);
}

}  // namespace

void round_to(DType dtype, float* values, std::int64_t count) {
  if (dtype != DType::f16 && dtype != DType::bf16) return;
  constexpr std::int64_t block = 1024;
  std::array<std::uint8_t, block * sizeof(std::uint16_t)> stored{};
  for (std::int64_t done = 0; done < count; done += block) {
    const numeric::TensorBytes row{stored.data(), numeric::dense_row(dtype, std::min(block, count - done))};
    numeric::write_row(row, 0, values + done);
    numeric::read_row(row, 0, values + done);
  }
}

RandomTensor::RandomTensor(std::uint64_t seed, std::uint64_t tensor) noexcept
    : start_(mix(mix(seed + golden_gamma) + (tensor + 1) * golden_gamma)) {}

float RandomTensor::operator[](std::int64_t index) const noexcept { return element(start_, index); }

void RandomTensor::write(std::int64_t first, std::int64_t count, DType dtype, float* out) const {
  write_elements(start_, first, count, out);
  round_to(dtype, out, count);
}

std::vector<float> RandomTensor::values(std::int64_t first, std::int64_t count, DType dtype) const {
  std::vector<float> result(static_cast<std::size_t>(count));
  write(first, count, dtype, result.data());
  return result;
}

}  // namespace kernwave::platform
