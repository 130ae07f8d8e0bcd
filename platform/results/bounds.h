// Lower bounds of a run's latency, by resource.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "models/system/system.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

enum class Resource : std::uint8_t {
  hbm_read,  ///< channels of the busiest cube, at their sustained bandwidth
  hbm_write,
  dma_read,  ///< port of the busiest PE
  dma_write,
  gemm_ideal,     ///< every multiply-accumulator busy in every cycle
  gemm_dataflow,  ///< under the configured dataflow and scratch bandwidth
  math,
  ipcq,
  issue,
};
inline constexpr std::size_t resource_count = 9;

[[nodiscard]] std::string_view name_of(Resource resource) noexcept;

/// The least time that each resource needs for a given amount of work.
struct Bounds {
  std::array<Picoseconds, resource_count> times{};

  [[nodiscard]] Picoseconds& operator[](Resource resource) { return times[static_cast<std::size_t>(resource)]; }
  [[nodiscard]] Picoseconds operator[](Resource resource) const { return times[static_cast<std::size_t>(resource)]; }
  /// The resource that binds. `gemm_ideal` is never it: `gemm_dataflow` is at least as long.
  [[nodiscard]] Resource largest() const;
};

/// Bounds for the work that no kernel can avoid (`Workload::compulsory`). The bound of the dataflow is the time of the
/// issued products, back to back, without the share of the masked multiply-accumulates. The bounds of issue and
/// messages are 0. If an engine has a given timing, its bound is the compulsory share of the times given for the issued
/// work (MATH: none).
[[nodiscard]] Bounds compulsory_bounds(const System& system, const std::vector<CompulsoryWork>& work, DType dtype);

/// Bounds for the work that the run issued.
[[nodiscard]] Bounds issued_bounds(const System& system);

}  // namespace kernwave::platform
