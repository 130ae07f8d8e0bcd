// Durations from rates, without floating point: every rounding is one ceil, at the end.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace kernwave {

__extension__ using Int128 = __int128;

inline constexpr std::int64_t picoseconds_per_second = 1'000'000'000'000;

/// ceil(cycles / frequency), in picoseconds.
[[nodiscard]] constexpr Picoseconds duration(Cycles cycles, Frequency frequency) noexcept {
  const Int128 scaled = Int128{cycles.count()} * picoseconds_per_second;
  return Picoseconds(static_cast<std::int64_t>((scaled + frequency.count() - 1) / frequency.count()));
}

/// ceil(bytes / bandwidth), in picoseconds.
[[nodiscard]] constexpr Picoseconds duration(Bytes bytes, Bandwidth bandwidth) noexcept {
  const Int128 scaled = Int128{bytes.count()} * picoseconds_per_second;
  return Picoseconds(static_cast<std::int64_t>((scaled + bandwidth.count() - 1) / bandwidth.count()));
}

/// The time a byte takes, as the exact reduced ratio `numerator / denominator` picoseconds.
class ByteTime {
 public:
  constexpr explicit ByteTime(Bandwidth bandwidth) noexcept : ByteTime(bandwidth, PartsPerMillion(1'000'000), 1) {}

  /// Of one of `shares` equal shares of bandwidth x efficiency.
  constexpr ByteTime(Bandwidth bandwidth, PartsPerMillion efficiency, std::int64_t shares) noexcept {
    Int128 numerator = Int128{picoseconds_per_second} * 1'000'000 * shares;
    Int128 denominator = Int128{bandwidth.count()} * efficiency.count();
    Int128 divisor = numerator;
    for (Int128 rest = denominator; rest != 0;) {  // Euclid; std::gcd does not take 128 bits
      const Int128 next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    numerator_ = static_cast<std::int64_t>(numerator / divisor);
    denominator_ = static_cast<std::int64_t>(denominator / divisor);
  }

  [[nodiscard]] constexpr std::int64_t numerator() const noexcept { return numerator_; }
  [[nodiscard]] constexpr std::int64_t denominator() const noexcept { return denominator_; }

 private:
  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

/// A point in time in units of 1 / denominator picoseconds: streams that follow each other without a gap never
/// accumulate rounding.
using ScaledTime = Int128;

/// A resource that moves bytes one stream after another at a fixed rate.
/// The instant at which it falls free is kept as an exact ratio; callers see it rounded up to a picosecond.
class StreamServer {
 public:
  constexpr explicit StreamServer(Bandwidth bandwidth) noexcept : StreamServer(ByteTime(bandwidth)) {}
  constexpr explicit StreamServer(ByteTime byte_time) noexcept : byte_time_(byte_time) {}

  /// Streams `bytes`, from `earliest` or from the end of the previous stream, whichever is later.
  /// Returns the end in units of 1 / denominator() picoseconds.
  constexpr ScaledTime stream(Picoseconds earliest, Bytes bytes) noexcept {
    const ScaledTime start = ScaledTime{earliest.count()} * byte_time_.denominator();
    free_at_ = (free_at_ > start ? free_at_ : start) + ScaledTime{bytes.count()} * byte_time_.numerator();
    return free_at_;
  }

  /// The stream that was last added cannot end before `time` (its data arrive later than the rate alone allows).
  /// `time` is itself rounded up: the same picosecond is not later, or the next stream would inherit the rounding.
  constexpr void hold_until(Picoseconds time) noexcept {
    const ScaledTime scaled = ScaledTime{time.count()} * byte_time_.denominator();
    if (scaled - byte_time_.denominator() >= free_at_) free_at_ = scaled;
  }

  [[nodiscard]] constexpr Picoseconds free_at() const noexcept { return round_up(free_at_); }

  [[nodiscard]] constexpr Picoseconds round_up(ScaledTime time) const noexcept {
    return Picoseconds(static_cast<std::int64_t>((time + byte_time_.denominator() - 1) / byte_time_.denominator()));
  }

 private:
  ByteTime byte_time_;
  ScaledTime free_at_ = 0;
};

}  // namespace kernwave
