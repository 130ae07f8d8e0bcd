// The links between cubes, over which a PE reaches the HBM of another cube.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/in_reverse.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/protocol/arbitration_queue.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/region_extension.h"
#include "models/protocol/target_port.h"
#include "models/protocol/timed_link.h"

namespace kernwave {

/// Carries requests to the HBM of another cube and responses back. Cubes lie on a ring; a request takes the shorter
/// way, with `latency` for each hop, and its response takes as many hops back.
///
/// The data of a transfer pass the link of the cube that sends them, one transfer behind another at `bandwidth`. For a
/// read this is the cube whose HBM has answered; for a write it is the requester's cube, before the request travels.
/// With a RegionExtension the data stream: the first byte travels on before the last byte has arrived, so that DMA
/// port, link and channels work at the same time. Isolated, a response comes
///
///     hops x latency + HBM latency + max(bytes / bandwidth, slowest channel) + hops x latency
///
/// after the request, and its first data bytes / bandwidth (or the slowest channel's time) earlier. A request without
/// the extension is passed on when its last byte has arrived, so the times of link and channels add up.
///
/// A transfer is put behind the others of its link by (instant + latency, port id), and a request handed to a memory by
/// (instant of its arrival there, port id). A hop takes at least 1 ps, so that every request of an instant is known
/// before that instant is decided. END_REQ comes at once: the requester itself limits its requests in flight. A memory
/// that withholds END_REQ holds up the requests for the same memory, and nothing else.
class CubeLinks : public sc_core::sc_module, private TargetPort::Client, private InitiatorPort::Client {
 public:
  CubeLinks(const sc_core::sc_module_name& name, const SystemConfig& config);

  /// The socket for the requests of one DMA channel to other cubes. `id` is 2 p for the reads and 2 p + 1 for the
  /// writes of PE p; in one instant the smaller id goes first.
  [[nodiscard]] TargetSocket& socket(std::int64_t id) { return ports_.at(static_cast<std::size_t>(id)).socket(); }
  /// The socket to the HBM of a cube.
  [[nodiscard]] InitiatorSocket& memory_socket(CubeId cube) { return place(cube).memory.socket(); }

  /// The bytes that a cube has sent to other cubes.
  [[nodiscard]] Bytes sent(CubeId cube) const { return cubes_.at(static_cast<std::size_t>(cube.count())).sent; }

 private:
  struct Request {
    Picoseconds at;  ///< due for its next step
    TargetPort* port = nullptr;
    Payload* payload = nullptr;
    Picoseconds link_wait;  ///< of a write: for the link
    Picoseconds link_time;  ///< of a write: on the link
  };
  struct Cube {
    Cube(const std::string& name, InitiatorPort::Client& client, const InterconnectConfig& config)
        : memory(name.c_str(), client), link(config.bandwidth, config.timing) {}

    InitiatorPort memory;
    RingQueue<Request> arrived;      // for the memory, in the order in which it gets them
    std::vector<Request> in_memory;  // looked up by payload
    TimedLink link;
    Bytes sent;
  };

  // TargetPort::Client and InitiatorPort::Client
  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  [[nodiscard]] unsigned debug_access(TargetPort& port, Payload& payload) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;
  [[nodiscard]] bool response_ahead(InitiatorPort& port, Payload& payload, Picoseconds at) override;

  void answered(Payload& payload, Picoseconds at);
  void bring_back(const Request& request);
  void advance();
  void send_write(Request request);
  void send_answer(Request request);
  void hand_on(Cube& cube);
  void wake_at(Picoseconds time);

  [[nodiscard]] Cube& place(CubeId cube) { return cubes_.at(static_cast<std::size_t>(cube.count())); }
  [[nodiscard]] CubeId requester(const Request& request) const;
  [[nodiscard]] Picoseconds way(const Request& request) const;

  SimulatedTime now;
  InterconnectConfig config_;
  std::int64_t channels_per_cube_;
  InReverse<TargetPort> ports_;
  InReverse<Cube> cubes_;
  ArbitrationQueue<Request> to_stream_;     // writes, and answers to reads, that need a link
  ArbitrationQueue<Request> to_memory_;     // on their way there
  ArbitrationQueue<Request> to_requester_;  // on their way back
  sc_core::sc_event wake_;
};

}  // namespace kernwave
