// A grid of measured times, with linear interpolation between its points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernwave {

/// A value at each point of a grid of one to three axes. Between the points it is linear along each axis (multilinear),
/// computed in exact integers and rounded up.
class TimingGrid {
 public:
  static constexpr std::size_t most_axes = 3;
  static constexpr std::int64_t most_coordinate = std::int64_t{1} << 24;
  static constexpr std::int64_t most_value = std::int64_t{1} << 40;

  /// Coordinates along the axes; those behind the last axis are ignored.
  using Position = std::array<std::int64_t, most_axes>;

  /// `axes`: the coordinates along each axis, ascending. `values`: one for each point, the last axis running fastest.
  /// Throws std::invalid_argument that names the mistake: the number of axes or values, an order, a number below 0 or
  /// above the limits.
  TimingGrid(std::vector<std::vector<std::int64_t>> axes, std::vector<std::int64_t> values);

  [[nodiscard]] std::size_t axes() const noexcept { return axes_.size(); }
  /// Whether the position lies among the points or on the outermost of them.
  [[nodiscard]] bool holds(const Position& position) const noexcept;
  /// The value at the position. Outside the grid, the outermost cells are extrapolated, but not below 0; along an axis
  /// of one point the value is constant. Coordinates are 0 to `most_coordinate`.
  [[nodiscard]] std::int64_t at(const Position& position) const;

 private:
  std::vector<std::vector<std::int64_t>> axes_;
  std::vector<std::int64_t> values_;
};

}  // namespace kernwave
