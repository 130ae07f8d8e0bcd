// A pool of payloads, which return by themselves when their last user releases them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/systemc.h"

namespace kernwave {

/// Owns payloads of type T, made from a memory manager, and lends them out; a payload returns when its last reference
/// is released. The pool grows to the largest number of payloads ever in flight and keeps them.
template <typename T>
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  /// A free payload, in the state in which its last user left it.
  [[nodiscard]] T& acquire() {
    if (free_.empty()) {
      payloads_.push_back(std::make_unique<T>(this));
      free_.reserve(payloads_.size());
      free_.push_back(payloads_.back().get());
    }
    T& payload = *free_.back();
    free_.pop_back();
    return payload;
  }

  /// A lent payload that satisfies the condition, or nullptr.
  template <typename Condition>
  [[nodiscard]] const T* find_lent(Condition condition) const {
    for (const auto& payload : payloads_) {
      const bool lent = std::find(free_.begin(), free_.end(), payload.get()) == free_.end();
      if (lent && condition(*payload)) return payload.get();
    }
    return nullptr;
  }

  [[nodiscard]] std::size_t size() const noexcept { return payloads_.size(); }
  [[nodiscard]] std::size_t in_use() const noexcept { return payloads_.size() - free_.size(); }

 private:
  void free(Payload* payload) override { free_.push_back(static_cast<T*>(payload)); }

  std::vector<std::unique_ptr<T>> payloads_;
  std::vector<T*> free_;
};

/// A payload with room for its data in mode `full`.
class BufferedPayload : public Payload {
 public:
  using Payload::Payload;

  /// Room for `length` bytes.
  [[nodiscard]] std::uint8_t* buffer(Bytes length) {
    const auto size = static_cast<std::size_t>(length.count());
    if (buffer_.size() < size) buffer_.resize(size);
    return buffer_.data();
  }

 private:
  std::vector<std::uint8_t> buffer_;
};

/// Makes a payload ready for BEGIN_REQ: no byte enables, no direct memory, no streaming, its response incomplete.
inline void prepare(Payload& payload, tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                    std::size_t length) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<unsigned>(length));
  payload.set_streaming_width(static_cast<unsigned>(length));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace kernwave
