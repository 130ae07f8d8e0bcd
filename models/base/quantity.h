// Strong integer quantities: a number of picoseconds cannot be passed where bytes are expected.
#pragma once

#include <cstdint>

namespace kernwave {

/// An integer count of one unit. Arithmetic stays inside the unit; `count()` leaves it explicitly.
template <typename Unit>
class Quantity {
 public:
  constexpr Quantity() noexcept = default;
  constexpr explicit Quantity(std::int64_t count) noexcept : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const noexcept { return count_; }

  constexpr Quantity& operator+=(Quantity other) noexcept {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) noexcept {
    count_ -= other.count_;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) noexcept { return Quantity(a.count_ * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) noexcept { return Quantity(a.count_ * n); }
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

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

}  // namespace kernwave
