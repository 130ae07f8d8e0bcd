// What the matrix and the vector engine share: an in-order queue served one command at a time.
#pragma once

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/pe_observer.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// Serves commands in the order of their arrival: it chooses nothing, so a command starts when it arrives or when the
/// one before it ends, whichever is later. The queue holds `queue_depth` commands, the running one included; beyond
/// that END_REQ is withheld.
class ComputeEngine : public sc_core::sc_module, private TargetPort::Client {
 public:
  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] const EngineStatistics& statistics() const noexcept { return statistics_; }
  void set_observer(PeObserver* observer) noexcept { observer_ = observer; }

 protected:
  ComputeEngine(const sc_core::sc_module_name& name, std::int64_t queue_depth);

  /// How long the command takes from `start`.
  [[nodiscard]] virtual Picoseconds duration(const Descriptor& descriptor, Picoseconds start) = 0;
  /// Carries the command out on scratch, at its end.
  virtual void execute(const Descriptor& descriptor) = 0;

 private:
  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) final;
  struct Entry {
    Payload* payload = nullptr;
    Picoseconds arrival;
  };

  void take(Payload& payload, Picoseconds arrival);
  void start_next();
  void finish();

  SimulatedTime now;
  TargetPort commands_;
  std::size_t queue_depth_;
  RingQueue<Entry> queue_;  // the front one is running
  Picoseconds started_;
  sc_core::sc_event done_;
  EngineStatistics statistics_;
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
