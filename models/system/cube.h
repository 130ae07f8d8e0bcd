// A cube: HBM and the processing elements on its base die.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/memory/hbm.h"
#include "models/pe/pe.h"

namespace kernwave {

/// The order in which modules are constructed. Nothing may depend on it; tests vary it to show that nothing does.
enum class ConstructionOrder : std::uint8_t { ascending, descending, interleaved };

/// 0 .. count - 1 in that order; `interleaved`: the odd ones, then the even ones.
[[nodiscard]] std::vector<std::int64_t> order_of(ConstructionOrder order, std::int64_t count);

/// HBM ports: 2 i for reads and 2 i + 1 for writes of the cube's i-th PE.
class Cube : public sc_core::sc_module {
 public:
  Cube(const sc_core::sc_module_name& name, CubeId id, const SystemConfig& config, DataMode mode, RunLedger& ledger,
       Connector& connector, ConstructionOrder order);

  [[nodiscard]] Pe& pe(std::int64_t index) { return *pes_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] const Pe& pe(std::int64_t index) const { return *pes_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] Hbm& hbm() noexcept { return *hbm_; }
  [[nodiscard]] const Hbm& hbm() const noexcept { return *hbm_; }

 private:
  std::unique_ptr<Hbm> hbm_;
  std::vector<std::unique_ptr<Pe>> pes_;
};

}  // namespace kernwave
