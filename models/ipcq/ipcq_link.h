// A link between PEs: latency and bandwidth, in one direction.
#pragma once

#include "models/base/in_reverse.h"
#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/protocol/arbitration_queue.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"
#include "models/protocol/timed_link.h"

namespace kernwave {

/// The traffic of a link.
struct LinkStatistics {
  std::int64_t messages = 0;
  Bytes bytes;
  Picoseconds busy;  ///< of its bandwidth
};

/// Carries messages from input i to output i; several such pairs share one bandwidth.
///
/// A message that is presented at t is eligible at t + hop. Eligible messages take the link one after another, in the
/// order of (eligible time, port id), each for bytes / bandwidth, and arrive when their last byte does. Returned
/// credits take the hop and no bandwidth. The hop is at least 1 ps, so that every message of an instant is known before
/// that instant is decided. END_REQ comes at once: credits limit the messages on their way, not the link.
class IpcqLink : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  IpcqLink(const sc_core::sc_module_name& name, const IpcqConfig& config, std::int64_t pairs);

  [[nodiscard]] TargetSocket& input(std::int64_t id) { return pairs_.at(static_cast<std::size_t>(id)).input.socket(); }
  [[nodiscard]] InitiatorSocket& output(std::int64_t id) {
    return pairs_.at(static_cast<std::size_t>(id)).output.socket();
  }
  [[nodiscard]] const LinkStatistics& statistics() const noexcept { return statistics_; }

 private:
  struct Pending {
    Picoseconds at;  ///< eligible, or due to arrive
    TargetPort* port = nullptr;
    Payload* payload = nullptr;
  };
  struct Pair {
    Pair(std::int64_t id, IpcqLink& link);
    TargetPort input;
    InitiatorPort output;
    RingQueue<Payload*> waiting;  // arrived, while the output is busy
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  [[nodiscard]] unsigned debug_access(TargetPort& port, Payload& payload) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;

  void serve();
  void enter(const Pending& message);
  void deliver(Pair& pair);
  [[nodiscard]] Pair& pair_of(const TargetPort& input) { return pairs_[static_cast<std::size_t>(input.id())]; }

  SimulatedTime now;
  Picoseconds hop_;
  TimedLink stream_;
  InReverse<Pair> pairs_;
  ArbitrationQueue<Pending> arrivals_;    // by the instant at which they are eligible
  ArbitrationQueue<Pending> deliveries_;  // by the instant of their last byte
  LateMethod<IpcqLink> wake_{"serve", *this, &IpcqLink::serve};
  LinkStatistics statistics_;
};

}  // namespace kernwave
