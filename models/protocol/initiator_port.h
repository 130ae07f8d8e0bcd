// The initiator's side of the base protocol: every return path, exclusion rules, annotated delays.
#pragma once

#include <vector>

#include "models/base/late_method.h"
#include "models/base/systemc.h"

namespace kernwave {

/// An initiator socket with the state that the base protocol asks an initiator to keep.
///
/// One request at a time is in its request phase (BEGIN_REQ to END_REQ); any number of requests may await their
/// responses. In whichever way a target answers (ACCEPTED, UPDATED, COMPLETED, phases on the backward path, annotated
/// delays), the client sees each response once: at the instant at which the response takes effect, or ahead of it if
/// the client accepts that (`response_ahead`).
class InitiatorPort : private tlm::tlm_bw_transport_if<> {
 public:
  class Client {
   public:
    /// The request phase has ended by the backward path. Must not send: wake the sending process.
    virtual void request_accepted(InitiatorPort& port) = 0;
    /// The response has arrived, now. Must not send. The payload is released when this returns.
    virtual void response(InitiatorPort& port, Payload& payload) = 0;
    /// The response has come, in the return value of `send` or with an annotated delay, and takes effect at `at`, later
    /// than now. Must not send. Returns true if the client has taken the response ahead of time; the payload is then
    /// released. Otherwise `response` is called at that instant.
    [[nodiscard]] virtual bool response_ahead(InitiatorPort& /*port*/, Payload& /*payload*/, Picoseconds /*at*/) {
      return false;
    }

   protected:
    ~Client() = default;
  };

  InitiatorPort(const char* name, Client& client);
  InitiatorPort(const InitiatorPort&) = delete;
  InitiatorPort& operator=(const InitiatorPort&) = delete;
  ~InitiatorPort() override = default;

  /// Declares, during elaboration, whether the link of the port is time-transparent (`Connector`). The default is no.
  void declare_time_transparent(bool is) noexcept { time_transparent_ = is; }
  [[nodiscard]] bool is_time_transparent() const noexcept { return time_transparent_; }

  /// Whether a request is between BEGIN_REQ and END_REQ, so that nothing may be sent.
  [[nodiscard]] bool busy() const noexcept { return requesting_ != nullptr; }
  /// The earliest instant of the next BEGIN_REQ, when not busy.
  [[nodiscard]] Picoseconds free_at() const noexcept { return free_at_; }

  /// Sends BEGIN_REQ, `delay` from now, from the caller's own process. The payload is acquired until its response.
  void send(Payload& payload, Picoseconds delay = Picoseconds(0));

  [[nodiscard]] InitiatorSocket& socket() noexcept { return socket_; }

 private:
  struct DeferredResponse {
    Picoseconds at;
    Payload* payload = nullptr;
    bool end_resp_due = false;
  };

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  /// Direct memory pointers are never asked for.
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}

  void end_request(Picoseconds at);
  void take_response(Payload& payload, bool end_resp_due);
  void defer_response(DeferredResponse response);
  void deliver_deferred();
  void send_end_resp(Payload& payload);

  SimulatedTime now;
  Client& client_;
  bool time_transparent_ = false;
  Payload* requesting_ = nullptr;
  Picoseconds free_at_;
  std::vector<DeferredResponse> deferred_;  // by time, then by arrival
  LateMethod<InitiatorPort> deferred_due_{"deliver_deferred", *this, &InitiatorPort::deliver_deferred};
  InitiatorSocket socket_;
};

}  // namespace kernwave
