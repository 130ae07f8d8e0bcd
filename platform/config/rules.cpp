#include "platform/config/rules.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "models/base/exact_time.h"
#include "models/config/pe_kinds.h"
#include "platform/config/key_table.h"
#include "platform/text/units.h"

namespace kernwave::platform {
namespace {

std::optional<std::string> too_many_pes(const SystemConfig& system) {
  // Each PE runs its kernel on a stack of its own, with a guard page: Linux allows a process about 65 thousand
  // mappings, two of which a stack takes.
  constexpr std::int64_t max_pes = 16'384;
  const std::int64_t pes = system.cubes * system.pes_per_cube;
  if (pes <= max_pes) return std::nullopt;
  return fmt::format("system.cubes x system.pes_per_cube is {} PEs (allowed: up to {})", pes, max_pes);
}

std::optional<std::string> too_slow_channels(const SystemConfig& system) {
  const HbmConfig& hbm = system.hbm;
  constexpr std::int64_t million = 1'000'000;
  const Int128 scaled = Int128{hbm.bandwidth.count()} * hbm.efficiency.count();
  const auto channel = static_cast<std::int64_t>(scaled / (Int128{hbm.channels} * million));
  if (channel >= min_bytes_per_second) return std::nullopt;
  return fmt::format("hbm.bandwidth x hbm.efficiency / hbm.channels is {} a channel (allowed: from {} on)",
                     format_quantity(Bandwidth(channel)), format_quantity(Bandwidth(min_bytes_per_second)));
}

/// "" or the kind that a warning is about, before it.
[[nodiscard]] std::vector<std::string> warnings_of_pes(const SystemConfig& system, std::string_view whose) {
  const DmaConfig& dma = system.pe.dma;
  if (dma.burst.count() == 0) return {};
  const Bytes in_flight = dma.burst * dma.max_outstanding;
  const Picoseconds round_trip = dma.setup + system.hbm.latency;
  const Int128 scaled = Int128{dma.bandwidth.count()} * round_trip.count();
  const auto needed = static_cast<std::int64_t>((scaled + picoseconds_per_second - 1) / picoseconds_per_second);
  if (in_flight.count() >= needed) return {};
  return {fmt::format(
      "{}pe.dma.max_outstanding x pe.dma.burst is {} in flight, below the {} B that pe.dma.bandwidth {} takes "
      "over a round trip of {} (pe.dma.setup + hbm.latency): the port cannot reach its bandwidth; {} "
      "outstanding bursts would",
      whose, format_quantity(in_flight), needed, format_quantity(dma.bandwidth), format_quantity(round_trip),
      ceil_div(needed, dma.burst.count()))};
}

}  // namespace

const std::vector<Rule>& configuration_rules() {
  static const std::vector<Rule> rules{
      {{"system.cubes", "system.pes_per_cube"}, &too_many_pes},
      {{"hbm.bandwidth", "hbm.efficiency", "hbm.channels"}, &too_slow_channels},
  };
  return rules;
}

std::vector<std::string> warnings_of(const SystemConfig& system) {
  std::vector<std::string> warnings = warnings_of_pes(system, "");
  for (const PeKind& kind : system.kinds) {
    for (std::string& warning :
         warnings_of_pes(machine_of_kind(system, kind), fmt::format("PEs of the kind \"{}\": ", kind.name))) {
      warnings.push_back(std::move(warning));
    }
  }
  return warnings;
}

}  // namespace kernwave::platform
