// A memory in the loosely-timed style: one b_transport function, and nothing else.
#pragma once

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace consumer {

/// Every access takes `latency`. The library's socket turns the non-blocking requests of a PE into blocking calls, one
/// at a time: the request phase ends with the response.
class BlockingMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<BlockingMemory> read_socket;
  tlm_utils::simple_target_socket<BlockingMemory> write_socket;

  BlockingMemory(const sc_core::sc_module_name& name, std::size_t capacity, const sc_core::sc_time& latency)
      : sc_module(name), read_socket("read"), write_socket("write"), bytes_(capacity), latency_(latency) {
    read_socket.register_b_transport(this, &BlockingMemory::b_transport);
    write_socket.register_b_transport(this, &BlockingMemory::b_transport);
  }

  [[nodiscard]] std::uint8_t* bytes() { return bytes_.data(); }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
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
    delay += latency_;
  }

  std::vector<std::uint8_t> bytes_;
  sc_core::sc_time latency_;
};

}  // namespace consumer
