// What the matrix and the vector engine share: an in-order queue served one command at a time.
#pragma once

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/pe/ahead_account.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/pe_observer.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// Serves commands in the order of their arrival: it chooses nothing, so a command starts when it arrives or when the
/// one before it ends, whichever is later. The queue holds `queue_depth` commands, the running one included; beyond
/// that END_REQ is withheld.
///
/// The end of a command is known when it arrives. To one whose issuer waits for it (`ExecutionReport::awaited`) an idle
/// engine answers at once, with the end annotated (TLM_COMPLETED): the command is carried out in the call, and costs no
/// event. Start, end and result are those of the other way.
class ComputeEngine : public sc_core::sc_module, private TargetPort::Client {
 public:
  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  /// Of the commands whose service has ended.
  [[nodiscard]] EngineStatistics statistics() const { return statistics_.at(now()); }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

 protected:
  ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth);

  /// How long the command takes from `start`.
  [[nodiscard]] virtual Picoseconds duration(const Descriptor& descriptor, Picoseconds start) = 0;
  /// Carries the command out on scratch, at its end.
  virtual void execute(const Descriptor& descriptor) = 0;

  SimulatedTime now;

 private:
  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) final;
  struct Entry {
    Payload* payload = nullptr;
    Picoseconds arrival;
  };

  [[nodiscard]] bool may_answer_ahead(const Payload& payload) const;
  void answer_ahead(Payload& payload, Picoseconds arrival);
  void end_service(Payload& payload, Picoseconds start, Picoseconds end);
  void take(Payload& payload, Picoseconds arrival);
  void start_next();
  void finish();

  TargetPort commands_;
  std::size_t queue_depth_;
  RingQueue<Entry> queue_;  // the front one is running
  Picoseconds started_;
  Picoseconds free_at_;  // the end of the last command that was answered ahead
  sc_core::sc_event done_;
  AheadAccount<EngineStatistics> statistics_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
