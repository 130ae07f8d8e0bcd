#include "models/system/system.h"

#include <string>

namespace kernwave {

System::System(const sc_core::sc_module_name& name, const SystemConfig& config, DataMode mode, Connector& connector,
               ConstructionOrder order)
    : sc_module(name), config_(config), mode_(mode), cubes_(static_cast<std::size_t>(config.cubes)) {
  const auto make_links = [&] {
    if (config.cubes > 1) links_ = std::make_unique<CubeLinks>("links", config);
  };
  if (order == ConstructionOrder::ascending) make_links();
  for (const std::int64_t index : order_of(order, config.cubes)) {
    const std::string cube_name = "cube" + std::to_string(index);
    cubes_[static_cast<std::size_t>(index)] =
        std::make_unique<Cube>(cube_name.c_str(), CubeId(index), config, mode, ledger_, connector, order);
  }
  if (order != ConstructionOrder::ascending) make_links();
  if (links_ == nullptr) return;
  for (const std::int64_t index : order_of(order, config.cubes)) {
    cubes_[static_cast<std::size_t>(index)]->connect_to(*links_, connector, order);
  }
}

}  // namespace kernwave
