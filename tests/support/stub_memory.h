// A memory that is not ours: it answers in whichever legal way a test wants.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/ring_queue.h"
#include "models/base/systemc.h"
#include "tests/support/agenda.h"

namespace kernwave::testing {

/// The legal answers to BEGIN_REQ at t, with A the time to accept, L the latency and D < L the annotated delay.
enum class AnswerStyle : std::uint8_t {
  end_req_later,           ///< ACCEPTED; END_REQ by the backward path at t + A, BEGIN_RESP at t + A + L
  end_req_announced,       ///< the same, with END_REQ said at t with a delay of A
  end_req_annotated,       ///< UPDATED, END_REQ at t + A; BEGIN_RESP by the backward path at t + A + L
  response_at_once,        ///< UPDATED, BEGIN_RESP at t
  response_annotated,      ///< UPDATED, BEGIN_RESP at t + L
  completed_at_once,       ///< COMPLETED at t
  completed_annotated,     ///< COMPLETED at t + L
  response_ends_request,   ///< ACCEPTED; BEGIN_RESP without END_REQ at t + L
  late_annotation,         ///< the same, said at t + L - D with a delay of D
  responses_annotated,     ///< UPDATED, END_REQ at t; BEGIN_RESP said at t + L - D at the earliest, with a delay of D
  responses_out_of_order,  ///< UPDATED, END_REQ at t; of a batch of B requests the k-th is answered at t + L + (B - k)
                           ///< D
  never,                   ///< UPDATED, END_REQ at t; no response
};

struct StubTiming {
  Picoseconds accept{1'000};      ///< A
  Picoseconds latency{60'000};    ///< L
  Picoseconds annotation{1'000};  ///< D
  std::int64_t batch = 8;         ///< B
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  bool any_length = false;  ///< not only those that StubMemory names
};

/// Bytes behind two target sockets. It takes lengths that are powers of two up to 64, naturally aligned; anything else
/// is a burst error, unless `any_length` is set. It does not look at the cube in an address.
class StubMemory : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t longest_burst = 64;

  StubMemory(const sc_core::sc_module_name& name, AnswerStyle style, const StubTiming& timing = {},
             std::size_t capacity = 1 << 16);

  [[nodiscard]] TargetSocket& read_socket() noexcept { return ports_[0]->socket; }
  [[nodiscard]] TargetSocket& write_socket() noexcept { return ports_[1]->socket; }
  [[nodiscard]] std::vector<std::uint8_t>& bytes() noexcept { return bytes_; }

 private:
  struct Port {
    Port(const char* name, StubMemory& owner);
    tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void respond(Payload& payload);
    void send_responses();
    void send_end_req(Payload& payload, Picoseconds later);

    StubMemory& memory;
    tlm_utils::simple_target_socket<Port> socket;
    RingQueue<Payload*> responses;
    bool awaiting_end_resp = false;
    std::int64_t requests = 0;
  };

  void serve(Payload& payload);

  AnswerStyle style_;
  StubTiming timing_;
  std::vector<std::uint8_t> bytes_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace kernwave::testing
