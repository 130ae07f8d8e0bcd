#include "models/numeric/sixteen_bit_floats.h"

#include "models/numeric/vector_clones.h"

namespace kernwave::numeric {

namespace {

constexpr std::int64_t stored_bytes = sizeof(std::uint16_t);

[[nodiscard]] inline std::uint16_t load_bits(const std::uint8_t* from) noexcept {
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

inline void store_bits(std::uint8_t* to, std::uint16_t bits) noexcept { std::memcpy(to, &bits, sizeof bits); }

}  // namespace

KERNWAVE_VECTOR_CLONES void f16_to_f32(const std::uint8_t* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f16_to_f32(load_bits(from + i * stored_bytes));
}

KERNWAVE_VECTOR_CLONES void bf16_to_f32(const std::uint8_t* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_to_f32(load_bits(from + i * stored_bytes));
}

KERNWAVE_VECTOR_CLONES void f32_to_f16(const float* from, std::uint8_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) store_bits(to + i * stored_bytes, f32_to_f16(from[i]));
}

KERNWAVE_VECTOR_CLONES void f32_to_bf16(const float* from, std::uint8_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) store_bits(to + i * stored_bytes, f32_to_bf16(from[i]));
}

}  // namespace kernwave::numeric
