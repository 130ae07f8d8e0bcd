#include "tests/support/stub_memory.h"

#include <algorithm>

#include "models/base/address.h"

namespace kernwave::testing {

StubMemory::StubMemory(const sc_core::sc_module_name& name, AnswerStyle style, const StubTiming& timing,
                       std::size_t capacity)
    : sc_module(name), style_(style), timing_(timing), bytes_(capacity) {
  ports_.push_back(std::make_unique<Port>("read", *this));
  ports_.push_back(std::make_unique<Port>("write", *this));
}

StubMemory::Port::Port(const char* name, StubMemory& owner) : memory(owner), socket(name) {
  socket.register_nb_transport_fw(this, &Port::forward);
}

tlm::tlm_sync_enum StubMemory::Port::forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    if (awaiting_end_resp) {  // else the response went back in a return value
      responses.pop_front();
      memory.agenda_.at(now(), [this] {
        awaiting_end_resp = false;
        send_responses();
      });
    }
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  memory.serve(payload);
  const StubTiming& timing = memory.timing_;
  Agenda& agenda = memory.agenda_;
  const Picoseconds at = now() + to_picoseconds(delay);
  const auto respond_at = [&](Picoseconds time) { agenda.at(time, [this, &payload] { respond(payload); }); };
  const auto update = [&](tlm::tlm_phase next, Picoseconds later) {
    phase = next;
    delay += to_sc_time(later);
    return tlm::TLM_UPDATED;
  };
  const std::int64_t left_in_batch = timing.batch - 1 - requests++ % timing.batch;
  payload.acquire();
  switch (memory.style_) {
    case AnswerStyle::end_req_later:
      agenda.at(at + timing.accept, [this, &payload] { send_end_req(payload, Picoseconds(0)); });
      respond_at(at + timing.accept + timing.latency);
      return tlm::TLM_ACCEPTED;
    case AnswerStyle::end_req_announced:
      agenda.at(at, [this, &payload, &timing] { send_end_req(payload, timing.accept); });
      respond_at(at + timing.accept + timing.latency);
      return tlm::TLM_ACCEPTED;
    case AnswerStyle::end_req_annotated:
      respond_at(at + timing.accept + timing.latency);
      return update(tlm::END_REQ, timing.accept);
    case AnswerStyle::response_at_once:
      return update(tlm::BEGIN_RESP, Picoseconds(0));
    case AnswerStyle::response_annotated:
      return update(tlm::BEGIN_RESP, timing.latency);
    case AnswerStyle::completed_at_once:
      payload.release();
      return tlm::TLM_COMPLETED;
    case AnswerStyle::completed_annotated:
      payload.release();
      delay += to_sc_time(timing.latency);
      return tlm::TLM_COMPLETED;
    case AnswerStyle::response_ends_request:
      respond_at(at + timing.latency);
      return tlm::TLM_ACCEPTED;
    case AnswerStyle::late_annotation:
      respond_at(at + timing.latency - timing.annotation);
      return tlm::TLM_ACCEPTED;
    case AnswerStyle::responses_annotated:
      respond_at(at + timing.latency - timing.annotation);
      return update(tlm::END_REQ, Picoseconds(0));
    case AnswerStyle::responses_out_of_order:
      respond_at(at + timing.latency + timing.annotation * left_in_batch);
      return update(tlm::END_REQ, Picoseconds(0));
    case AnswerStyle::never:
      return update(tlm::END_REQ, Picoseconds(0));
  }
  return tlm::TLM_COMPLETED;
}

void StubMemory::Port::send_end_req(Payload& payload, Picoseconds later) {
  tlm::tlm_phase phase = tlm::END_REQ;
  sc_core::sc_time delay = to_sc_time(later);
  socket->nb_transport_bw(payload, phase, delay);
}

void StubMemory::Port::respond(Payload& payload) {
  responses.push_back(&payload);
  if (!awaiting_end_resp) send_responses();
}

void StubMemory::Port::send_responses() {
  const bool annotates =
      memory.style_ == AnswerStyle::late_annotation || memory.style_ == AnswerStyle::responses_annotated;
  while (!responses.empty() && !awaiting_end_resp) {
    Payload& payload = *responses.front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = to_sc_time(annotates ? memory.timing_.annotation : Picoseconds(0));
    awaiting_end_resp = true;
    if (socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED) return;
    awaiting_end_resp = false;
    responses.pop_front();
    payload.release();
  }
}

void StubMemory::serve(Payload& payload) {
  const std::uint64_t length = payload.get_data_length();
  const auto address = static_cast<std::uint64_t>(HbmAddress(payload.get_address()).offset().count());
  const bool fits = length <= longest_burst && (length & (length - 1)) == 0 && address % length == 0;
  payload.set_response_status(fits || timing_.any_length ? timing_.status : tlm::TLM_BURST_ERROR_RESPONSE);
  if (payload.is_response_error()) return;
  std::uint8_t* stored = bytes_.data() + address;
  if (payload.is_read()) {
    std::copy_n(stored, length, payload.get_data_ptr());
  } else {
    std::copy_n(payload.get_data_ptr(), length, stored);
  }
}

}  // namespace kernwave::testing
