// The target's side of the base protocol: back-pressure by withholding END_REQ, one response at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"

namespace kernwave {

/// A target socket with the state that the base protocol asks a target to keep.
///
/// A `b_transport` call becomes a request like any other, so both styles take the same time; its payload needs no
/// memory manager. The client may pass either on by `nb_transport`, also inside `request`: for the time of a blocking
/// call the port stands in for the memory manager of a payload that has none.
class TargetPort : private tlm::tlm_fw_transport_if<>, private tlm::tlm_mm_interface {
 public:
  class Client {
   public:
    /// BEGIN_REQ, in effect at `at` (now or later). Returns the instant of END_REQ, `at` or later, if the client
    /// accepts the request; END_REQ goes back in the return value. Returns nothing to withhold END_REQ until
    /// `accept_withheld`.
    [[nodiscard]] virtual std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) = 0;
    /// Time-free access for debuggers and loaders; returns the bytes served.
    virtual unsigned debug_access(TargetPort& /*port*/, Payload& /*payload*/) { return 0; }
    /// A request for a direct memory pointer; returns whether `dmi` is one.
    virtual bool direct_memory(TargetPort& /*port*/, Payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) { return false; }

   protected:
    ~Client() = default;
  };

  TargetPort(const char* name, Client& client, std::int64_t id = 0);
  TargetPort(const TargetPort&) = delete;
  TargetPort& operator=(const TargetPort&) = delete;
  ~TargetPort() override = default;

  /// The configured number by which an arbiter breaks ties.
  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  /// The request whose END_REQ is withheld, if any, and the instant of its BEGIN_REQ.
  [[nodiscard]] Payload* withheld() const noexcept { return withheld_; }
  [[nodiscard]] Picoseconds withheld_since() const noexcept { return withheld_since_; }

  /// Ends the request phase of the withheld request at `at`, but not before now or its BEGIN_REQ.
  void accept_withheld(Picoseconds at = Picoseconds(0));
  /// Sends BEGIN_RESP now, or as soon as the response before it has been acknowledged. The place in the client's queue
  /// that the response frees must be free by then. Inside the client's `request` for that payload, the response goes
  /// back in the return value instead, at the instant of END_REQ.
  void respond(Payload& payload) { respond(payload, now()); }
  /// The same ahead of time: the response takes effect at `at`, now or later, which is its annotated delay. The order
  /// of responses is that of the calls; their instants need not ascend (IEEE 1666-2011, 15.2.6 and 15.2.7).
  void respond(Payload& payload, Picoseconds at);
  /// Whether the client's `request` for that payload is under way, by nb_transport.
  [[nodiscard]] bool presents(const Payload& payload) const noexcept { return presented_ == &payload; }
  /// Inside the client's `request` for that payload: sends the response in the return value, in effect at `at`, now or
  /// later, which ends the request phase too. Returns false elsewhere, and while an earlier response is not
  /// acknowledged; call `respond` in these cases.
  [[nodiscard]] bool respond_in_return(Payload& payload, Picoseconds at) noexcept;

  [[nodiscard]] TargetSocket& socket() noexcept { return socket_; }

 private:
  struct Response {
    Payload* payload = nullptr;
    Picoseconds at;
  };
  struct BlockingCall {
    Payload* payload = nullptr;
    bool done = false;
    Picoseconds at;  ///< when it is done, now or later
  };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  unsigned transport_dbg(Payload& payload) override { return client_.debug_access(*this, payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override {
    return client_.direct_memory(*this, payload, dmi);
  }
  /// The payload is its owner's, on whose stack it lives.
  void free(Payload* /*payload*/) override {}

  tlm::tlm_sync_enum begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  [[nodiscard]] bool end_blocking_call(const Payload& payload, Picoseconds at);
  void send_responses();
  /// The one before it has been acknowledged.
  void next_response();

  SimulatedTime now;
  Client& client_;
  std::int64_t id_;
  Payload* withheld_ = nullptr;
  Picoseconds withheld_since_;
  bool awaiting_end_resp_ = false;
  RingQueue<Response> responses_;
  std::vector<BlockingCall*> blocking_;
  Payload* presented_ = nullptr;             // its BEGIN_REQ is being handed to the client by nb_transport_fw
  std::optional<Picoseconds> responded_at_;  // of that one, where its response leaves in the return value
  LateMethod<TargetPort> response_free_{"next_response", *this, &TargetPort::next_response};
  std::unique_ptr<sc_core::sc_event> blocking_call_due_;  // wakes blocking calls; none before the first
  TargetSocket socket_;
};

}  // namespace kernwave
