#include "models/pe/pe_ipcq.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/protocol/command.h"

namespace kernwave {

PeIpcq::PeIpcq(const sc_core::sc_module_name& name, const IpcqConfig& config, PeScratch& scratch, RunLedger& ledger,
               CreditListener& listener, const std::vector<Neighbour>& neighbours)
    : sc_module(name),
      config_(config),
      scratch_(scratch),
      ledger_(ledger),
      listener_(listener),
      commands_("commands", *this, direction_count) {
  TargetPort::Client& receiver = *this;
  InitiatorPort::Client& sender = *this;
  for (const auto& [direction, other] : neighbours) {
    links_[index(direction)] = std::make_unique<Link>(other, std::string(name_of(direction)),
                                                      static_cast<std::int64_t>(index(direction)), receiver, sender);
  }
}

Bytes PeIpcq::slots_need(Bytes slot_bytes) const noexcept {
  return align_up(slot_bytes, scratch_alignment) * config_.depth;
}

void PeIpcq::open(Direction direction, Bytes slot_bytes) {
  Link& opened = link(direction);
  opened.slot_bytes = align_up(slot_bytes, scratch_alignment);
  slots_size_ += slots_need(slot_bytes);
  opened.first_slot = ScratchAddress((scratch_.capacity() - slots_size_).count());
}

ScratchAddress PeIpcq::slot(Direction direction, std::int64_t message) const {
  const Link& from = link(direction);
  return ScratchAddress(from.first_slot.count() + message % config_.depth * from.slot_bytes.count());
}

QueueState PeIpcq::peer(Direction direction) {
  Link& to = link(direction);
  if (to.asked) return to.peer;
  to.asked = true;
  Payload question;
  question.set_command(tlm::TLM_READ_COMMAND);
  question.set_address(static_cast<std::uint64_t>(LinkAddress::queue_state));
  question.set_data_ptr(reinterpret_cast<unsigned char*>(&to.peer));
  question.set_data_length(sizeof(QueueState));
  question.set_streaming_width(sizeof(QueueState));
  if (to.out.socket()->transport_dbg(question) != sizeof(QueueState)) to.peer = QueueState{};
  to.credits = to.peer.slots;
  return to.peer;
}

bool PeIpcq::may_send(Direction direction) const {
  const Link& to = link(direction);
  return to.held == nullptr && to.credits > 0 && static_cast<std::int64_t>(to.sent_at.size()) < config_.window;
}

std::string PeIpcq::describe_credits(Direction direction) const {
  const Link& to = link(direction);
  return fmt::format("{} of {} slots are free, {} of {} messages of the window are not received", to.credits,
                     to.peer.slots, to.sent_at.size(), config_.window);
}

void PeIpcq::take_credit(Direction direction, Picoseconds at) {
  Link& to = link(direction);
  --to.credits;
  ++to.to_leave;
  to.sent_at.push_back(at);
}

InFlightStatistics PeIpcq::in_flight(Direction direction) const {
  const Link& to = link(direction);
  InFlightStatistics statistics = to.in_flight;
  statistics.most = std::max(statistics.most, static_cast<std::int64_t>(to.sent_at.size()));
  return statistics;
}

/// The most are in flight just before one of them is received. A credit may have been taken ahead of simulated time, or
/// in this instant by a program that runs before or after: those do not count yet.
void PeIpcq::end_flight(Link& link) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < link.sent_at.size(); ++i) out += link.sent_at[i] < now() ? 1 : 0;
  link.in_flight.most = std::max(link.in_flight.most, out);
  link.in_flight.total += now() - config_.hop_latency - link.sent_at.front();
  link.sent_at.pop_front();
}

void PeIpcq::release_slot(Direction direction, Picoseconds at) { give_back(direction, LinkAddress::credit_return, at); }

// ---- commands

std::optional<Picoseconds> PeIpcq::request(TargetPort& port, Payload& payload, Picoseconds at) {
  if (&port != &commands_) {
    links_[static_cast<std::size_t>(port.id())]->arrived.push_back({at, &payload});
    wake_at(at);
    return at;
  }
  const IpcqDescriptor& ipcq = descriptor_of(payload).ipcq();
  if (observer_ != nullptr) observer_->arrived(descriptor_of(payload), at);
  ipcq.action == IpcqAction::send ? take_send(payload, at) : take_receive(payload, at);
  return at;
}

void PeIpcq::take_send(Payload& command, Picoseconds at) {
  const IpcqDescriptor& send = descriptor_of(command).ipcq();
  Message& message = pool_.acquire();
  message.command = &command;
  message.direction = send.direction;
  prepare(message, tlm::TLM_WRITE_COMMAND, 0, data_of(message, send), static_cast<std::size_t>(send.bytes().count()));
  depart(link(send.direction), at, message);
}

void PeIpcq::take_receive(Payload& command, Picoseconds at) {
  const Direction direction = descriptor_of(command).ipcq().direction;
  Link& from = link(direction);
  from.receives.push_back({&command, at});
  if (from.receives.size() > from.landings.size()) ledger_.activity_ends();  // it waits for somebody else
  wake_at(at);
}

