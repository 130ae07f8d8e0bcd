// The keys that were renamed since the version before. Old names work for one version, with a warning.
#pragma once

#include <array>
#include <string_view>

namespace kernwave::platform {

struct RenamedKey {
  std::string_view old_path;
  std::string_view path;  ///< present path
};

inline constexpr std::array<RenamedKey, 4> renamed_keys = {{
    {"pe.scheduler.dispatch", "pe.scheduler.dispatch_latency"},
    {"pe.dma.outstanding", "pe.dma.max_outstanding"},
    {"ipcq.hop", "ipcq.hop_latency"},
    {"interconnect.latency", "interconnect.hop_latency"},
}};

/// The present path of a key that was called `path`, or `path` itself.
[[nodiscard]] constexpr std::string_view current_path(std::string_view path) noexcept {
  for (const RenamedKey& key : renamed_keys) {
    if (key.old_path == path) return key.path;
  }
  return path;
}

}  // namespace kernwave::platform
