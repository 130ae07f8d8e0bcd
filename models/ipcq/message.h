// What travels on a link: messages with data, and what gives a sender its credits back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/base/systemc.h"

namespace kernwave {

/// Addresses on a link's socket. A message is a WRITE to (number of its slot) x (bytes of a slot); the others are
/// WRITEs of one byte that carry nothing but their address.
enum class LinkAddress : std::uint64_t {
  slots = 0,
  window_return = std::uint64_t{1} << 48,  ///< one message less is sent and not yet received
  credit_return,                           ///< one more slot is free
  queue_state,                             ///< transport_dbg READ: a QueueState
};

[[nodiscard]] constexpr bool carries_data(std::uint64_t address) noexcept {
  return address < static_cast<std::uint64_t>(LinkAddress::window_return);
}

/// What the receiving end of a link offers; read without time before the first message is sent.
struct QueueState {
  std::int64_t slots = 0;  ///< 0: nobody receives here
  std::int64_t slot_bytes = 0;
};

/// A payload of a link, with room for its data in mode `full`.
class Message : public Payload {
 public:
  explicit Message(tlm::tlm_mm_interface* memory_manager) : Payload(memory_manager) {}

  /// Room for `length` bytes.
  [[nodiscard]] std::uint8_t* buffer(Bytes length);

  Payload* command = nullptr;  ///< the send that this message carries out; none of a returned credit

 private:
  std::vector<std::uint8_t> buffer_;
};

/// Owns messages and lends them out; grows to the largest number ever in flight and stays there.
class MessagePool : public tlm::tlm_mm_interface {
 public:
  /// A WRITE of `length` bytes at `data`, ready for BEGIN_REQ.
  [[nodiscard]] Message& acquire(std::uint64_t address, Bytes length);
  [[nodiscard]] std::size_t in_use() const noexcept { return messages_.size() - free_.size(); }

 private:
  void free(Payload* payload) override;

  std::vector<std::unique_ptr<Message>> messages_;
  std::vector<Message*> free_;
};

}  // namespace kernwave
