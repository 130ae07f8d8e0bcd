#include "traces/protocol_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kernwave::traces {

ProtocolMonitor::ProtocolMonitor(const sc_core::sc_module_name& name, std::string link)
    : sc_module(name), from_initiator_("from_initiator"), to_target_("to_target"), link_(std::move(link)) {
  from_initiator_.register_nb_transport_fw(this, &ProtocolMonitor::forward);
  from_initiator_.register_b_transport(this, &ProtocolMonitor::blocking);
  from_initiator_.register_transport_dbg(this, &ProtocolMonitor::debug);
  from_initiator_.register_get_direct_mem_ptr(this, &ProtocolMonitor::direct_memory);
  to_target_.register_nb_transport_bw(this, &ProtocolMonitor::backward);
  to_target_.register_invalidate_direct_mem_ptr(this, &ProtocolMonitor::forget_direct_memory);
}

void ProtocolMonitor::require(bool condition, const char* rule) {
  if (condition) return;
  violations_.push_back(fmt::format("{} at {} ps: {}", link_, now().count(), rule));
}

void ProtocolMonitor::check_time(Picoseconds at, Picoseconds& last, const char* path) {
  require(at >= last, path);
  last = at;
}

/// An interconnect may change the address (14.8).
void ProtocolMonitor::check_attributes(const Payload& payload, const Open& open) {
  require(payload.get_command() == open.command && payload.get_data_ptr() == open.data &&
              payload.get_data_length() == open.length,
          "command, data pointer or length changed in flight");
}

void ProtocolMonitor::see_begin_req(Payload& payload, Picoseconds at) {
  ++transactions_;
  require(requesting_ == nullptr, "BEGIN_REQ before END_REQ of the request before it");
  require(open_.count(&payload) == 0, "BEGIN_REQ with a payload that is still in flight");
  require(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
          "BEGIN_REQ with a response status other than TLM_INCOMPLETE_RESPONSE");
  require(payload.has_mm() && payload.get_ref_count() > 0, "BEGIN_REQ with a payload that nobody holds");
  require(payload.get_data_ptr() != nullptr && payload.get_data_length() > 0, "BEGIN_REQ without data");
  check_time(at, last_request_, "BEGIN_REQ earlier than a phase of the request before it");
  requesting_ = &payload;
  open_[&payload] =
      Open{State::requested, payload.get_command(), payload.get_data_ptr(), payload.get_data_length(), at};
}

void ProtocolMonitor::see_end_req(Payload& payload, Picoseconds at) {
  const auto open = open_.find(&payload);
  require(open != open_.end() && open->second.state == State::requested, "END_REQ out of order");
  require(requesting_ == &payload, "END_REQ for a request that is not in its request phase");
  requesting_ = nullptr;
  if (open == open_.end()) return;
  check_time(at, open->second.last, "END_REQ earlier than its BEGIN_REQ");
  last_request_ = std::max(last_request_, at);
  open->second.state = State::accepted;
}

void ProtocolMonitor::see_begin_resp(Payload& payload, Picoseconds at) {
  const auto open = open_.find(&payload);
  require(open != open_.end() && open->second.state != State::responding, "BEGIN_RESP out of order");
  require(responding_ == nullptr, "BEGIN_RESP before END_RESP of the response before it");
  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "BEGIN_RESP without a response status");
  require(at >= last_response_, "BEGIN_RESP earlier than END_RESP of the response before it");
  if (requesting_ == &payload) requesting_ = nullptr;  // the end of the request phase is implied
  responding_ = &payload;
  if (open == open_.end()) return;
  check_time(at, open->second.last, "BEGIN_RESP earlier than the phase before it");
  check_attributes(payload, open->second);
  open->second.state = State::responding;
}

void ProtocolMonitor::see_end_resp(Payload& payload, Picoseconds at) {
  require(responding_ == &payload, "END_RESP for a response that was not begun");
  responding_ = nullptr;
  const auto open = open_.find(&payload);
  if (open == open_.end()) return;
  // Responses that take no time may come in any order, also ahead of time (15.2.7 g).
  if (at > open->second.last) last_response_ = at;
  check_time(at, open->second.last, "END_RESP earlier than its BEGIN_RESP");
  open_.erase(open);
}

