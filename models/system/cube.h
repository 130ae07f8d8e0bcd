// A cube: HBM and the processing elements on its base die.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/in_reverse.h"
#include "models/memory/cube_links.h"
#include "models/memory/cube_router.h"
#include "models/memory/hbm.h"
#include "models/pe/pe.h"

namespace kernwave {

/// The order in which modules are constructed. No result may depend on it; tests vary the order to check this.
enum class ConstructionOrder : std::uint8_t { ascending, descending, interleaved };

/// 0 .. count - 1 in that order; `interleaved`: the odd ones, then the even ones.
[[nodiscard]] std::vector<std::int64_t> order_of(ConstructionOrder order, std::int64_t count);

/// HBM ports: 2 i for reads and 2 i + 1 for writes of the cube's i-th PE; the last port is for the PEs of other cubes.
/// The only cube of a system has no such port, and no router between its PEs and its HBM.
class Cube : public sc_core::sc_module {
 public:
  Cube(const sc_core::sc_module_name& name, CubeId id, const SystemConfig& config, DataMode mode, RunLedger& ledger,
       Connector& connector, ConstructionOrder order, const EngineList& engines);

  [[nodiscard]] Pe& pe(std::int64_t index) { return *pes_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] const Pe& pe(std::int64_t index) const { return *pes_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] Hbm& hbm() noexcept { return *hbm_; }
  [[nodiscard]] const Hbm& hbm() const noexcept { return *hbm_; }

  /// Binds the cube's channels to the links, and the links to its HBM. Only in a system of several cubes.
  void connect_to(CubeLinks& links, Connector& connector, ConstructionOrder order);

 private:
  [[nodiscard]] bool connect_channel(InitiatorSocket& channel, std::int64_t port, Connector& connector,
                                     const std::string& name);

  CubeId id_;
  ModulesInReverse modules_;
  Hbm* hbm_ = nullptr;
  CubeRouter* router_ = nullptr;  // none in a system of one cube
  std::vector<Pe*> pes_;
};

}  // namespace kernwave
