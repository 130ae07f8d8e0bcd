// A machine of one's own: kernwave's, with an engine that transposes tensors in each PE.
#pragma once

#include <kernwave/models/base/systemc.h>
#include <kernwave/models/protocol/command.h>
#include <kernwave/models/system/system.h>
#include <kernwave/platform/request/machine.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace consumer {

/// Writes the transpose of the tensor that it reads, in 3 ns a row.
class Transposer : public sc_core::sc_module {
 public:
  Transposer(const sc_core::sc_module_name& name, kernwave::Pe& pe) : sc_module(name), socket("socket"), pe_(pe) {
    socket.register_b_transport(this, &Transposer::serve);
  }
  tlm_utils::simple_target_socket<Transposer> socket;

 private:
  void serve(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const kernwave::CallDescriptor& call = kernwave::descriptor_of(payload).call();
    delay += sc_core::sc_time(3.0 * call.tensors[0].rows, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (pe_.scratch().mode() == kernwave::DataMode::full) transpose(call.tensors[0], call.tensors[1]);
  }

  void transpose(const kernwave::ScratchOperand& from, const kernwave::ScratchOperand& to) {
    const auto in = pe_.scratch().tensor(from);
    const auto out = pe_.scratch().tensor(to);
    for (std::int64_t row = 0; row < from.rows; ++row) {
      for (std::int64_t col = 0; col < from.cols; ++col) {
        std::copy_n(in.element(row, col), kernwave::size_of(from.dtype), out.element(col, row));
      }
    }
  }

  kernwave::Pe& pe_;
};

class TransposingMachine : public kernwave::platform::Machine {
 public:
  /// The engine of every PE: the first one that is added.
  static constexpr auto transposer = static_cast<kernwave::Engine>(kernwave::engine_rows.size());

  TransposingMachine(const kernwave::SystemConfig& config, kernwave::DataMode data)
      : system_("system", config, data, connector_, kernwave::ConstructionOrder::ascending, engines()) {
    for (std::int64_t id = 0; id < system_.pe_count(); ++id) {
      kernwave::Pe& pe = system_.pe(kernwave::PeId(id));
      const std::string name = "transposer" + std::to_string(id);
      transposers_.push_back(std::make_unique<Transposer>(name.c_str(), pe));
      connector_.connect(pe.engine_socket(transposer), transposers_.back()->socket, name);
    }
  }
  [[nodiscard]] kernwave::System& system() override { return system_; }

 private:
  [[nodiscard]] static kernwave::EngineList engines() {
    kernwave::EngineList list;
    list.add({0x6000, "transposer", "Transposer", "transposing engine"});
    return list;
  }

  kernwave::Connector connector_;
  kernwave::System system_;
  std::vector<std::unique_ptr<Transposer>> transposers_;
};

}  // namespace consumer
