// A memory in the approximately-timed style, strict about what it takes.
#pragma once

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace consumer {

/// Bytes behind one socket, or behind several that share them. A request is accepted `accept` after it was made, by
/// END_REQ on the backward path, and answered `latency` later; meanwhile the next one is accepted. Lengths are powers
/// of two, naturally aligned, at most `longest`.
class PipelinedMemory : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t longest = 64;

  tlm_utils::simple_target_socket<PipelinedMemory> socket;

  PipelinedMemory(const sc_core::sc_module_name& name, std::vector<std::uint8_t>& bytes, const sc_core::sc_time& accept,
                  const sc_core::sc_time& latency)
      : sc_module(name),
        socket("socket"),
        bytes_(bytes),
        accept_(accept),
        latency_(latency),
        events_(this, &PipelinedMemory::next_phase) {
    socket.register_nb_transport_fw(this, &PipelinedMemory::nb_transport_fw);
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) {
      payload.acquire();
      events_.notify(payload, tlm::END_REQ, delay + accept_);
      return tlm::TLM_ACCEPTED;
    }
    events_.notify(payload, tlm::END_RESP, delay);
    return tlm::TLM_COMPLETED;
  }

  void next_phase(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& next) {
    if (next == tlm::END_REQ) {
      send(payload, tlm::END_REQ);
      events_.notify(payload, tlm::BEGIN_RESP, latency_);
    } else if (next == tlm::BEGIN_RESP) {
      serve(payload);
      answered_.push_back(&payload);
      if (answered_.size() == 1) respond();
    } else {
      end_response();
      if (!answered_.empty()) respond();
    }
  }

  /// One response at a time: the next one waits for END_RESP.
  void respond() {
    while (!answered_.empty() && send(*answered_.front(), tlm::BEGIN_RESP) != tlm::TLM_ACCEPTED) end_response();
  }

  void end_response() {
    answered_.front()->release();
    answered_.pop_front();
  }

  tlm::tlm_sync_enum send(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_bw(payload, phase, delay);
  }

  void serve(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    const bool power_of_two = (length & (length - 1)) == 0;
    if (length > longest || !power_of_two || address % length != 0) {
      payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
      return;
    }
    if (address + length > bytes_.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    std::uint8_t* stored = bytes_.data() + address;
    if (payload.is_read()) {
      std::copy_n(stored, length, payload.get_data_ptr());
    } else {
      std::copy_n(payload.get_data_ptr(), length, stored);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<std::uint8_t>& bytes_;
  sc_core::sc_time accept_;
  sc_core::sc_time latency_;
  tlm_utils::peq_with_cb_and_phase<PipelinedMemory> events_;
  std::deque<tlm::tlm_generic_payload*> answered_;  // the front one is in its response phase
};

}  // namespace consumer
