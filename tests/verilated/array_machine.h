// A machine whose PEs have the Verilated array in the place of the model's matrix engine.
#pragma once

#include <kernwave/models/base/clock.h>
#include <kernwave/models/system/system.h>
#include <kernwave/platform/request/machine.h>

#include <memory>
#include <string>
#include <vector>

#include "verilated_array.h"

namespace verilated {

class ArrayMachine : public kernwave::platform::Machine {
 public:
  ArrayMachine(const kernwave::SystemConfig& config, kernwave::DataMode data)
      : system_("system", config, data, connector_, kernwave::ConstructionOrder::ascending, engines()) {
    const kernwave::Picoseconds period = kernwave::Clock(config.pe.clock)(kernwave::Cycles(1));
    for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
      const std::string name = "array" + std::to_string(id);
      arrays_.push_back(std::make_unique<VerilatedArray>(name.c_str(), period));
      kernwave::Pe& pe = system_.pe(kernwave::PeId(id));
      connector_.connect(pe.engine_socket(kernwave::Engine::gemm), arrays_.back()->socket, name);
    }
  }
  [[nodiscard]] kernwave::System& system() override { return system_; }

 private:
  /// The array gives the times; the model computes the results.
  [[nodiscard]] static kernwave::EngineList engines() {
    kernwave::EngineList list;
    list.replace(kernwave::Engine::gemm, kernwave::EngineData::model);
    return list;
  }

  kernwave::Connector connector_;
  kernwave::System system_;
  std::vector<std::unique_ptr<VerilatedArray>> arrays_;
};

[[nodiscard]] inline std::unique_ptr<kernwave::platform::Machine> build_array_machine(
    const kernwave::SystemConfig& config, kernwave::DataMode data) {
  return std::make_unique<ArrayMachine>(config, data);
}

}  // namespace verilated