// ---- the process

void PeIpcq::advance() {
  advancing_ = true;
  do {
    again_ = false;
    for (std::size_t i = 0; i < direction_count; ++i) {
      if (links_[i] == nullptr) continue;
      take_in(static_cast<Direction>(i), *links_[i]);
      match(static_cast<Direction>(i), *links_[i]);
      send_due(*links_[i]);
    }
  } while (again_);
  advancing_ = false;
}

void PeIpcq::take_in(Direction direction, Link& link) {
  while (!link.arrived.empty()) {
    if (link.arrived.front().at > now()) return wake_at(link.arrived.front().at);
    Payload& payload = *link.arrived.front().payload;
    link.arrived.pop_front();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (in_reset_) {  // it is lost
      link.in.respond(payload);
      continue;
    }
    if (carries_data(payload.get_address())) {
      land(direction, link, payload);
    } else if (payload.get_address() == static_cast<std::uint64_t>(LinkAddress::credit_return)) {
      ++link.credits;
      listener_.credit_returned();
    } else {
      end_flight(link);
      listener_.credit_returned();
    }
    link.in.respond(payload);
  }
}

void PeIpcq::land(Direction direction, Link& link, Payload& payload) {
  const Bytes bytes(static_cast<std::int64_t>(payload.get_data_length()));
  const auto offset = static_cast<std::int64_t>(payload.get_address());
  if (offset + bytes.count() > (link.slot_bytes * config_.depth).count()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  copy_out(payload, ScratchAddress(link.first_slot.count() + offset));
  link.landings.push_back(bytes);
  ++link.landed;
  if (observer_ != nullptr) observer_->slot_filled(id_, direction, now());
  if (link.receives.size() >= link.landings.size()) ledger_.activity_begins();  // one of them goes on
}

void PeIpcq::match(Direction direction, Link& link) {
  while (!link.receives.empty() && !link.landings.empty()) {
    const Receive receive = link.receives.front();
    if (receive.arrival > now()) return wake_at(receive.arrival);
    const Bytes landed = link.landings.front();
    link.receives.pop_front();
    link.landings.pop_front();
    give_back(direction, LinkAddress::window_return, now());
    complete_receive(receive, landed);
  }
}

void PeIpcq::complete_receive(const Receive& receive, Bytes landed) {
  ++receives_;
  const Bytes expected = descriptor_of(*receive.command).ipcq().bytes();
  const bool agrees = landed == expected;
  receive.command->set_response_status(agrees ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE);
  if (auto* report = receive.command->get_extension<ExecutionReport>()) {
    report->start = receive.arrival;
    report->end = now();
    if (!agrees) {
      report->problem =
          fmt::format("the message that landed has {} B, the receive {} B", landed.count(), expected.count());
    }
  }
  if (observer_ != nullptr) {
    observer_->service_begins(descriptor_of(*receive.command), receive.arrival);
    observer_->service_ends(descriptor_of(*receive.command), now());
  }
  commands_.respond(*receive.command);
}

// ---- what leaves

void PeIpcq::give_back(Direction direction, LinkAddress what, Picoseconds at) {
  Message& message = pool_.acquire();
  message.command = nullptr;
  message.direction = direction;
  prepare(message, tlm::TLM_WRITE_COMMAND, static_cast<std::uint64_t>(what), &nothing_, sizeof(nothing_));
  ledger_.activity_begins();
  depart(link(direction), at, message);
}

/// Those of one instant leave in any order: one message at most is among them, the rest are counts.
void PeIpcq::depart(Link& link, Picoseconds at, Message& message) {
  const auto later = std::upper_bound(link.departures.begin(), link.departures.end(), at,
                                      [](Picoseconds time, const Departure& other) { return time < other.at; });
  link.departures.insert(later, {at, &message});
  wake_at(link.departures.front().at);
}

void PeIpcq::send_due(Link& link) {
  while (!link.departures.empty() && !link.out.busy()) {
    const Picoseconds at = std::max(link.departures.front().at, link.out.free_at());
    if (at > now()) return wake_at(at);
    Message& message = *link.departures.front().message;
    link.departures.erase(link.departures.begin());
    leaves(link, message);
    link.out.send(message);
  }
}

/// A message takes the next slot of the peer.
void PeIpcq::leaves(Link& link, Message& message) {
  ++link.on_the_way;
  if (message.command != nullptr) {
    const std::int64_t slot = link.sent++ % std::max<std::int64_t>(1, link.peer.slots);
    message.set_address(static_cast<std::uint64_t>(slot * link.peer.slot_bytes));
    --link.to_leave;
    departs(*message.command);
  } else if (message.get_address() == static_cast<std::uint64_t>(LinkAddress::credit_return)) {
    ++link.slots_returned;
  } else {
    ++link.windows_returned;
  }
}

void PeIpcq::departs(const Payload& send) {
  if (auto* report = send.get_extension<ExecutionReport>()) report->start = now();
  if (observer_ != nullptr) observer_->service_begins(descriptor_of(send), now());
}

void PeIpcq::request_accepted(InitiatorPort& /*port*/) { wake_at(now()); }

void PeIpcq::response(InitiatorPort& /*port*/, Payload& payload) {
  auto& message = static_cast<Message&>(payload);
  Link& to = link(message.direction);
  --to.on_the_way;
  if (to.held != nullptr) to.held->notify(sc_core::SC_ZERO_TIME);
  if (message.command == nullptr) {
    ledger_.activity_ends();
    return;
  }
  Payload& command = *message.command;
  ++sends_.operations;
  sends_.bytes += Bytes(static_cast<std::int64_t>(payload.get_data_length()));
  if (auto* report = command.get_extension<ExecutionReport>()) {
    sends_.busy += now() - report->start;
    report->end = now();
  }
  command.set_response_status(payload.get_response_status());
  if (observer_ != nullptr) observer_->service_ends(descriptor_of(command), now());
  commands_.respond(command);
}

// ---- a reset

void PeIpcq::begin_reset() {
  in_reset_ = true;
  for (const auto& each : links_) {
    if (each == nullptr) continue;
    drop_departures(*each);
    drop_receives(*each);
  }
}

void PeIpcq::drop_departures(Link& link) {
  std::vector<Departure> dropped;
  dropped.swap(link.departures);
  for (const Departure& departure : dropped) {
    Message& message = *departure.message;
    if (message.command != nullptr) {
      drop(*message.command, now());
      commands_.respond(*message.command);
    } else {
      ledger_.activity_ends();
    }
    message.acquire();  // nobody has yet
    message.release();
  }
}

/// Those that wait for somebody else are no activity; their ends are.
void PeIpcq::drop_receives(Link& link) {
  for (std::size_t i = 0; i < link.receives.size(); ++i) {
    if (i >= link.landings.size()) ledger_.activity_begins();
    drop(*link.receives[i].command, now());
    commands_.respond(*link.receives[i].command);
  }
  link.receives = {};
  link.landings = {};
}

void PeIpcq::end_reset() {
  in_reset_ = false;
  for (const auto& each : links_) {
    if (each == nullptr) continue;
    each->sent = 0;
    each->to_leave = 0;
    each->sent_at = {};
    each->landed = 0;
    each->slots_returned = 0;
    each->windows_returned = 0;
  }
}

void PeIpcq::hold_link(Direction direction, sc_core::sc_event& progress) { link(direction).held = &progress; }

bool PeIpcq::is_quiet_toward(Direction direction) const {
  const Link& to = link(direction);
  return to.on_the_way == 0 && to.to_leave == 0 && to.departures.empty();
}

void PeIpcq::peer_was_reset(Direction direction) {
  Link& to = link(direction);
  to.held = nullptr;
  to.sent = 0;
  to.sent_at = {};
  to.credits = to.asked ? to.peer.slots : 0;
  listener_.credit_returned();
}

PeIpcq::Held PeIpcq::held(Direction from) const {
  const Link& it = link(from);
  return {it.landed, it.landed - it.slots_returned, it.landed - it.windows_returned};
}

void PeIpcq::resume_link(Direction direction, const Held& held) {
  Link& to = link(direction);
  to.sent = held.landed;
  to.credits = to.asked ? to.peer.slots - held.slots : 0;
  for (std::int64_t i = 0; i < held.not_received; ++i) to.sent_at.push_back(now());
}

void PeIpcq::wake_at(Picoseconds time) {
  if (time > now()) {
    wake_.notify(to_sc_time(time - now()));
  } else if (advancing_) {
    again_ = true;
  } else {
    wake_.notify();
  }
}

unsigned PeIpcq::debug_access(TargetPort& port, Payload& payload) {
  const bool asks_for_state = &port != &commands_ && payload.is_read() &&
                              payload.get_address() == static_cast<std::uint64_t>(LinkAddress::queue_state) &&
                              payload.get_data_length() == sizeof(QueueState);
  if (!asks_for_state) return 0;
  const Link& from = *links_[static_cast<std::size_t>(port.id())];
  const bool open = from.slot_bytes > Bytes(0);
  const QueueState state{open ? config_.depth : 0, from.slot_bytes.count()};
  std::memcpy(payload.get_data_ptr(), &state, sizeof(state));
  return sizeof(state);
}

// ---- data

std::uint8_t* PeIpcq::data_of(Message& message, const IpcqDescriptor& send) {
  if (scratch_.mode() == DataMode::none) return scratch_.idle_bytes();
  std::uint8_t* const data = message.buffer(send.bytes());
  std::uint8_t* to = data;
  for (std::size_t i = 0; i < send.count; ++i) {
    const auto bytes = static_cast<std::size_t>(send.tensors[i].bytes().count());
    std::memcpy(to, scratch_.tensor(send.tensors[i]).data, bytes);
    to += bytes;
  }
  return data;
}

void PeIpcq::copy_out(const Payload& payload, ScratchAddress address) {
  if (scratch_.mode() == DataMode::none) return;
  ScratchOperand slot;
  slot.address = address;
  std::memcpy(scratch_.tensor(slot).data, payload.get_data_ptr(), payload.get_data_length());
}

}  // namespace kernwave
