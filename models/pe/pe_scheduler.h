// Takes commands from the CPU and hands each to its engine.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "models/base/systemc.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"
#include "models/system/system_config.h"

namespace kernwave {

/// Forwards the same payload, by the engine that its address names, `dispatch` cycles after it was presented. Commands
/// leave in order: one whose engine withholds END_REQ holds up those behind it. Dispatch is pipelined (a latency, not an
/// occupancy). At most `queue_depth` commands are taken and not yet handed on; beyond that END_REQ is withheld.
/// Responses go back without delay.
class PeScheduler : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] InitiatorSocket& engine_socket(Engine engine) noexcept { return port_of(engine).socket(); }

 private:
  struct Entry {
    Payload* payload = nullptr;
    Picoseconds ready;
  };

  [[nodiscard]] bool request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;

  void take(Payload& payload, Picoseconds at);
  void dispatch();
  void hand_on(Payload& payload);
  void reject(Payload& payload);
  [[nodiscard]] InitiatorPort& port_of(Engine engine) noexcept { return *engines_[static_cast<std::size_t>(engine)]; }

  Picoseconds dispatch_time_;
  std::size_t queue_depth_;
  TargetPort commands_;
  std::array<std::unique_ptr<InitiatorPort>, engine_count> engines_;
  std::deque<Entry> queue_;
  sc_core::sc_event wake_;
};

}  // namespace kernwave
