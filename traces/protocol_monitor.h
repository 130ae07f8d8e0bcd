// The monitor of TLM-2.0 sockets: reports every violation of the base protocol.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/in_reverse.h"
#include "models/base/systemc.h"
#include "models/protocol/connector.h"

namespace kernwave::traces {

/// A monitor between an initiator and a target, which passes all calls on unchanged. Rules: IEEE 1666-2011, 15.2
/// (phases, exclusion, return values, timing order) and 14.5, 14.8 (memory management, attributes, response status).
class ProtocolMonitor : public sc_core::sc_module {
 public:
  ProtocolMonitor(const sc_core::sc_module_name& name, std::string link);

  [[nodiscard]] TargetSocket& from_initiator() noexcept { return from_initiator_; }
  [[nodiscard]] InitiatorSocket& to_target() noexcept { return to_target_; }

  /// One sentence each, with link, time and phase.
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  [[nodiscard]] std::int64_t transactions() const noexcept { return transactions_; }
  [[nodiscard]] std::size_t in_flight() const noexcept { return open_.size(); }

 private:
  enum class State : std::uint8_t { requested, accepted, responding };
  struct Open {
    State state = State::requested;
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    const unsigned char* data = nullptr;
    unsigned length = 0;
    Picoseconds last;  ///< phase so far
  };

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(Payload& payload, sc_core::sc_time& delay);
  unsigned debug(Payload& payload) { return to_target_->transport_dbg(payload); }
  bool direct_memory(Payload& payload, tlm::tlm_dmi& dmi) { return to_target_->get_direct_mem_ptr(payload, dmi); }
  void forget_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last) {
    from_initiator_->invalidate_direct_mem_ptr(first, last);
  }

  void see_begin_req(Payload& payload, Picoseconds at);
  void see_end_req(Payload& payload, Picoseconds at);
  void see_begin_resp(Payload& payload, Picoseconds at);
  void see_end_resp(Payload& payload, Picoseconds at);
  void see_completion(Payload& payload, Picoseconds at);
  void check_attributes(const Payload& payload, const Open& open);
  void check_time(Picoseconds at, Picoseconds& last, const char* path);
  void require(bool condition, const char* rule);

  tlm_utils::simple_target_socket<ProtocolMonitor> from_initiator_;
  tlm_utils::simple_initiator_socket<ProtocolMonitor> to_target_;
  std::string link_;
  std::unordered_map<const Payload*, Open> open_;  // looked up, never iterated
  const Payload* requesting_ = nullptr;
  const Payload* responding_ = nullptr;
  Picoseconds last_request_;
  Picoseconds last_response_;  // the end of the last one that took time
  std::int64_t transactions_ = 0;
  std::vector<std::string> violations_;
};

/// Binds every link through a monitor of its own.
class MonitoringConnector : public Connector {
 public:
  void connect(InitiatorSocket& initiator, TargetSocket& target, const std::string& name) override;

  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] std::int64_t transactions() const;
  [[nodiscard]] std::size_t in_flight() const;
  [[nodiscard]] std::size_t links() const noexcept { return monitors_.size(); }

 private:
  InReverse<ProtocolMonitor> monitors_;
};

}  // namespace kernwave::traces
