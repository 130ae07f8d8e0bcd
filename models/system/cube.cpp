#include "models/system/cube.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "models/config/pe_kinds.h"
#include "models/ipcq/topology.h"

namespace kernwave {

std::vector<std::int64_t> order_of(ConstructionOrder order, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order == ConstructionOrder::descending) std::reverse(numbers.begin(), numbers.end());
  if (order == ConstructionOrder::interleaved) {
    std::stable_partition(numbers.begin(), numbers.end(), [](std::int64_t i) { return i % 2 == 1; });
  }
  return numbers;
}

Cube::Cube(const sc_core::sc_module_name& name, CubeId id, const SystemConfig& config, DataMode mode, RunLedger& ledger,
           Connector& connector, ConstructionOrder order, const EngineList& engines)
    : sc_module(name), id_(id), pes_(static_cast<std::size_t>(config.pes_per_cube)) {
  const std::int64_t first = id.count() * config.pes_per_cube;
  const std::int64_t channels = 2 * config.pes_per_cube;
  const bool alone = config.cubes == 1;
  const auto make_hbm = [&] {
    hbm_ = &modules_.add<Hbm>("hbm", id, config.hbm, mode, alone ? channels : channels + 1);
    if (!alone) router_ = &modules_.add<CubeRouter>("router", id, config.cubes, channels);
  };
  if (order == ConstructionOrder::ascending) make_hbm();
  for (const std::int64_t index : order_of(order, config.pes_per_cube)) {
    const std::string pe_name = "pe" + std::to_string(first + index);
    pes_[static_cast<std::size_t>(index)] =
        &modules_.add<Pe>(pe_name.c_str(), PeId(first + index), pe_config(config, PeId(first + index)), mode, ledger,
                          connector, neighbours(config, PeId(first + index)), engines);
    pe(index).declare_memory_own();
  }
  if (order != ConstructionOrder::ascending) make_hbm();
  for (const std::int64_t index : order_of(order, config.pes_per_cube)) {
    const std::string prefix = "pe" + std::to_string(first + index) + ".";
    Pe& to = pe(index);
    to.add_read_link(
        connect_channel(to.read_socket(), 2 * index, connector, prefix + std::string(name_of(Engine::dma_read))));
    to.add_write_link(
        connect_channel(to.write_socket(), 2 * index + 1, connector, prefix + std::string(name_of(Engine::dma_write))));
  }
}

/// Returns whether all links on the way to the cube's own HBM are time-transparent.
bool Cube::connect_channel(InitiatorSocket& channel, std::int64_t port, Connector& connector, const std::string& name) {
  if (router_ == nullptr) return connector.link(channel, hbm_->socket(port), name + "_to_hbm");
  const bool to_router = connector.link(channel, router_->port(port).socket(), name + "_to_router");
  const bool to_hbm = connector.link(router_->port(port).hbm_socket(), hbm_->socket(port), name + "_to_hbm");
  return to_router && to_hbm;
}

void Cube::connect_to(CubeLinks& links, Connector& connector, ConstructionOrder order) {
  const auto count = static_cast<std::int64_t>(pes_.size());
  for (const std::int64_t index : order_of(order, count)) {
    Pe& from = pe(index);
    const std::int64_t number = from.id().count();
    const std::string prefix = "pe" + std::to_string(number) + ".";
    from.add_read_link(connector.link(router_->port(2 * index).links_socket(), links.socket(2 * number),
                                      prefix + "dma_read_to_links"));
    from.add_write_link(connector.link(router_->port(2 * index + 1).links_socket(), links.socket(2 * number + 1),
                                       prefix + "dma_write_to_links"));
  }
  connector.connect(links.memory_socket(id_), hbm_->socket(2 * count),
                    "cube" + std::to_string(id_.count()) + ".links_to_hbm");
}

}  // namespace kernwave
