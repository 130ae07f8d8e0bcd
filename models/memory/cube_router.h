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

/// The fork in the way of one DMA channel to memory. It passes each call on in the same instant, in both directions,
/// and adds no phase, no delay and no queue to it.
///
/// A request goes by the cube in its address: to another cube of the system by the links; to its own cube, or to a
/// cube that does not exist, to its own HBM, which answers the latter with an error. Responses come back on two ways,
/// but upstream one at a time may be between BEGIN_RESP and END_RESP: one that comes in between is held back until
/// then. Nobody is held back by an initiator that acknowledges in the return value, without a delay, as ours do.
class RouterPort : private tlm::tlm_fw_transport_if<> {
 public:
  /// `id` stands in the names of the sockets.
  RouterPort(std::int64_t id, CubeId cube, std::int64_t cubes);
  RouterPort(const RouterPort&) = delete;
  RouterPort& operator=(const RouterPort&) = delete;
  ~RouterPort() override = default;

  [[nodiscard]] TargetSocket& socket() noexcept { return socket_; }
  [[nodiscard]] InitiatorSocket& hbm_socket() noexcept { return hbm_.socket; }
  [[nodiscard]] InitiatorSocket& links_socket() noexcept { return links_.socket; }

 private:
  /// One of the two ways onward: tells on which of them a call on the backward path came.
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

  /// A response that its way has begun and that has not been passed on.
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

/// The forks of a cube, one for each of its DMA channels. Only a system of several cubes has them.
class CubeRouter : public sc_core::sc_module {
 public:
  CubeRouter(const sc_core::sc_module_name& name, CubeId cube, std::int64_t cubes, std::int64_t ports);

  /// Port `id` in [0, ports): for the channel that has this number at the cube's HBM.
  [[nodiscard]] RouterPort& port(std::int64_t id) { return ports_.at(static_cast<std::size_t>(id)); }

 private:
  InReverse<RouterPort> ports_;
};

}  // namespace kernwave
