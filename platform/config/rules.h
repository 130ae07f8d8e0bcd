// Rules about combinations of configuration values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/config/system_config.h"

namespace kernwave::platform {

/// An impossible combination of values that are each within their limits.
struct Rule {
  std::vector<std::string_view> keys;  ///< that it reads
  std::optional<std::string> (*violation)(const SystemConfig&) = nullptr;
};

[[nodiscard]] const std::vector<Rule>& configuration_rules();

/// A combination of values that is allowed, but probably not intended.
[[nodiscard]] std::vector<std::string> warnings_of(const SystemConfig& system);

}  // namespace kernwave::platform
