// The four directions in which a PE has queues to other PEs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernwave {

enum class Direction : std::uint8_t { north, south, east, west };
inline constexpr std::size_t direction_count = 4;

[[nodiscard]] constexpr Direction opposite(Direction direction) noexcept {
  switch (direction) {
    case Direction::north:
      return Direction::south;
    case Direction::south:
      return Direction::north;
    case Direction::east:
      return Direction::west;
    case Direction::west:
      break;
  }
  return Direction::east;
}

[[nodiscard]] constexpr std::string_view name_of(Direction direction) noexcept {
  switch (direction) {
    case Direction::north:
      return "north";
    case Direction::south:
      return "south";
    case Direction::east:
      return "east";
    case Direction::west:
      break;
  }
  return "west";
}

}  // namespace kernwave
