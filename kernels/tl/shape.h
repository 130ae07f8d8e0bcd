// Shapes of tensors: one or two dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::tl {

/// The extents of a tensor, outermost first. Rank 1 or 2, every extent at least 1; `Context` checks both.
class Shape {
 public:
  constexpr Shape() noexcept = default;
  constexpr Shape(std::initializer_list<std::int64_t> extents) noexcept : rank_(static_cast<int>(extents.size())) {
    int axis = 0;
    for (const std::int64_t extent : extents) {
      if (axis < max_rank) extents_[static_cast<std::size_t>(axis)] = extent;
      ++axis;
    }
  }

  static constexpr int max_rank = 2;

  [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr std::int64_t operator[](int axis) const noexcept {
    return extents_[static_cast<std::size_t>(axis)];
  }
  [[nodiscard]] constexpr std::int64_t elements() const noexcept {
    return rank_ == 1 ? extents_[0] : extents_[0] * extents_[1];
  }

  /// As rows x columns: a one-dimensional tensor is one row.
  [[nodiscard]] constexpr std::int64_t rows() const noexcept { return rank_ == 1 ? 1 : extents_[0]; }
  [[nodiscard]] constexpr std::int64_t cols() const noexcept { return rank_ == 1 ? extents_[0] : extents_[1]; }

  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.rank_ == b.rank_ && a.extents_ == b.extents_;
  }
  friend constexpr bool operator!=(const Shape& a, const Shape& b) noexcept { return !(a == b); }

 private:
  std::array<std::int64_t, max_rank> extents_{1, 1};
  int rank_ = 1;
};

/// "128x64"
[[nodiscard]] std::string to_string(const Shape& shape);

/// ceil(a / b) for a >= 0, b > 0, by Triton's name.
[[nodiscard]] constexpr std::int64_t cdiv(std::int64_t a, std::int64_t b) noexcept { return ceil_div(a, b); }

}  // namespace kernwave::tl
