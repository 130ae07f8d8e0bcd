// Strong integer quantities: a number of picoseconds cannot be passed where bytes are expected.
#pragma once

#include <cstdint>

#include "models/base/time_overflow.h"

namespace kernwave {

/// Whether sums, differences and products of a unit throw TimeOverflow where 64 bits do not hold them. Only time grows
/// for as long as a run goes on.
template <typename Unit>
inline constexpr bool is_checked = false;
template <>
inline constexpr bool is_checked<struct PicosecondUnit> = true;

/// An integer count of one unit. Arithmetic stays inside the unit; `count()` leaves it explicitly.
template <typename Unit>
class Quantity {
  static constexpr bool unchecked = !is_checked<Unit>;

 public:
  constexpr Quantity() noexcept = default;
  constexpr explicit Quantity(std::int64_t count) noexcept : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const noexcept { return count_; }

  constexpr Quantity& operator+=(Quantity other) noexcept(unchecked) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) noexcept(unchecked) { return *this = *this - other; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept(unchecked) {
    if constexpr (unchecked) {
      return Quantity(a.count_ + b.count_);
    } else {
      std::int64_t sum = 0;
      if (__builtin_add_overflow(a.count_, b.count_, &sum)) fail_time_overflow();
      return Quantity(sum);
    }
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept(unchecked) {
    if constexpr (unchecked) {
      return Quantity(a.count_ - b.count_);
    } else {
      std::int64_t difference = 0;
      if (__builtin_sub_overflow(a.count_, b.count_, &difference)) fail_time_overflow();
      return Quantity(difference);
    }
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) noexcept(unchecked) {
    if constexpr (unchecked) {
      return Quantity(a.count_ * n);
    } else {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(a.count_, n, &product)) fail_time_overflow();
      return Quantity(product);
    }
  }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) noexcept(unchecked) { return a * n; }
  friend constexpr bool operator==(Quantity a, Quantity b) noexcept { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) noexcept { return a.count_ != b.count_; }
  friend constexpr bool operator<(Quantity a, Quantity b) noexcept { return a.count_ < b.count_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) noexcept { return a.count_ <= b.count_; }
  friend constexpr bool operator>(Quantity a, Quantity b) noexcept { return a.count_ > b.count_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) noexcept { return a.count_ >= b.count_; }

 private:
  std::int64_t count_ = 0;
};

using Picoseconds = Quantity<struct PicosecondUnit>;
using Cycles = Quantity<struct CycleUnit>;
using Bytes = Quantity<struct ByteUnit>;
/// Bytes per second.
using Bandwidth = Quantity<struct BytesPerSecondUnit>;
/// Hertz.
using Frequency = Quantity<struct HertzUnit>;

/// A fraction in parts per million, so that `0.86` is exact.
using PartsPerMillion = Quantity<struct PartsPerMillionUnit>;

/// ceil(a / b) for a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The next multiple of `alignment`, or `size` itself if it is one.
[[nodiscard]] constexpr Bytes align_up(Bytes size, std::int64_t alignment) noexcept {
  return Bytes(ceil_div(size.count(), alignment) * alignment);
}

}  // namespace kernwave
