#include "tests/support/at_initiator.h"

#include <algorithm>
#include <utility>

namespace kernwave::testing {

AtInitiator::AtInitiator(const sc_core::sc_module_name& name, EndResponse style, Picoseconds end_response_delay)
    : sc_module(name), socket_("socket"), style_(style), end_response_delay_(end_response_delay) {
  socket_.register_nb_transport_bw(this, &AtInitiator::backward);
  KERNWAVE_HAS_PROCESS(AtInitiator);
  SC_THREAD(run);
}

AtInitiator::Transaction& AtInitiator::read(Picoseconds at, HbmAddress address, Bytes length) {
  return post(at, tlm::TLM_READ_COMMAND, address, std::vector<std::uint8_t>(static_cast<std::size_t>(length.count())));
}

AtInitiator::Transaction& AtInitiator::write(Picoseconds at, HbmAddress address, std::vector<std::uint8_t> data) {
  return post(at, tlm::TLM_WRITE_COMMAND, address, std::move(data));
}

AtInitiator::Transaction& AtInitiator::post(Picoseconds at, tlm::tlm_command command, HbmAddress address,
                                            std::vector<std::uint8_t> data) {
  transactions_.push_back(std::make_unique<Transaction>(this));
  Transaction& transaction = *transactions_.back();
  transaction.at = at;
  transaction.data = std::move(data);
  Payload& payload = transaction.payload;
  payload.set_command(command);
  payload.set_address(address.value());
  payload.set_data_ptr(transaction.data.data());
  payload.set_data_length(static_cast<unsigned>(transaction.data.size()));
  payload.set_streaming_width(payload.get_data_length());
  return transaction;
}

void AtInitiator::free(Payload* /*payload*/) { --in_use_; }

void AtInitiator::run() {
  for (const auto& transaction : transactions_) {
    if (transaction->at > now()) wait(to_sc_time(transaction->at - now()));
    while (requesting_ != nullptr) wait(request_ended_);
    if (request_free_at_ > now()) wait(to_sc_time(request_free_at_ - now()));
    send(*transaction);
  }
}

void AtInitiator::send(Transaction& transaction) {
  requesting_ = &transaction;
  ++in_use_;
  transaction.payload.acquire();
  transaction.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(transaction.annotated);
  const tlm::tlm_sync_enum status = socket_->nb_transport_fw(transaction.payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  const Picoseconds at = now() + to_picoseconds(delay);
  end_request(at);
  if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) return;
  note_response(transaction.payload, at);
  if (status == tlm::TLM_COMPLETED) {
    transaction.payload.release();
  } else {
    agenda_.at(at + end_response_delay_, [this, &transaction] { send_end_response(transaction.payload); });
  }
}

tlm::tlm_sync_enum AtInitiator::backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Picoseconds at = now() + to_picoseconds(delay);
  if (requesting_ != nullptr && &requesting_->payload == &payload) end_request(at);
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  note_response(payload, at);
  if (style_ == EndResponse::accepted) {
    agenda_.at(at + end_response_delay_, [this, &payload] { send_end_response(payload); });
    return tlm::TLM_ACCEPTED;
  }
  payload.release();
  delay += to_sc_time(end_response_delay_);
  if (style_ == EndResponse::completed) return tlm::TLM_COMPLETED;
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

void AtInitiator::end_request(Picoseconds at) {
  requesting_->end_request = at;
  requesting_ = nullptr;
  request_free_at_ = at;
  request_ended_.notify(sc_core::SC_ZERO_TIME);
}

void AtInitiator::note_response(Payload& payload, Picoseconds at) {
  const auto transaction = std::find_if(transactions_.begin(), transactions_.end(),
                                        [&payload](const auto& posted) { return &posted->payload == &payload; });
  (*transaction)->response = at;
}

void AtInitiator::send_end_response(Payload& payload) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket_->nb_transport_fw(payload, phase, delay);
  payload.release();
}

}  // namespace kernwave::testing
