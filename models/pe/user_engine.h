// The representative of a user's engine in a PE: passes commands on to the user's socket.
#pragma once

#include <optional>

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/pe/engine_calculator.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/pe_gemm.h"
#include "models/pe/pe_observer.h"
#include "models/protocol/command.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/engine.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// Passes commands on to a user's engine, and reports them as an engine of the model does: statistics, op log,
/// timeline, waveform and critical path show the user's engine like any other.
///
/// The engine is any TLM-2.0 target. It gets WRITEs of a `Descriptor` to its doorbell (`descriptor_of`), holds up later
/// commands by withholding END_REQ, and answers in the order of the commands. A command is in service from its arrival,
/// or from the end of the command before it, to its response. An error response ends the program, with the reason if
/// the engine puts one into the command's `ExecutionReport`.
class UserEngine : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  UserEngine(const sc_core::sc_module_name& name, EngineData data, PeScratch& scratch);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  /// To be bound to the engine.
  [[nodiscard]] InitiatorSocket& engine_socket() noexcept { return engine_.socket(); }
  /// Totals of the commands that have ended.
  [[nodiscard]] const EngineStatistics& statistics() const noexcept { return statistics_; }
  /// The work of the products that have ended: both bounds are the time that the engine took.
  [[nodiscard]] const GemmWork& gemm_work() const noexcept { return gemm_work_; }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

 private:
  struct InFlight {
    Payload* command = nullptr;
    Picoseconds arrival;
    bool has_place = false;  ///< in the engine's queue
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;

  void has_place(Picoseconds at);
  void begin_service();
  void compute(const Descriptor& descriptor);
  void count(const Descriptor& descriptor);

  SimulatedTime now;
  EngineData data_;
  EngineCalculator calculator_;
  TargetPort commands_;
  InitiatorPort engine_;
  RingQueue<InFlight> in_flight_;
  Picoseconds last_end_;
  Picoseconds service_began_;  // of the first one in flight
  bool sends_ = false;
  EngineStatistics statistics_;
  GemmWork gemm_work_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
