// The router of a DMA channel's requests: to its own cube's HBM or to the links between cubes.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/address.h"
#include "models/base/in_reverse.h"
#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"

namespace kernwave {

/// The router of one DMA channel. It passes each call on in the same instant, in both directions, without a further
/// phase, delay or queue.
///
/// A request to another cube of the system goes to the links. A request to its own cube, or to a cube that does not
/// exist, goes to its own HBM, which answers the latter with an error. Responses come from both, but only one response
/// at a time may be between BEGIN_RESP and END_RESP upstream: the router holds a second response until then. It holds
/// no response if the initiator acknowledges in the return value without a delay, as the DMA does.
class RouterPort : private tlm::tlm_fw_transport_if<> {
 public:
  /// `id` is part of the names of the sockets.
  RouterPort(std::int64_t id, CubeId cube, std::int64_t cubes);
  RouterPort(const RouterPort&) = delete;
  RouterPort& operator=(const RouterPort&) = delete;
  ~RouterPort() override = default;

  [[nodiscard]] TargetSocket& socket() noexcept { return socket_; }
  [[nodiscard]] InitiatorSocket& hbm_socket() noexcept { return hbm_.socket; }
  [[nodiscard]] InitiatorSocket& links_socket() noexcept { return links_.socket; }

 private:
  /// One of the two ways onward; it identifies the way of a call on the backward path.
  class Way : private tlm::tlm_bw_transport_if<> {
   public:
    Way(const std::string& name, RouterPort& port) : socket(name.c_str()), port_(port) { socket.bind(*this); }
    InitiatorSocket socket;

   private:
    tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
      return port_.backward(*this, payload, phase, delay);
    }
    /// Direct memory pointers are refused.
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

    RouterPort& port_;
  };

  /// A response that has begun on its way and is not passed on yet.
  struct Held {
    Way* from = nullptr;
    Payload* payload = nullptr;
    Picoseconds at;
  };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    way_of(payload).socket->b_transport(payload, delay);
  }
  unsigned transport_dbg(Payload& payload) override { return way_of(payload).socket->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) override { return false; }

  tlm::tlm_sync_enum begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Way& from, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum respond(Way& from, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void end_response();
  void deliver_when_free();
  void hold(const Held& response);
  void deliver_held();

  [[nodiscard]] bool may_respond(Picoseconds at) const noexcept {
    return responding_ == nullptr && held_.empty() && free_at_ <= at;
  }
  [[nodiscard]] Way& way_of(const Payload& payload) noexcept {
    const CubeId cube = HbmAddress(payload.get_address()).cube();
    return cube == cube_ || cube.count() >= cubes_ ? hbm_ : links_;
  }

  SimulatedTime now;
  CubeId cube_;
  std::int64_t cubes_;
  Way* responding_ = nullptr;  // whose response is between BEGIN_RESP and END_RESP
  Picoseconds free_at_;        // the end of the response before, which may be annotated into the future
  RingQueue<Held> held_;       // at most one of each way
  LateMethod<RouterPort> deliver_{"deliver_held", *this, &RouterPort::deliver_held};
  TargetSocket socket_;
  Way hbm_;
  Way links_;
};

/// The routers of a cube, one for each of its DMA channels. Only a system of several cubes has them.
class CubeRouter : public sc_core::sc_module {
 public:
  CubeRouter(const sc_core::sc_module_name& name, CubeId cube, std::int64_t cubes, std::int64_t ports);

  /// The router of the channel that has port `id`, in [0, ports), at the cube's HBM.
  [[nodiscard]] RouterPort& port(std::int64_t id) { return ports_.at(static_cast<std::size_t>(id)); }

 private:
  InReverse<RouterPort> ports_;
};

}  // namespace kernwave
