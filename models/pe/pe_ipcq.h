// The engine of a PE's queues: sends messages to neighbours and receives theirs.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/base/direction.h"
#include "models/base/late_method.h"
#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/ipcq/message.h"
#include "models/ipcq/topology.h"
#include "models/pe/credit_port.h"
#include "models/pe/engine_statistics.h"
#include "models/pe/pe_observer.h"
#include "models/pe/pe_scratch.h"
#include "models/protocol/descriptor.h"
#include "models/protocol/initiator_port.h"
#include "models/protocol/target_port.h"
#include "models/run/run_ledger.h"

namespace kernwave {

/// Messages of one direction, seen from the sender. A message is in flight from the instant at which its credit is
/// taken until it is received; `most` counts it until its place in the window is back at the sender.
struct InFlightStatistics {
  std::int64_t most = 0;
  Picoseconds total;  ///< sum over the messages of their time in flight: divided by the latency, the average
};

/// Sends and receives messages, over one link for each direction.
///
/// A message lands in the peer's scratch, in slot (number mod depth) of its queue, and a `send` is complete when it has
/// landed. Two counts bound a sender: a credit for each free slot, and a window of messages that are sent and not yet
/// received. The program waits for both before it issues a send (`may_send`), so a link never refuses a message. A
/// place in the window comes back one hop after its receive completes, a credit one hop after its slot is released.
///
/// Receives wait here, in order for each direction, until their message has landed; they hold up neither the scheduler
/// nor receives from other directions.
class PeIpcq : public sc_core::sc_module,
               public CreditProvider,
               private TargetPort::Client,
               private InitiatorPort::Client {
 public:
  /// Has one link for each neighbour.
  PeIpcq(const sc_core::sc_module_name& name, const IpcqConfig& config, PeScratch& scratch, RunLedger& ledger,
         CreditListener& listener, const std::vector<Neighbour>& neighbours);

  [[nodiscard]] TargetSocket& command_socket() noexcept { return commands_.socket(); }
  [[nodiscard]] InitiatorSocket& out_socket(Direction direction) { return link(direction).out.socket(); }
  [[nodiscard]] TargetSocket& in_socket(Direction direction) { return link(direction).in.socket(); }

  [[nodiscard]] bool linked(Direction direction) const noexcept { return links_[index(direction)] != nullptr; }

  /// The PE at the other end.
  [[nodiscard]] PeId peer_id(Direction direction) const { return link(direction).peer_id; }

  // During elaboration.
  /// Bytes of scratch that the slots of one direction take if each holds `slot_bytes`, which must fit into scratch.
  [[nodiscard]] Bytes slots_need(Bytes slot_bytes) const noexcept;
  /// Places `depth` slots of `slot_bytes` each at the top of scratch, below those of directions opened before. They
  /// must fit.
  void open(Direction direction, Bytes slot_bytes);

  void set_observer(PeId id, PeObserver* observer) noexcept {
    id_ = id;
    observer_ = observer;
  }

  // For the program.
  [[nodiscard]] bool receives_from(Direction direction) const { return link(direction).slot_bytes > Bytes(0); }
  [[nodiscard]] Bytes slot_bytes(Direction direction) const { return link(direction).slot_bytes; }
  [[nodiscard]] ScratchAddress slot(Direction direction, std::int64_t message) const;
  /// Scratch that all slots together take.
  [[nodiscard]] Bytes slots_size() const noexcept { return slots_size_; }
  /// The number and size of the slots that the peer in that direction offers.
  [[nodiscard]] QueueState peer(Direction direction);
  [[nodiscard]] bool may_send(Direction direction) const override;
  [[nodiscard]] std::string describe_credits(Direction direction) const override;
  void take_credit(Direction direction, Picoseconds at) override;
  void release_slot(Direction direction, Picoseconds at) override;

  // A reset of this PE (`PeResets`).
  /// Drops the sends that have not left, and the receives whose message has not landed. What lands from now on is lost.
  void begin_reset();
  /// As at the start of the simulation, but for what the PEs at the other ends hold (`peer_was_reset`, `resume_link`).
  void end_reset();
  /// Whether nothing that it has sent is on its way.
  [[nodiscard]] bool is_quiet() const noexcept { return pool_.in_use() == 0; }

  // A reset of the PE at the other end of a link.
  /// Nothing more may be sent in that direction; ends of messages on their way there notify `progress`.
  void hold_link(Direction direction, sc_core::sc_event& progress);
  /// Whether nothing is on its way there, and no send that has a credit is to come.
  [[nodiscard]] bool is_quiet_toward(Direction direction) const;
  /// The queue to it is as at its start: all its slots are free.
  void peer_was_reset(Direction direction);
  /// What the receiving end of a link holds of earlier messages.
  struct Held {
    std::int64_t landed = 0;        ///< messages since its start
    std::int64_t slots = 0;         ///< of them, in slots that are not free
    std::int64_t not_received = 0;  ///< of them, landed and not received
  };
  [[nodiscard]] Held held(Direction from) const;
  /// This PE was reset: it goes on sending where the receiver is.
  void resume_link(Direction direction, const Held& held);

  [[nodiscard]] const EngineStatistics& sends() const noexcept { return sends_; }
  [[nodiscard]] std::int64_t receives() const noexcept { return receives_; }
  [[nodiscard]] InFlightStatistics in_flight(Direction direction) const;
  [[nodiscard]] const MessagePool& pool() const noexcept { return pool_; }

 private:
  /// A message to send, at its own instant.
  struct Departure {
    Picoseconds at;
    Message* message = nullptr;
  };
  /// A receive that has no message yet.
  struct Receive {
    Payload* command = nullptr;
    Picoseconds arrival;
  };
  struct Arrival {
    Picoseconds at;
    Payload* payload = nullptr;
  };
  struct Link {
    Link(PeId other, const std::string& name, std::int64_t id, TargetPort::Client& receiver,
         InitiatorPort::Client& sender)
        : peer_id(other), in((name + "_in").c_str(), receiver, id), out((name + "_out").c_str(), sender) {}

    PeId peer_id;
    TargetPort in;
    InitiatorPort out;
    // As a sender.
    std::vector<Departure> departures;  // by time
    std::int64_t sent = 0;
    bool asked = false;  // the peer's queue is known
    QueueState peer;
    std::int64_t credits = 0;
    RingQueue<Picoseconds> sent_at;     // of those that are in the window
    std::int64_t to_leave = 0;          // sends that have a credit and have not left
    std::int64_t on_the_way = 0;        // messages, returned credits and windows
    sc_core::sc_event* held = nullptr;  // nothing may be sent: a reset of the peer waits for this
    InFlightStatistics in_flight;
    // As a receiver.
    ScratchAddress first_slot;
    Bytes slot_bytes;
    RingQueue<Receive> receives;
    RingQueue<Bytes> landings;  // of messages that no receive has taken
    std::int64_t landed = 0;
    std::int64_t slots_returned = 0;    // credits that have left
    std::int64_t windows_returned = 0;  // likewise
    RingQueue<Arrival> arrived;         // to be taken in by the process
  };

  [[nodiscard]] std::optional<Picoseconds> request(TargetPort& port, Payload& payload, Picoseconds at) override;
  [[nodiscard]] unsigned debug_access(TargetPort& port, Payload& payload) override;
  void request_accepted(InitiatorPort& port) override;
  void response(InitiatorPort& port, Payload& payload) override;

  void take_send(Payload& command, Picoseconds at);
  void take_receive(Payload& command, Picoseconds at);
  void advance();
  void take_in(Direction direction, Link& link);
  void land(Direction direction, Link& link, Payload& payload);
  void end_flight(Link& link);
  void match(Direction direction, Link& link);
  void complete_receive(const Receive& receive, Bytes landed);
  void give_back(Direction direction, LinkAddress what, Picoseconds at);
  void depart(Link& link, Picoseconds at, Message& message);
  void send_due(Link& link);
  void leaves(Link& link, Message& message);
  void departs(const Payload& send);
  void drop_departures(Link& link);
  void drop_receives(Link& link);
  void wake_at(Picoseconds time);
  /// The tensors one after another, in the message; idle bytes in mode `none`.
  [[nodiscard]] std::uint8_t* data_of(Message& message, const IpcqDescriptor& send);
  void copy_out(const Payload& payload, ScratchAddress address);

  [[nodiscard]] static constexpr std::size_t index(Direction direction) noexcept {
    return static_cast<std::size_t>(direction);
  }
  [[nodiscard]] Link& link(Direction direction) { return *links_[index(direction)]; }
  [[nodiscard]] const Link& link(Direction direction) const { return *links_[index(direction)]; }

  SimulatedTime now;
  IpcqConfig config_;
  PeScratch& scratch_;
  RunLedger& ledger_;
  CreditListener& listener_;
  TargetPort commands_;
  std::array<std::unique_ptr<Link>, direction_count> links_;
  MessagePool pool_;
  Bytes slots_size_;
  std::uint8_t nothing_ = 0;  // what a returned credit carries
  bool in_reset_ = false;
  bool advancing_ = false;
  bool again_ = false;  // advance() has something to do in a direction that it has been through
  LateMethod<PeIpcq> wake_{"advance", *this, &PeIpcq::advance};
  EngineStatistics sends_;
  std::int64_t receives_ = 0;
  PeId id_;  // for the observer
  PeObserver* observer_ = nullptr;
};

}  // namespace kernwave
