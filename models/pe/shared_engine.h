// The arbiter in front of an engine that several PEs share.
#pragma once

#include <optional>
#include <vector>

#include "models/base/in_reverse.h"
#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/protocol/arbitration_queue.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"

namespace kernwave {

/// Passes the commands of several PEs on to one engine of the user's, in the order of (arrival + latency, port id). The
/// latency is at least 1 ps, so that all commands of an instant are known before one of them is chosen. END_REQ comes
/// at once. For a PE its command is in service from the arrival here to the response: it counts the commands of other
/// PEs that go before.
class SharedEngine : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  SharedEngine(const sc_core::sc_module_name& name, std::int64_t ports, Picoseconds latency = Picoseconds(1));

  /// To be bound to `Pe::engine_socket` of a PE. Number the ports by the PEs, so that ties are broken by them.
  [[nodiscard]] TargetSocket& socket(std::int64_t id) { return ports_.at(static_cast<std::size_t>(id)).socket(); }
  /// To be bound to the engine.
  [[nodiscard]] InitiatorSocket& engine_socket() noexcept { return engine_.socket(); }

 private:
  struct Pending {
    Picoseconds at;  ///< may be chosen
    TargetPort* port = nullptr;
    Payload* payload = nullptr;
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;
  void serve();

  SimulatedTime now;
  Picoseconds latency_;
  InReverse<TargetPort> ports_;
  InitiatorPort engine_;
  ArbitrationQueue<Pending> arrivals_;
  RingQueue<Pending> waiting_;      // chosen, while the engine accepts nothing
  std::vector<Pending> in_engine_;  // looked up by payload
  LateMethod<SharedEngine> wake_{"serve", *this, &SharedEngine::serve};
};

}  // namespace kernwave