void ProtocolMonitor::see_completion(Payload& payload, Picoseconds at) {
  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "TLM_COMPLETED without a response status");
  if (requesting_ == &payload) requesting_ = nullptr;
  if (responding_ == &payload) responding_ = nullptr;
  const auto open = open_.find(&payload);
  if (open == open_.end()) return;
  if (open->second.state == State::responding && at > open->second.last) last_response_ = at;
  check_time(at, open->second.last, "TLM_COMPLETED earlier than the phase before it");
  open_.erase(open);
}

tlm::tlm_sync_enum ProtocolMonitor::forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const tlm::tlm_phase sent = phase;
  const Picoseconds at = now() + to_picoseconds(delay);
  if (sent == tlm::BEGIN_REQ) {
    see_begin_req(payload, at);
  } else if (sent == tlm::END_RESP) {
    see_end_resp(payload, at);
  } else if (is_ignorable(sent)) {
    return to_target_->nb_transport_fw(payload, phase, delay);
  } else {
    require(false, "a phase on the forward path other than BEGIN_REQ and END_RESP");
  }
  const tlm::tlm_sync_enum status = to_target_->nb_transport_fw(payload, phase, delay);
  const Picoseconds answered = now() + to_picoseconds(delay);
  if (sent == tlm::END_RESP) {
    require(status != tlm::TLM_UPDATED, "END_RESP answered with TLM_UPDATED");
    return status;
  }
  if (status == tlm::TLM_COMPLETED) see_completion(payload, answered);
  if (status == tlm::TLM_UPDATED) {
    require(phase == tlm::END_REQ || phase == tlm::BEGIN_RESP,
            "BEGIN_REQ answered with a phase that is not the target's");
    if (phase == tlm::END_REQ) see_end_req(payload, answered);
    if (phase == tlm::BEGIN_RESP) see_begin_resp(payload, answered);
  }
  return status;
}

tlm::tlm_sync_enum ProtocolMonitor::backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const tlm::tlm_phase sent = phase;
  const Picoseconds at = now() + to_picoseconds(delay);
  if (sent == tlm::END_REQ) {
    see_end_req(payload, at);
  } else if (sent == tlm::BEGIN_RESP) {
    see_begin_resp(payload, at);
  } else if (is_ignorable(sent)) {
    return from_initiator_->nb_transport_bw(payload, phase, delay);
  } else {
    require(false, "a phase on the backward path other than END_REQ and BEGIN_RESP");
  }
  const tlm::tlm_sync_enum status = from_initiator_->nb_transport_bw(payload, phase, delay);
  if (sent == tlm::END_REQ) {
    require(status == tlm::TLM_ACCEPTED, "END_REQ answered with something other than TLM_ACCEPTED");
    return status;
  }
  const Picoseconds answered = now() + to_picoseconds(delay);
  if (status == tlm::TLM_COMPLETED) see_completion(payload, answered);
  if (status == tlm::TLM_UPDATED) {
    require(phase == tlm::END_RESP, "BEGIN_RESP answered with a phase that is not the initiator's");
    see_end_resp(payload, answered);
  }
  return status;
}

void ProtocolMonitor::blocking(Payload& payload, sc_core::sc_time& delay) {
  ++transactions_;
  require(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
          "b_transport with a response status other than TLM_INCOMPLETE_RESPONSE");
  to_target_->b_transport(payload, delay);
  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "b_transport returned without a response");
}

void MonitoringConnector::connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name) {
  ProtocolMonitor& monitor = monitors_.add(sc_core::sc_gen_unique_name("monitor"), name);
  initiator.bind(monitor.from_initiator());
  monitor.to_target().bind(target);
  declare_time_transparent(initiator, target);
}

std::vector<std::string> MonitoringConnector::violations() const {
  std::vector<std::string> all;
  for (const auto& monitor : monitors_) {
    all.insert(all.end(), monitor->violations().begin(), monitor->violations().end());
  }
  return all;
}

std::int64_t MonitoringConnector::transactions() const {
  std::int64_t sum = 0;
  for (const auto& monitor : monitors_) sum += monitor->transactions();
  return sum;
}

std::size_t MonitoringConnector::in_flight() const {
  std::size_t sum = 0;
  for (const auto& monitor : monitors_) sum += monitor->in_flight();
  return sum;
}

}  // namespace kernwave::traces
