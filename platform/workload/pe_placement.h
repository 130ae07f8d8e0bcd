// The PEs on which a workload runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/address.h"
#include "models/config/system_config.h"

namespace kernwave::platform {

/// What a plan of scratch must fit into.
struct ScratchLimits {
  Bytes capacity;
  std::int64_t prefetch_depth = 1;  ///< slots of a composite's staging area
};

/// All PEs of a machine, or those of one kind.
class PePlacement {
 public:
  PePlacement() = default;
  /// Throws WorkloadError if no PE is of that kind.
  PePlacement(const SystemConfig& config, const std::optional<std::string>& kind);

  /// In ascending order, like those of a cube.
  [[nodiscard]] const std::vector<PeId>& all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<PeId>& of_cube(CubeId cube) const {
    return by_cube_.at(static_cast<std::size_t>(cube.count()));
  }
  /// Whether the PEs have the same places in each of the first cubes, so that east and west lead from one to another.
  [[nodiscard]] bool is_alike_in(std::int64_t cubes) const;
  /// Whether the PEs of the cube lie side by side, so that north and south lead from one to another.
  [[nodiscard]] bool is_one_row_of(CubeId cube) const;
  /// Of the PE with the least scratch, and of the one with the deepest staging areas: a kernel on unlike PEs has one
  /// plan, which fits all of them.
  [[nodiscard]] ScratchLimits smallest() const noexcept { return smallest_; }

 private:
  std::int64_t pes_per_cube_ = 1;
  std::vector<PeId> all_;
  std::vector<std::vector<PeId>> by_cube_;
  ScratchLimits smallest_;
};

}  // namespace kernwave::platform
