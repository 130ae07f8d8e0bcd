// Durations from rates, without floating point: every rounding is one ceil, at the end.
#pragma once

#include <cstdint>
#include <limits>

#include "models/base/quantity.h"

namespace kernwave {

__extension__ using Int128 = __int128;

inline constexpr std::int64_t picoseconds_per_second = 1'000'000'000'000;

/// `count` as a time; throws TimeOverflow if it does not fit.
[[nodiscard]] constexpr Picoseconds picoseconds(Int128 count) {
  if (count > std::numeric_limits<std::int64_t>::max()) fail_time_overflow();
  return Picoseconds(static_cast<std::int64_t>(count));
}

/// ceil(cycles / frequency), in picoseconds.
[[nodiscard]] constexpr Picoseconds duration(Cycles cycles, Frequency frequency) {
  const Int128 scaled = Int128{cycles.count()} * picoseconds_per_second;
  return picoseconds((scaled + frequency.count() - 1) / frequency.count());
}

/// ceil(bytes / bandwidth), in picoseconds.
[[nodiscard]] constexpr Picoseconds duration(Bytes bytes, Bandwidth bandwidth) {
  const Int128 scaled = Int128{bytes.count()} * picoseconds_per_second;
  return picoseconds((scaled + bandwidth.count() - 1) / bandwidth.count());
}

/// The time a byte takes, as the exact reduced ratio `numerator / denominator` picoseconds.
class ByteTime {
 public:
  constexpr explicit ByteTime(Bandwidth bandwidth) noexcept : ByteTime(bandwidth, PartsPerMillion(1'000'000), 1) {}

  /// The time per byte of one of `shares` equal shares of bandwidth x efficiency.
  constexpr ByteTime(Bandwidth bandwidth, PartsPerMillion efficiency, std::int64_t shares) noexcept {
    Int128 numerator = Int128{picoseconds_per_second} * 1'000'000 * shares;
    Int128 denominator = Int128{bandwidth.count()} * efficiency.count();
    Int128 divisor = numerator;
    for (Int128 rest = denominator; rest != 0;) {  // Euclid; std::gcd does not take 128 bits
      const Int128 next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    numerator_ = numerator / divisor;
    denominator_ = denominator / divisor;
  }

  // Up to some 2^70: a bandwidth and an efficiency may have no divisor in common with anything.
  [[nodiscard]] constexpr Int128 numerator() const noexcept { return numerator_; }
  [[nodiscard]] constexpr Int128 denominator() const noexcept { return denominator_; }

 private:
  Int128 numerator_ = 0;
  Int128 denominator_ = 1;
};

}  // namespace kernwave
