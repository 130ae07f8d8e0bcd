#include "platform/config/parameter_attributes.h"

#include "models/config/pe_kinds.h"
#include "platform/config/configuration.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] bool is_of(const std::string& path, const std::string& table) {
  return path.compare(0, table.size() + 1, table + ".") == 0;
}

}  // namespace

ParameterAttributes::ParameterAttributes(System& system) {
  const SystemConfig& config = system.config();
  for (const ConfigurationValue& value : configuration_values(config)) {
    attach(system, value.path, value.value);
    for (std::int64_t id = 0; is_of(value.path, "hbm") && id < config.cubes; ++id) {
      attach(system.cube(CubeId(id)), value.path, value.value);
    }
  }
  attach_to_pes(system, nullptr);
  for (const PeKind& kind : config.kinds) attach_to_pes(system, &kind);
}

void ParameterAttributes::attach_to_pes(System& system, const PeKind* kind) {
  SystemConfig config = kind == nullptr ? system.config() : machine_of_kind(system.config(), *kind);
  config.kinds.clear();
  for (const ConfigurationValue& value : configuration_values(config)) {
    if (!is_of(value.path, "pe") && !is_of(value.path, "ipcq")) continue;
    for (std::int64_t id = 0; id < system.pe_count(); ++id) {
      if (kind_of(system.config(), PeId(id)) == kind) attach(system.pe(PeId(id)), value.path, value.value);
    }
  }
}

ParameterAttributes::~ParameterAttributes() {
  for (const Attached& attached : attached_) attached.object->remove_attribute(attached.attribute->name());
}

void ParameterAttributes::attach(sc_core::sc_object& object, const std::string& path, const std::string& value) {
  auto attribute = std::make_unique<sc_core::sc_attribute<std::string>>(path, value);
  if (object.add_attribute(*attribute)) attached_.push_back({&object, std::move(attribute)});
}

}  // namespace kernwave::platform
