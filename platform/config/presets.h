// The presets: the machines that kernwave comes with, as TOML text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernwave::platform {

struct Preset {
  std::string_view name;
  std::string description;  ///< one line
  std::string_view toml;    ///< values other than the defaults; a top-level `preset` names another preset as base
};

/// The preset on which a configuration file builds if it names none; first in shipped_presets().
inline constexpr std::string_view default_preset = "ahbm";

/// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Preset>& shipped_presets();

/// The preset of that name, or nullptr.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace kernwave::platform
