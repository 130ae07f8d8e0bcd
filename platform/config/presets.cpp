#include "platform/config/presets.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/config/system_config.h"
#include "platform/text/units.h"

namespace kernwave::platform {
namespace {

/// The reference machine is what the members of SystemConfig are made with; nothing is said of it twice.
constexpr std::string_view ahbm;

constexpr std::string_view ahbm_ws = R"toml(
preset = "ahbm"

[pe.gemm]
dataflow = "weight_stationary"   # a systolic array that pays for fill and drain
)toml";

/// In one line.
[[nodiscard]] std::string machine_text(const SystemConfig& machine) {
  const GemmConfig& gemm = machine.pe.gemm;
  return fmt::format("{} cubes of {} PEs at {}, {}{} x {} GEMM, {} of HBM a cube", machine.cubes, machine.pes_per_cube,
                     format_quantity(machine.pe.clock), gemm.dataflow == GemmDataflow::ideal ? "ideal " : "", gemm.rows,
                     gemm.cols, format_quantity(machine.hbm.bandwidth));
}

}  // namespace

const std::vector<Preset>& shipped_presets() {
  static const std::vector<Preset> presets{
      {default_preset, machine_text(SystemConfig()), ahbm},
      {"ahbm-ws", "ahbm with weight-stationary systolic GEMM, folds overlapped", ahbm_ws},
  };
  return presets;
}

const Preset* find_preset(std::string_view name) {
  const std::vector<Preset>& presets = shipped_presets();
  const auto found =
      std::find_if(presets.begin(), presets.end(), [name](const Preset& preset) { return preset.name == name; });
  return found == presets.end() ? nullptr : &*found;
}

}  // namespace kernwave::platform
