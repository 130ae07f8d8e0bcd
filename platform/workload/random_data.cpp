#include "platform/workload/random_data.h"

#include "models/numeric/tensor_bytes.h"

namespace kernwave::platform {

namespace {

constexpr std::uint64_t golden_gamma = 0x9E3779B97F4A7C15;

/// The output function of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

float round_to(DType dtype, float value) noexcept {
  switch (dtype) {
    case DType::f16:
      return numeric::f16_to_f32(numeric::f32_to_f16(value));
    case DType::bf16:
      return numeric::bf16_to_f32(numeric::f32_to_bf16(value));
    case DType::f32:
    case DType::int32:
    case DType::boolean:
      break;
  }
  return value;
}

RandomTensor::RandomTensor(std::uint64_t seed, std::uint64_t tensor) noexcept
    : start_(mix(mix(seed + golden_gamma) + (tensor + 1) * golden_gamma)) {}

float RandomTensor::operator[](std::int64_t index) const noexcept {
  const std::uint64_t word = mix(start_ + (static_cast<std::uint64_t>(index) + 1) * golden_gamma);
  std::int32_t sum = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int32_t>((word >> shift) & 0xFFFF);
  // A digit is uniform on 0 ... 65535: mean 65535 / 2, variance (2^32 - 1) / 12. Four of them: sqrt((2^32 - 1) / 3).
  constexpr std::int32_t mean = 2 * 65535;
  constexpr float deviation = 37837.2272F;
  return static_cast<float>(sum - mean) * (1.0F / deviation);
}

std::vector<float> RandomTensor::values(std::int64_t first, std::int64_t count, DType dtype) const {
  std::vector<float> result(static_cast<std::size_t>(count));
  std::int64_t index = first;
  for (float& value : result) value = round_to(dtype, (*this)[index++]);
  return result;
}

}  // namespace kernwave::platform
