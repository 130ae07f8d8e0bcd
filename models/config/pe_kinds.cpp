#include "models/config/pe_kinds.h"

#include <algorithm>

namespace kernwave {

namespace {

[[nodiscard]] bool holds(const std::vector<PeRange>& ranges, std::int64_t number) noexcept {
  return std::any_of(ranges.begin(), ranges.end(),
                     [number](const PeRange& range) { return range.first <= number && number <= range.last; });
}

}  // namespace

const PeKind* kind_of(const SystemConfig& system, PeId pe) noexcept {
  const auto found = std::find_if(system.kinds.begin(), system.kinds.end(), [&](const PeKind& kind) {
    return holds(kind.pes, pe.count()) || holds(kind.of_each_cube, pe.count() % system.pes_per_cube);
  });
  return found == system.kinds.end() ? nullptr : &*found;
}

PeConfig pe_config(const SystemConfig& system, PeId pe) {
  const PeKind* kind = kind_of(system, pe);
  return kind == nullptr ? system.pe : machine_of_kind(system, *kind).pe;
}

SystemConfig machine_of_kind(const SystemConfig& system, const PeKind& kind) {
  SystemConfig machine = system;
  machine.pe = kind.pe;
  machine.pe.ipcq = system.pe.ipcq;
  machine.pe.kernel_stack = system.pe.kernel_stack;
  return machine;
}

}  // namespace kernwave
