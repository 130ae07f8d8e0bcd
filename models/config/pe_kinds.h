// PEs that differ from the others of their machine.
#pragma once

#include <string_view>

#include "models/base/address.h"
#include "models/config/system_config.h"

namespace kernwave {

/// The kind that names the PE; nullptr for one of no kind. A PE that several kinds name is of the first of them.
[[nodiscard]] const PeKind* kind_of(const SystemConfig& system, PeId pe) noexcept;

/// The configuration of a PE: its kind's, or that of all PEs of no kind. The queues and the host's stack are the same
/// for all PEs.
[[nodiscard]] PeConfig pe_config(const SystemConfig& system, PeId pe);

/// The machine as if all its PEs were of that kind.
[[nodiscard]] SystemConfig machine_of_kind(const SystemConfig& system, const PeKind& kind);

/// Calls `change` with the configuration of each kind of PE, that of PEs of no kind included.
template <typename Change>
void change_every_pe(SystemConfig& system, Change change) {
  change(system.pe);
  for (PeKind& kind : system.kinds) change(kind.pe);
}

}  // namespace kernwave
