#include "tests/bench/bare_at.h"

#include <tlm_utils/peq_with_cb_and_phase.h>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "models/base/systemc.h"

namespace kernwave::bench {

namespace {

class Initiator : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  Initiator(const sc_core::sc_module_name& name, std::int64_t round_trips)
      : sc_module(name), socket("socket"), round_trips_(round_trips), payload_(this) {
    socket.register_nb_transport_bw(this, &Initiator::nb_transport_bw);
    KERNWAVE_HAS_PROCESS(Initiator);
    SC_THREAD(run);
  }

  tlm_utils::simple_initiator_socket<Initiator> socket;

 private:
  void free(Payload* /*payload*/) override {}

  tlm::tlm_sync_enum nb_transport_bw(Payload& /*payload*/, tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    done_ = true;
    wake_.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_COMPLETED;
  }

  void run() {
    for (std::int64_t i = 0; i < round_trips_; ++i) round_trip();
  }

  void round_trip() {
    payload_.acquire();
    payload_.set_read();
    payload_.set_data_ptr(data_.data());
    payload_.set_data_length(static_cast<unsigned>(data_.size()));
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    done_ = false;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(payload_, phase, delay);
    while (!done_) wait(wake_);
    payload_.release();
  }

  std::int64_t round_trips_;
  Payload payload_;
  std::array<unsigned char, 4> data_{};
  bool done_ = false;
  sc_core::sc_event wake_;
};

class Target : public sc_core::sc_module {
 public:
  explicit Target(const sc_core::sc_module_name& name)
      : sc_module(name), socket("socket"), queue_(this, &Target::answer), latency_(to_sc_time(Picoseconds(10'000))) {
    socket.register_nb_transport_fw(this, &Target::nb_transport_fw);
  }

  tlm_utils::simple_target_socket<Target> socket;

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& /*delay*/) {
    payload.acquire();
    queue_.notify(payload, tlm::BEGIN_RESP, latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void answer(Payload& payload, const tlm::tlm_phase& /*phase*/) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
    payload.release();
  }

  tlm_utils::peq_with_cb_and_phase<Target> queue_;
  sc_core::sc_time latency_;
};

}  // namespace

double bare_at_nanoseconds(std::int64_t pairs, std::int64_t round_trips) {
  const std::int64_t each = round_trips / pairs;
  std::vector<std::unique_ptr<Initiator>> initiators;
  std::vector<std::unique_ptr<Target>> targets;
  for (std::int64_t i = 0; i < pairs; ++i) {
    initiators.push_back(std::make_unique<Initiator>(sc_core::sc_gen_unique_name("initiator"), each));
    targets.push_back(std::make_unique<Target>(sc_core::sc_gen_unique_name("target")));
    initiators.back()->socket.bind(targets.back()->socket);
  }
  const auto begin = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / static_cast<double>(each * pairs);
}

}  // namespace kernwave::bench
