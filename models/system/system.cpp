#include "models/system/system.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace kernwave {

System::System(const sc_core::sc_module_name& name, const SystemConfig& config, DataMode mode, Connector& connector,
               ConstructionOrder order, EngineList engines)
    : sc_module(name),
      config_(config),
      mode_(mode),
      engines_(std::move(engines)),
      cubes_(static_cast<std::size_t>(config.cubes)) {
  ledger_.set_no_progress_limit(config.run.no_progress_limit);
  const auto make_links = [&] {
    if (config.cubes > 1) links_ = &modules_.add<CubeLinks>("links", config);
  };
  if (order == ConstructionOrder::ascending) make_links();
  for (const std::int64_t index : order_of(order, config.cubes)) {
    const std::string cube_name = "cube" + std::to_string(index);
    cubes_[static_cast<std::size_t>(index)] =
        &modules_.add<Cube>(cube_name.c_str(), CubeId(index), config, mode, ledger_, connector, order, engines_);
  }
  make_queues(connector, order);
  if (order != ConstructionOrder::ascending) make_links();
  if (links_ == nullptr) return;
  for (const std::int64_t index : order_of(order, config.cubes)) {
    cubes_[static_cast<std::size_t>(index)]->connect_to(*links_, connector, order);
  }
}

void System::make_queues(Connector& connector, ConstructionOrder order) {
  const std::int64_t pes = config_.pes_per_cube;
  link_of_.resize(static_cast<std::size_t>(pe_count()) * direction_count, nullptr);
  for (const std::int64_t id : order_of(order, pe_count())) {
    for (const auto& [direction, other] : neighbours(config_, PeId(id))) {
      const bool leaves_cube = other.count() / pes != id / pes;
      const bool shared = leaves_cube && config_.pe.ipcq.shared_per_cube;
      const PeId owner(shared ? id / pes * pes : id);
      IpcqLink*& link = link_of_[link_index(owner, direction)];
      if (link == nullptr) {
        const std::string source = shared ? "cube" + std::to_string(id / pes) : "pe" + std::to_string(id);
        const std::string link_name = source + "_" + std::string(name_of(direction)) + "_link";
        link = &modules_.add<IpcqLink>(link_name.c_str(), config_.pe.ipcq, shared ? pes : 1);
      }
      link_of_[link_index(PeId(id), direction)] = link;
      const std::int64_t pair = shared ? id % pes : 0;
      connect_link(connector, link->input(pair), link->output(pair), PeId(id), {direction, other});
    }
  }
}

void System::connect_link(Connector& connector, TargetSocket& input, InitiatorSocket& output, PeId from,
                          const Neighbour& to) {
  const Direction arrival = opposite(to.direction);
  const std::string sender = "pe" + std::to_string(from.count()) + "." + std::string(name_of(to.direction));
  const std::string receiver = "pe" + std::to_string(to.pe.count()) + "." + std::string(name_of(arrival));
  connector.connect(pe(from).ipcq().out_socket(to.direction), input, sender + "_to_link");
  connector.connect(output, pe(to.pe).ipcq().in_socket(arrival), "link_to_" + receiver);
}

void System::allow_reset() {
  if (resets_ != nullptr) return;
  std::vector<Pe*> pes;
  pes.reserve(static_cast<std::size_t>(pe_count()));
  for (std::int64_t id = 0; id < pe_count(); ++id) pes.push_back(&pe(PeId(id)));
  resets_ = std::make_unique<PeResets>(config_, std::move(pes), ledger_);
  resets_->set_observer(observer_);
}

void System::reset(const std::vector<PeId>& pes) {
  if (resets_ == nullptr) throw std::logic_error("reset: the machine does not allow it (System::allow_reset)");
  resets_->assert_reset(pes);
}

void System::set_observer(PeObserver* observer) noexcept {
  observer_ = observer;
  for (std::int64_t id = 0; id < pe_count(); ++id) pe(PeId(id)).set_observer(observer);
  if (resets_ != nullptr) resets_->set_observer(observer);
}

void System::set_channel_observer(ChannelObserver* observer) noexcept {
  for (Cube* cube : cubes_) cube->hbm().set_observer(observer);
}

std::size_t System::link_index(PeId from, Direction direction) noexcept {
  return static_cast<std::size_t>(from.count()) * direction_count + static_cast<std::size_t>(direction);
}

const IpcqLink* System::queue_link(PeId from, Direction direction) const {
  return link_of_.at(link_index(from, direction));
}

}  // namespace kernwave
