// A resource that moves bytes at a rate, one transfer after another.
#pragma once

#include <cstdint>
#include <limits>

#include "models/base/exact_time.h"
#include "models/base/quantity.h"

namespace kernwave {

/// A point in time in units of 1 / denominator picoseconds: streams that follow each other without a gap never
/// accumulate rounding.
using ScaledTime = Int128;

/// A resource that moves bytes one stream after another at a fixed rate.
/// The instant at which it falls free is kept as an exact ratio; callers see it rounded up to a picosecond.
class BandwidthServer {
 public:
  constexpr explicit BandwidthServer(Bandwidth bandwidth) noexcept : BandwidthServer(ByteTime(bandwidth)) {}
  constexpr explicit BandwidthServer(ByteTime byte_time) noexcept
      : byte_time_(byte_time), latest_(latest_time(byte_time)) {}

  /// Streams `bytes`, from `earliest` or from the end of the previous stream, whichever is later.
  /// Returns the end in units of 1 / denominator() picoseconds.
  constexpr ScaledTime stream(Picoseconds earliest, Bytes bytes) { return stream_from(scaled(earliest), bytes); }
  /// The same with `start` already scaled; servers of one rate share `scaled` of an instant.
  constexpr ScaledTime stream_from(ScaledTime start, Bytes bytes) {
    free_at_ = (free_at_ > start ? free_at_ : start) + ScaledTime{bytes.count()} * byte_time_.numerator();
    return free_at_;
  }

  /// Occupies the resource for `time`, from `earliest` or from the end of the previous stream, whichever is later.
  constexpr void occupy(Picoseconds earliest, Picoseconds time) {
    const ScaledTime start = scaled(earliest);
    free_at_ = (free_at_ > start ? free_at_ : start) + scaled(time);
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

  /// In units of 1 / denominator() picoseconds; throws TimeOverflow where streams behind it would not fit.
  [[nodiscard]] constexpr ScaledTime scaled(Picoseconds time) const {
    if (time > latest_) fail_time_overflow();
    return byte_time_.denominator() * time.count();
  }

 private:
  /// The latest time that 128 bits hold scaled, with room for streams behind it.
  [[nodiscard]] static constexpr Picoseconds latest_time(const ByteTime& byte_time) noexcept {
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
    const ScaledTime most = (ScaledTime{1} << 126) / byte_time.denominator();
    return Picoseconds(most > longest ? longest : static_cast<std::int64_t>(most));
  }

  ByteTime byte_time_;
  Picoseconds latest_;
  ScaledTime free_at_ = 0;
};

}  // namespace kernwave
