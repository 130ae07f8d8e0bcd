#include "platform/results/recorded_machine.h"

#include <fmt/format.h>

#include "platform/config/key_table.h"
#include "platform/text/units.h"

namespace kernwave::platform {

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
  return machine;
}

double channel_bandwidth(const SystemConfig& machine) noexcept {
  return static_cast<double>(machine.hbm.bandwidth.count()) / static_cast<double>(machine.hbm.channels);
}

}  // namespace kernwave::platform
