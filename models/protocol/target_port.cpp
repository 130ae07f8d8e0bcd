#include "models/protocol/target_port.h"

#include <algorithm>

namespace kernwave {

TargetPort::TargetPort(const char* name, Client& client, std::int64_t id) : client_(client), id_(id), socket_(name) {
  socket_.bind(*this);
}

void TargetPort::next_response() {
  awaiting_end_resp_ = false;
  send_responses();
}

tlm::tlm_sync_enum TargetPort::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) return begin_request(payload, phase, delay);
  if (is_ignorable(phase)) return tlm::TLM_ACCEPTED;
  if (phase != tlm::END_RESP) {
    report_error(report_type::protocol, socket_.name(), "a phase on the forward path that the base protocol forbids");
  }
  if (!awaiting_end_resp_ || responses_.front().payload != &payload) {
    report_error(report_type::protocol, socket_.name(), "END_RESP for a response that was not sent");
  }
  responses_.pop_front();
  payload.release();
  response_free_.notify(delay);  // the next response leaves from this port's own process
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum TargetPort::begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (!payload.has_mm()) {
    report_error(report_type::protocol, socket_.name(),
                 "BEGIN_REQ with a payload that has no memory manager: non-blocking transport needs one "
                 "(IEEE 1666, 14.5); use b_transport for a payload on the stack");
  }
  if (withheld_ != nullptr) {
    report_error(report_type::protocol, socket_.name(), "BEGIN_REQ before END_REQ of the request before it");
  }
  payload.acquire();
  const Picoseconds current = now();
  const Picoseconds at = current + to_picoseconds(delay);
  presented_ = &payload;
  responded_at_.reset();
  const std::optional<Picoseconds> accepted = client_.request(*this, payload, at);
  presented_ = nullptr;
  if (!accepted) {
    withheld_ = &payload;
    withheld_since_ = at;
    return tlm::TLM_ACCEPTED;
  }
  if (responded_at_) {
    delay = to_sc_time(std::max(*accepted, *responded_at_) - current);
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  if (*accepted != at) delay = to_sc_time(*accepted - current);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void TargetPort::accept_withheld(Picoseconds at) {
  Payload& payload = *withheld_;
  withheld_ = nullptr;
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = to_sc_time(std::max({at - now(), withheld_since_ - now(), Picoseconds(0)}));
  socket_->nb_transport_bw(payload, phase, delay);
}

void TargetPort::respond(Payload& payload, Picoseconds at) {
  if (!blocking_.empty()) {
    blocking_call_due_->notify();
    if (end_blocking_call(payload, at)) return;
  }
  if (respond_in_return(payload, at)) return;
  responses_.push_back({&payload, at});
  if (!awaiting_end_resp_) send_responses();
}

bool TargetPort::respond_in_return(Payload& payload, Picoseconds at) noexcept {
  if (!presents(payload) || awaiting_end_resp_) return false;
  responded_at_ = at;
  return true;
}

void TargetPort::b_transport(Payload& payload, sc_core::sc_time& delay) {
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  const bool lends_manager = !payload.has_mm();
  if (lends_manager) {
    payload.set_mm(this);
    payload.acquire();
  }
  BlockingCall call;
  call.payload = &payload;
  blocking_.push_back(&call);
  if (blocking_call_due_ == nullptr) blocking_call_due_ = std::make_unique<sc_core::sc_event>();
  while (!client_.request(*this, payload, now())) sc_core::wait(*blocking_call_due_);
  while (!call.done) sc_core::wait(*blocking_call_due_);
  if (call.at > now()) sc_core::wait(to_sc_time(call.at - now()));
  if (lends_manager) {
    payload.release();
    payload.set_mm(nullptr);
  }
}

bool TargetPort::end_blocking_call(const Payload& payload, Picoseconds at) {
  const auto call = std::find_if(blocking_.begin(), blocking_.end(),
                                 [&payload](const BlockingCall* open) { return open->payload == &payload; });
  if (call == blocking_.end()) return false;
  (*call)->done = true;
  (*call)->at = at;
  blocking_.erase(call);
  return true;
}

void TargetPort::send_responses() {
  while (!responses_.empty() && !awaiting_end_resp_) {
    const Response response = responses_.front();
    Payload& payload = *response.payload;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    const sc_core::sc_time annotated = to_sc_time(std::max(response.at - now(), Picoseconds(0)));
    sc_core::sc_time delay = annotated;
    awaiting_end_resp_ = true;
    const tlm::tlm_sync_enum status = socket_->nb_transport_bw(payload, phase, delay);
    if (status == tlm::TLM_ACCEPTED) return;
    responses_.pop_front();
    payload.release();
    if (delay > annotated) {  // the initiator takes its time over END_RESP
      response_free_.notify(delay);
      return;
    }
    awaiting_end_resp_ = false;
  }
}

}  // namespace kernwave
