// An initiator that sends what a test posts and notes when each phase took effect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/base/address.h"
#include "models/base/systemc.h"
#include "tests/support/agenda.h"

namespace kernwave::testing {

/// The legal ways of acknowledging a response.
enum class EndResponse : std::uint8_t {
  completed,  ///< TLM_COMPLETED, the delay annotated
  updated,    ///< TLM_UPDATED with END_RESP, the delay annotated
  accepted,   ///< TLM_ACCEPTED, and END_RESP by the forward path after the delay
};

/// Sends requests in the order in which they were posted, each at its instant or when the request phase of the one
/// before it ends, whichever is later. Post before the simulation starts.
class AtInitiator : public sc_core::sc_module, public tlm::tlm_mm_interface {
 public:
  struct Transaction {
    explicit Transaction(tlm::tlm_mm_interface* memory_manager) : payload(memory_manager) {}

    Picoseconds at;         ///< of the call
    Picoseconds annotated;  ///< BEGIN_REQ takes effect that much later
    Payload payload;
    std::vector<std::uint8_t> data;
    std::optional<Picoseconds> end_request;
    std::optional<Picoseconds> response;
    [[nodiscard]] tlm::tlm_response_status status() const { return payload.get_response_status(); }
  };

  explicit AtInitiator(const sc_core::sc_module_name& name, EndResponse style = EndResponse::completed,
                       Picoseconds end_response_delay = Picoseconds(0));

  [[nodiscard]] InitiatorSocket& socket() noexcept { return socket_; }

  Transaction& read(Picoseconds at, HbmAddress address, Bytes length);
  Transaction& write(Picoseconds at, HbmAddress address, std::vector<std::uint8_t> data);

  void free(Payload* payload) override;
  /// Payloads that somebody still holds.
  [[nodiscard]] std::int64_t in_use() const noexcept { return in_use_; }

 private:
  Transaction& post(Picoseconds at, tlm::tlm_command command, HbmAddress address, std::vector<std::uint8_t> data);
  void run();
  void send(Transaction& transaction);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void end_request(Picoseconds at);
  void note_response(Payload& payload, Picoseconds at);
  void send_end_response(Payload& payload);

  tlm_utils::simple_initiator_socket<AtInitiator> socket_;
  EndResponse style_;
  Picoseconds end_response_delay_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Transaction>> transactions_;
  Transaction* requesting_ = nullptr;
  Picoseconds request_free_at_;
  sc_core::sc_event request_ended_;
  std::int64_t in_use_ = 0;
};

}  // namespace kernwave::testing
