// Predictions of the latency of a run if one resource were twice as fast.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/config/system_config.h"
#include "traces/critical_path/critical_path.h"

namespace kernwave::platform {

/// The resources that can be made faster, in the order of the documentation.
enum class Faster : std::uint8_t { hbm, memory, dma, dma_setup, gemm, math, issue, dispatch, link, hop };
inline constexpr std::size_t faster_count = 10;

/// "hbm", "dma_setup", ...: as in results.
[[nodiscard]] std::string_view name_of(Faster resource) noexcept;
/// "hbm.bandwidth x 2", ...: the keys that `twice_as_fast` changes, for people.
[[nodiscard]] std::string_view keys_of(Faster resource) noexcept;

/// Twice the bandwidth or clock, half the latency or cost. Cycles that are odd are rounded up.
[[nodiscard]] SystemConfig twice_as_fast(const SystemConfig& config, Faster resource);

struct Prediction {
  Faster resource = Faster::hbm;
  Picoseconds latency;
};

/// The latency less half of what the critical path spends on each resource; the largest gain first, resources without
/// any left out. Exact when the path stays the same and all its times halve without rounding. Otherwise another path
/// may become the longest, and the gain is at most the predicted one. The gain can be larger only if contention
/// disappears altogether.
[[nodiscard]] std::vector<Prediction> predict(const traces::PathSummary& path);

}  // namespace kernwave::platform
