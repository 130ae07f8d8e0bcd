// IEEE 754 binary16 and bfloat16: conversions without a branch, so that a loop over a row runs on vectors.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernwave::numeric {

namespace sixteen_bits {

[[nodiscard]] inline std::uint32_t bits_of(float value) noexcept {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

[[nodiscard]] inline float float_of(std::uint32_t bits) noexcept {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// A choice that stays one: of `condition ? a : b` a compiler makes a branch around whichever is a float operation.
[[nodiscard]] inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t mask = std::uint32_t{0} - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

constexpr std::uint32_t magnitude_mask = 0x7FFFFFFF;
constexpr std::uint32_t f32_infinity = 0x7F800000;
/// Fraction bits that f32 has more than binary16.
constexpr unsigned shift = 13;
/// Exponents of f32 and binary16 differ by 127 - 15, in place.
constexpr std::uint32_t rebias = std::uint32_t{127 - 15} << 23U;

}  // namespace sixteen_bits

/// Rounds to nearest even; NaN becomes the quiet NaN of its sign.
[[nodiscard]] inline std::uint16_t f32_to_f16(float value) noexcept {
  namespace bits16 = sixteen_bits;
  const std::uint32_t magnitude = bits16::bits_of(value) & bits16::magnitude_mask;
  const std::uint32_t sign = (bits16::bits_of(value) & ~bits16::magnitude_mask) >> 16U;
  // Half of the last place that is kept, less one if that place is even; a carry goes into the exponent.
  const std::uint32_t odd = (magnitude >> bits16::shift) & 1U;
  const std::uint32_t normal = (magnitude - bits16::rebias + 0xFFFU + odd) >> bits16::shift;
  // The last place of 0.5 is that of binary16's subnormal numbers, so the sum rounds to it.
  constexpr std::uint32_t half = 0x3F000000;
  const std::uint32_t subnormal = bits16::bits_of(bits16::float_of(magnitude) + bits16::float_of(half)) - half;
  constexpr std::uint32_t smallest_normal = 0x38800000;  // 2^-14
  constexpr std::uint32_t overflow = 0x47800000;         // 2^16; what rounds up to it has carried into infinity
  const std::uint32_t finite = bits16::select(magnitude < smallest_normal, subnormal, normal);
  const std::uint32_t special = bits16::select(magnitude > bits16::f32_infinity, 0x7E00U, 0x7C00U);
  return static_cast<std::uint16_t>(bits16::select(magnitude < overflow, finite, special) | sign);
}

/// Rounds to nearest even; NaN becomes the quiet NaN of its sign.
[[nodiscard]] inline std::uint16_t f32_to_bf16(float value) noexcept {
  namespace bits16 = sixteen_bits;
  const std::uint32_t bits = bits16::bits_of(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t nan = ((bits & ~bits16::magnitude_mask) >> 16U) | 0x7FC0U;
  return static_cast<std::uint16_t>(
      bits16::select((bits & bits16::magnitude_mask) > bits16::f32_infinity, nan, rounded));
}

/// Exact; a NaN keeps its payload.
[[nodiscard]] inline float f16_to_f32(std::uint16_t bits) noexcept {
  namespace bits16 = sixteen_bits;
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16U;
  const std::uint32_t magnitude = (std::uint32_t{bits} & 0x7FFFU) << bits16::shift;
  constexpr std::uint32_t smallest_normal = std::uint32_t{1} << 23U;  // its exponent, in place
  constexpr std::uint32_t infinity = std::uint32_t{31} << 23U;
  const std::uint32_t normal = magnitude + bits16::rebias + bits16::select(magnitude >= infinity, bits16::rebias, 0U);
  // With the exponent of 2^-14 the fraction is one too large by 1.
  constexpr std::uint32_t one = bits16::rebias + smallest_normal;
  const std::uint32_t subnormal = bits16::bits_of(bits16::float_of(magnitude + one) - bits16::float_of(one));
  return bits16::float_of(bits16::select(magnitude < smallest_normal, subnormal, normal) | sign);
}

/// Exact; a NaN keeps its payload.
[[nodiscard]] inline float bf16_to_f32(std::uint16_t bits) noexcept {
  return sixteen_bits::float_of(std::uint32_t{bits} << 16U);
}

/// Rows of adjacent elements; those of 16 bits may lie at any address.
void f16_to_f32(const std::uint8_t* from, float* to, std::int64_t count);
void bf16_to_f32(const std::uint8_t* from, float* to, std::int64_t count);
void f32_to_f16(const float* from, std::uint8_t* to, std::int64_t count);
void f32_to_bf16(const float* from, std::uint8_t* to, std::int64_t count);

}  // namespace kernwave::numeric
