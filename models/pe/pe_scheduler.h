// Takes commands from the CPU and hands each to its engine.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"
#include "models/system/system_config.h"

namespace kernwave {

/// Forwards the same payload to the engine that its address names, `dispatch` cycles after it was taken. Commands leave
/// in order: one whose engine withholds END_REQ holds up those behind it. Dispatch is pipelined (a latency, not an
/// occupancy). At most `queue_depth` commands are taken and not yet handed on: the n-th is taken when it is presented
/// or when the (n - queue_depth)-th is handed on, whichever is later. Responses go back without delay.
///
/// It chooses nothing, so it works ahead of simulated time: what it hands on carries the instant as annotated delay.
class PeScheduler : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  PeScheduler(const sc_core::sc_module_name& name, const PeConfig& config);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] InitiatorSocket& engine_socket(Engine engine) noexcept { return port_of(engine).socket(); }

 private:
  struct Entry {
    Payload* payload = nullptr;
    Picoseconds taken;
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;

  [[nodiscard]] Picoseconds take(Payload& payload, Picoseconds presented);
  void dispatch();
  void hand_on(Payload& payload, InitiatorPort& port, Picoseconds at);
  void reject(Payload& payload);
  void take_withheld();
  [[nodiscard]] InitiatorPort& port_of(Engine engine) noexcept { return *engines_[static_cast<std::size_t>(engine)]; }

  SimulatedTime now;
  Picoseconds dispatch_time_;
  std::size_t queue_depth_;
  TargetPort commands_;
  std::array<std::unique_ptr<InitiatorPort>, engine_count> engines_;
  RingQueue<Entry> queue_;                 // taken, not yet handed on
  std::vector<Picoseconds> handed_on_at_;  // of the last `queue_depth` commands, by number modulo the depth
  std::int64_t taken_ = 0;
  std::int64_t handed_on_ = 0;
  Picoseconds last_handed_on_;
  sc_core::sc_event wake_;
};

}  // namespace kernwave
