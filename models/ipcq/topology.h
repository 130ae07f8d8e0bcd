// The topology of the queues: the PE at the other end of each queue.
#pragma once

#include <optional>
#include <vector>

#include "models/base/address.h"
#include "models/base/direction.h"
#include "models/config/system_config.h"

namespace kernwave {

/// The PE that the link of `pe` in `direction` leads to, or nothing where the machine ends. PE numbers are
/// cube x pes_per_cube + index.
/// - `ring`, `line`: east is the PE of the same index in the next cube, west in the previous one; a ring closes, unless
///   it has one cube. South is index + 1, north index - 1, inside the cube.
/// - `mesh`: the PEs of a cube form rows, as many as the largest divisor of their number that is at most its square
///   root; index = row x columns + column. East is the next column, south the next row.
[[nodiscard]] std::optional<PeId> neighbour(const SystemConfig& config, PeId pe, Direction direction);

struct Neighbour {
  Direction direction = Direction::north;
  PeId pe;
};

/// All neighbours of `pe`, in the order of the directions.
[[nodiscard]] std::vector<Neighbour> neighbours(const SystemConfig& config, PeId pe);

}  // namespace kernwave
