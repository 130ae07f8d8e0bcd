#include "models/protocol/initiator_port.h"

#include <algorithm>

namespace kernwave {

InitiatorPort::InitiatorPort(const char* name, Client& client) : client_(client), socket_(name) { socket_.bind(*this); }

void InitiatorPort::send(Payload& payload, Picoseconds delay) {
  sc_assert(requesting_ == nullptr);
  requesting_ = &payload;
  payload.acquire();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time annotated = to_sc_time(delay);
  const tlm::tlm_sync_enum status = socket_->nb_transport_fw(payload, phase, annotated);
  if (status == tlm::TLM_ACCEPTED) return;
  if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
    end_request(now() + to_picoseconds(annotated));
    return;
  }
  if (status == tlm::TLM_UPDATED && phase != tlm::BEGIN_RESP) {
    report_error(report_type::protocol, socket_.name(),
                 "the target answered BEGIN_REQ with a phase that the base protocol forbids");
  }
  // BEGIN_RESP or early completion: the end of the request phase is implied.
  const Picoseconds at = now() + to_picoseconds(annotated);
  end_request(at);
  const bool end_resp_due = status == tlm::TLM_UPDATED;
  if (at == now()) {
    take_response(payload, end_resp_due);
  } else if (!end_resp_due && client_.response_ahead(*this, payload, at)) {
    payload.release();
  } else {
    defer_response({at, &payload, end_resp_due});
  }
}

tlm::tlm_sync_enum InitiatorPort::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    if (requesting_ != &payload) {
      report_error(report_type::protocol, socket_.name(), "END_REQ for a request that is not in its request phase");
    }
    end_request(now() + to_picoseconds(delay));
    client_.request_accepted(*this);
    return tlm::TLM_ACCEPTED;
  }
  if (is_ignorable(phase)) return tlm::TLM_ACCEPTED;
  if (phase != tlm::BEGIN_RESP) {
    report_error(report_type::protocol, socket_.name(), "a phase on the backward path that the base protocol forbids");
  }
  if (requesting_ == &payload) {
    end_request(now() + to_picoseconds(delay));
    client_.request_accepted(*this);
  }
  // Acknowledged in the call, at the instant at which it takes effect: a response may come ahead of its time, and those
  // that come later and take effect earlier must not wait for it.
  if (delay == sc_core::SC_ZERO_TIME) {
    take_response(payload, false);
  } else if (const Picoseconds at = now() + to_picoseconds(delay); client_.response_ahead(*this, payload, at)) {
    payload.release();
  } else {
    defer_response({at, &payload, false});
  }
  return tlm::TLM_COMPLETED;
}

void InitiatorPort::end_request(Picoseconds at) {
  requesting_ = nullptr;
  free_at_ = at;
}

void InitiatorPort::take_response(Payload& payload, bool end_resp_due) {
  client_.response(*this, payload);
  if (end_resp_due) send_end_resp(payload);
  payload.release();
}

void InitiatorPort::defer_response(DeferredResponse response) {
  const auto later = std::upper_bound(deferred_.begin(), deferred_.end(), response,
                                      [](const DeferredResponse& a, const DeferredResponse& b) { return a.at < b.at; });
  deferred_.insert(later, response);
  deferred_due_.notify(to_sc_time(response.at - now()));
}

void InitiatorPort::deliver_deferred() {
  while (!deferred_.empty() && deferred_.front().at <= now()) {
    const DeferredResponse due = deferred_.front();
    deferred_.erase(deferred_.begin());
    take_response(*due.payload, due.end_resp_due);
  }
  if (!deferred_.empty()) deferred_due_.notify(to_sc_time(deferred_.front().at - now()));
}

void InitiatorPort::send_end_resp(Payload& payload) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket_->nb_transport_fw(payload, phase, delay);
}

}  // namespace kernwave
