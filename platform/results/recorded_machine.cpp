#include "platform/results/recorded_machine.h"

#include <fmt/format.h>

#include "platform/config/key_table.h"
#include "platform/config/pe_kind_keys.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::vector<PeKind> recorded_kinds(const Json& values, const SystemConfig& machine) {
  KindAssignments kinds;
  for (const Json::Member& value : values.as_object()) {
    const std::optional<KindPath> path = kind_path(value.key);
    if (!path) continue;
    try {
      (void)kinds.assign(*path, written_value_of(value.value.as_string()));  // not the names of timings
    } catch (const ParseError& error) {
      throw JsonError(fmt::format("config: {}: {}", value.key, error.what()));
    }
  }
  return kinds.kinds(machine, {});
}

}  // namespace

SystemConfig recorded_machine(const Json& result) {
  const Json& values = result.at("config");
  SystemConfig machine;
  for (const Key& key : all_keys()) {
    const Json* value = values.find(key.path);
    if (value == nullptr) continue;
    try {
      key.member.set(machine, key.type.read(key, written_value_of(value->as_string())));
    } catch (const ParseError& error) {
      throw JsonError(fmt::format("config: {}: {}", key.path, error.what()));
    }
  }
  machine.kinds = recorded_kinds(values, machine);
  return machine;
}

double channel_bandwidth(const SystemConfig& machine) noexcept {
  return static_cast<double>(machine.hbm.bandwidth.count()) / static_cast<double>(machine.hbm.channels);
}

}  // namespace kernwave::platform
