// The machine that a result document records, as a SystemConfig.
#pragma once

#include "models/config/system_config.h"
#include "platform/json/json.h"

namespace kernwave::platform {

/// The values under `config` of a result document; defaults of keys that it does not have. Throws JsonError where a
/// value is none of its key's.
[[nodiscard]] SystemConfig recorded_machine(const Json& result);

/// Of one HBM channel, in bytes per second.
[[nodiscard]] double channel_bandwidth(const SystemConfig& machine) noexcept;

}  // namespace kernwave::platform
