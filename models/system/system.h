// The whole machine: cubes, the links between them, and the links between PEs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "models/base/in_reverse.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/ipcq/ipcq_link.h"
#include "models/ipcq/topology.h"
#include "models/memory/cube_links.h"
#include "models/protocol/connector.h"
#include "models/run/run_ledger.h"
#include "models/system/cube.h"
#include "models/system/pe_resets.h"

namespace kernwave {

/// Cubes of HBM with their PEs, and the links between cubes. PE p is the (p mod pes_per_cube)-th of cube
/// p / pes_per_cube.
class System : public sc_core::sc_module {
 public:
  /// `engines`: the engines of every PE. The caller binds the added and replaced ones (`Pe::engine_socket`).
  System(const sc_core::sc_module_name& name, const SystemConfig& config, DataMode mode, Connector& connector,
         ConstructionOrder order = ConstructionOrder::ascending, EngineList engines = {});

  [[nodiscard]] const SystemConfig& config() const noexcept { return config_; }
  [[nodiscard]] DataMode data_mode() const noexcept { return mode_; }
  [[nodiscard]] const EngineList& engines() const noexcept { return engines_; }
  [[nodiscard]] std::int64_t pe_count() const noexcept { return config_.cubes * config_.pes_per_cube; }
  [[nodiscard]] Pe& pe(PeId id) { return cubes_.at(cube_index(id))->pe(id.count() % config_.pes_per_cube); }
  [[nodiscard]] const Pe& pe(PeId id) const {
    return std::as_const(*cubes_.at(cube_index(id))).pe(id.count() % config_.pes_per_cube);
  }
  [[nodiscard]] Cube& cube(CubeId id) { return *cubes_.at(static_cast<std::size_t>(id.count())); }
  /// The link that leaves a PE in that direction; nullptr at an edge of the machine.
  [[nodiscard]] const IpcqLink* queue_link(PeId from, Direction direction) const;
  /// The links between the cubes; nullptr in a system of one cube.
  [[nodiscard]] const CubeLinks* links() const noexcept { return links_; }
  [[nodiscard]] RunLedger& ledger() noexcept { return ledger_; }

  /// During elaboration: PEs may be reset. All PEs then work in simulated time, which takes the host longer; all times
  /// are the same.
  void allow_reset();
  /// Resets these PEs at the end of this instant (`PeResets`). Throws std::logic_error without `allow_reset`.
  void reset(const std::vector<PeId>& pes);
  /// Nullptr without `allow_reset`.
  [[nodiscard]] const PeResets* resets() const noexcept { return resets_.get(); }

  /// Sets the observer of all PEs, before the run; nullptr for none.
  void set_observer(PeObserver* observer) noexcept;
  /// Sets the observer of the HBM of all cubes, before the run; nullptr for none.
  void set_channel_observer(ChannelObserver* observer) noexcept;
  [[nodiscard]] const RunLedger& ledger() const noexcept { return ledger_; }

  [[nodiscard]] const Cube& cube(CubeId id) const { return *cubes_.at(static_cast<std::size_t>(id.count())); }

 private:
  /// Makes a link for each PE and direction; with `shared_per_cube` one link for all messages that leave a cube in one
  /// direction.
  void make_queues(Connector& connector, ConstructionOrder order);
  void connect_link(Connector& connector, TargetSocket& input, InitiatorSocket& output, PeId from, const Neighbour& to);

  [[nodiscard]] static std::size_t link_index(PeId from, Direction direction) noexcept;
  [[nodiscard]] std::size_t cube_index(PeId id) const noexcept {
    return static_cast<std::size_t>(id.count() / config_.pes_per_cube);
  }

  SystemConfig config_;
  DataMode mode_;
  EngineList engines_;
  RunLedger ledger_;
  ModulesInReverse modules_;
  PeObserver* observer_ = nullptr;
  std::unique_ptr<PeResets> resets_;
  CubeLinks* links_ = nullptr;  // none in a system of one cube
  std::vector<Cube*> cubes_;
  std::vector<IpcqLink*> link_of_;  // [PE][direction]; nullptr at an edge of the machine
};

}  // namespace kernwave
