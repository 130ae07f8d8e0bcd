#include "models/timing/timing_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/base/exact_time.h"

namespace kernwave {

namespace {

/// Where a coordinate lies on an axis: between two neighbouring points, `above` parts of `span` from the lower one, or
/// outside of them.
struct Cell {
  std::size_t lower = 0;
  std::int64_t above = 0;
  std::int64_t span = 1;
};

[[nodiscard]] Cell cell_of(const std::vector<std::int64_t>& points, std::int64_t coordinate) {
  if (points.size() == 1) return {};
  const auto next = std::upper_bound(points.begin() + 1, points.end() - 1, coordinate);
  const auto lower = static_cast<std::size_t>(next - points.begin()) - 1;
  return {lower, coordinate - points[lower], points[lower + 1] - points[lower]};
}

void check_axis(const std::vector<std::int64_t>& points) {
  if (points.empty()) throw std::invalid_argument("an axis needs at least one point");
  if (points.front() < 0 || points.back() > TimingGrid::most_coordinate) {
    throw std::invalid_argument(fmt::format("the points of an axis must be 0 to {}", TimingGrid::most_coordinate));
  }
  const auto misplaced = std::adjacent_find(points.begin(), points.end(), [](auto a, auto b) { return a >= b; });
  if (misplaced == points.end()) return;
  throw std::invalid_argument(
      fmt::format("the points of an axis must ascend: {} stands before {}", misplaced[0], misplaced[1]));
}

}  // namespace

TimingGrid::TimingGrid(std::vector<std::vector<std::int64_t>> axes, std::vector<std::int64_t> values)
    : axes_(std::move(axes)), values_(std::move(values)) {
  if (axes_.empty() || axes_.size() > most_axes) {
    throw std::invalid_argument(fmt::format("a grid has 1 to {} axes, not {}", most_axes, axes_.size()));
  }
  Int128 points = 1;
  for (const std::vector<std::int64_t>& axis : axes_) {
    check_axis(axis);
    points *= static_cast<std::int64_t>(axis.size());
  }
  if (points != static_cast<std::int64_t>(values_.size())) {
    throw std::invalid_argument(
        fmt::format("{} values for {} points of the axes", values_.size(), static_cast<std::int64_t>(points)));
  }
  for (const std::int64_t value : values_) {
    if (value >= 0 && value <= most_value) continue;
    throw std::invalid_argument(fmt::format("the value {} is not among 0 to {}", value, most_value));
  }
}

bool TimingGrid::holds(const Position& position) const noexcept {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (position[i] < axes_[i].front() || position[i] > axes_[i].back()) return false;
  }
  return true;
}

/// The sum over the corners of the cell of (value x share of the opposite part of each span), over the product of the
/// spans. With 24 bits a span and 40 a value, every term has at most 115 bits.
std::int64_t TimingGrid::at(const Position& position) const {
  std::array<Cell, most_axes> cells;
  Int128 whole = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    cells[i] = cell_of(axes_[i], position[i]);
    whole *= cells[i].span;
  }
  Int128 sum = 0;
  for (std::size_t corner = 0; corner < (std::size_t{1} << axes_.size()); ++corner) {
    Int128 share = 1;
    std::size_t index = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const bool upper = (corner >> i & 1U) != 0;
      share *= upper ? cells[i].above : cells[i].span - cells[i].above;
      index = index * axes_[i].size() + cells[i].lower + (upper && axes_[i].size() > 1 ? 1 : 0);
    }
    sum += share * values_[index];
  }
  if (sum <= 0) return 0;
  return picoseconds((sum + whole - 1) / whole).count();  // or a TimeOverflow
}

}  // namespace kernwave
