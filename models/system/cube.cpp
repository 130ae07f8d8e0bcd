#include "models/system/cube.h"

#include <algorithm>
#include <string>

#include "models/ipcq/topology.h"

namespace kernwave {

std::vector<std::int64_t> order_of(ConstructionOrder order, std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  if (order == ConstructionOrder::descending) std::reverse(numbers.begin(), numbers.end());
  if (order == ConstructionOrder::interleaved) {
    std::stable_partition(numbers.begin(), numbers.end(), [](std::int64_t i) { return i % 2 == 1; });
  }
  return numbers;
}

Cube::Cube(const sc_core::sc_module_name& name, CubeId id, const SystemConfig& config, DataMode mode, RunLedger& ledger,
           Connector& connector, ConstructionOrder order)
    : sc_module(name), pes_(static_cast<std::size_t>(config.pes_per_cube)) {
  const std::int64_t first = id.count() * config.pes_per_cube;
  const auto make_hbm = [&] { hbm_ = std::make_unique<Hbm>("hbm", id, config.hbm, mode, 2 * config.pes_per_cube); };
  if (order == ConstructionOrder::ascending) make_hbm();
  for (const std::int64_t index : order_of(order, config.pes_per_cube)) {
    const std::string pe_name = "pe" + std::to_string(first + index);
    pes_[static_cast<std::size_t>(index)] =
        std::make_unique<Pe>(pe_name.c_str(), PeId(first + index), config.pe, mode, ledger, connector,
                             neighbours(config, PeId(first + index)));
  }
  if (order != ConstructionOrder::ascending) make_hbm();
  for (const std::int64_t index : order_of(order, config.pes_per_cube)) {
    const std::string prefix = "pe" + std::to_string(first + index) + ".";
    connector.connect(pe(index).read_socket(), hbm_->socket(2 * index), prefix + "dma_read_to_hbm");
    connector.connect(pe(index).write_socket(), hbm_->socket(2 * index + 1), prefix + "dma_write_to_hbm");
  }
}

}  // namespace kernwave
