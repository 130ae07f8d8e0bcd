#include "platform/workload/pe_placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/config/pe_kinds.h"
#include "platform/text/message_text.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

namespace {

void check_kind(const SystemConfig& config, const std::optional<std::string>& kind) {
  if (!kind) return;
  std::vector<std::string> names;
  names.reserve(config.kinds.size());
  for (const PeKind& known : config.kinds) names.push_back(known.name);
  if (std::find(names.begin(), names.end(), *kind) != names.end()) return;
  throw WorkloadError(
      names.empty() ? fmt::format("--pe-kind {}: the machine has PEs of one kind (see pe.kind.NAME)", in_quotes(*kind))
                    : fmt::format("--pe-kind {}{} (allowed: {})", in_quotes(*kind), did_you_mean(*kind, names),
                                  fmt::join(names, ", ")));
}

}  // namespace

PePlacement::PePlacement(const SystemConfig& config, const std::optional<std::string>& kind)
    : pes_per_cube_(config.pes_per_cube), by_cube_(static_cast<std::size_t>(config.cubes)) {
  check_kind(config, kind);
  for (std::int64_t id = 0; id < config.cubes * config.pes_per_cube; ++id) {
    const PeKind* its = kind_of(config, PeId(id));
    if (kind && (its == nullptr || its->name != *kind)) continue;
    const PeConfig& pe = its == nullptr ? config.pe : its->pe;
    smallest_.capacity = all_.empty() ? pe.scratch.capacity : std::min(smallest_.capacity, pe.scratch.capacity);
    smallest_.prefetch_depth = std::max(smallest_.prefetch_depth, pe.scheduler.prefetch_depth);
    all_.emplace_back(id);
    by_cube_[static_cast<std::size_t>(id / config.pes_per_cube)].emplace_back(id);
  }
}

bool PePlacement::is_alike_in(std::int64_t cubes) const {
  const std::vector<PeId>& first = of_cube(CubeId(0));
  for (std::int64_t cube = 0; cube < cubes; ++cube) {
    const std::vector<PeId>& other = of_cube(CubeId(cube));
    const bool alike = std::equal(first.begin(), first.end(), other.begin(), other.end(), [&](PeId a, PeId b) {
      return a.count() % pes_per_cube_ == b.count() % pes_per_cube_;
    });
    if (!alike || other.empty()) return false;
  }
  return true;
}

bool PePlacement::is_one_row_of(CubeId cube) const {
  const std::vector<PeId>& pes = of_cube(cube);
  return !pes.empty() && (pes.back() - pes.front()).count() + 1 == static_cast<std::int64_t>(pes.size());
}

}  // namespace kernwave::platform
