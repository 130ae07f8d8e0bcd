// Durations from rates, without floating point: every rounding is one ceil, at the end.
#pragma once

#include <cstdint>
#include <limits>

#include "models/base/quantity.h"

namespace kernwave {

__extension__ using Int128 = __int128;

inline constexpr std::int64_t picoseconds_per_second = 1'000'000'000'000;

/// As a time; throws TimeOverflow where it is none.
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

/// A point in time in units of 1 / denominator picoseconds: streams that follow each other without a gap never
/// accumulate rounding.
using ScaledTime = Int128;

/// A resource that moves bytes one stream after another at a fixed rate.
/// The instant at which it falls free is kept as an exact ratio; callers see it rounded up to a picosecond.
class StreamServer {
 public:
  constexpr explicit StreamServer(Bandwidth bandwidth) noexcept : StreamServer(ByteTime(bandwidth)) {}
  constexpr explicit StreamServer(ByteTime byte_time) noexcept
      : byte_time_(byte_time), latest_(latest_time(byte_time)) {}

  /// Streams `bytes`, from `earliest` or from the end of the previous stream, whichever is later.
  /// Returns the end in units of 1 / denominator() picoseconds.
  constexpr ScaledTime stream(Picoseconds earliest, Bytes bytes) {
    const ScaledTime start = scaled(earliest);
    free_at_ = (free_at_ > start ? free_at_ : start) + ScaledTime{bytes.count()} * byte_time_.numerator();
    return free_at_;
  }

  /// The stream that was last added cannot end before `time` (its data arrive later than the rate alone allows).
  /// `time` is itself rounded up: the same picosecond is not later, or the next stream would inherit the rounding.
  constexpr void hold_until(Picoseconds time) {
    const ScaledTime held = scaled(time);
    if (held - byte_time_.denominator() >= free_at_) free_at_ = held;
  }

  [[nodiscard]] constexpr Picoseconds free_at() const { return round_up(free_at_); }

  [[nodiscard]] constexpr Picoseconds round_up(ScaledTime time) const {
    return picoseconds((time + byte_time_.denominator() - 1) / byte_time_.denominator());
  }

 private:
  /// What 128 bits hold scaled, with room for streams behind it.
  [[nodiscard]] static constexpr Picoseconds latest_time(const ByteTime& byte_time) noexcept {
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
    const ScaledTime most = (ScaledTime{1} << 126) / byte_time.denominator();
    return Picoseconds(most > longest ? longest : static_cast<std::int64_t>(most));
  }

  [[nodiscard]] constexpr ScaledTime scaled(Picoseconds time) const {
    if (time > latest_) fail_time_overflow();
    return byte_time_.denominator() * time.count();
  }

  ByteTime byte_time_;
  Picoseconds latest_;
  ScaledTime free_at_ = 0;
};

}  // namespace kernwave
