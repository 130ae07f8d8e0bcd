#include "models/ipcq/topology.h"

namespace kernwave {

namespace {

/// Position along one axis, one step on; nothing beyond the ends.
[[nodiscard]] std::optional<std::int64_t> step(std::int64_t position, std::int64_t by, std::int64_t extent) {
  const std::int64_t next = position + by;
  return next >= 0 && next < extent ? std::optional(next) : std::nullopt;
}

[[nodiscard]] std::optional<std::int64_t> step_around(std::int64_t position, std::int64_t by, std::int64_t extent) {
  return extent == 1 ? std::nullopt : std::optional((position + by + extent) % extent);
}

[[nodiscard]] std::int64_t mesh_rows(std::int64_t pes) {
  std::int64_t rows = 1;
  for (std::int64_t divisor = 1; divisor * divisor <= pes; ++divisor) {
    if (pes % divisor == 0) rows = divisor;
  }
  return rows;
}

[[nodiscard]] std::optional<std::int64_t> neighbour_in_mesh(std::int64_t pes, std::int64_t index, bool along_row,
                                                            std::int64_t by) {
  const std::int64_t rows = mesh_rows(pes);
  const std::int64_t columns = pes / rows;
  if (along_row) {
    const auto column = step(index % columns, by, columns);
    return column ? std::optional(index / columns * columns + *column) : std::nullopt;
  }
  const auto row = step(index / columns, by, rows);
  return row ? std::optional(*row * columns + index % columns) : std::nullopt;
}

}  // namespace

std::optional<PeId> neighbour(const SystemConfig& config, PeId pe, Direction direction) {
  const std::int64_t pes = config.pes_per_cube;
  const std::int64_t cube = pe.count() / pes;
  const std::int64_t index = pe.count() % pes;
  const bool east_west = direction == Direction::east || direction == Direction::west;
  const std::int64_t by = direction == Direction::east || direction == Direction::south ? 1 : -1;
  const IpcqTopology topology = config.pe.ipcq.topology;
  const bool between_cubes = topology != IpcqTopology::mesh && east_west;
  if (between_cubes) {
    const auto next =
        topology == IpcqTopology::ring ? step_around(cube, by, config.cubes) : step(cube, by, config.cubes);
    return next ? std::optional(PeId(*next * pes + index)) : std::nullopt;
  }
  const auto next =
      topology == IpcqTopology::mesh ? neighbour_in_mesh(pes, index, east_west, by) : step(index, by, pes);
  return next ? std::optional(PeId(cube * pes + *next)) : std::nullopt;
}

std::vector<Neighbour> neighbours(const SystemConfig& config, PeId pe) {
  std::vector<Neighbour> found;
  for (std::size_t i = 0; i < direction_count; ++i) {
    const auto direction = static_cast<Direction>(i);
    if (const auto other = neighbour(config, pe, direction)) found.push_back({direction, *other});
  }
  return found;
}

}  // namespace kernwave
