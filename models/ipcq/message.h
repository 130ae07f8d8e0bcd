// Messages on the links between PEs, and the WRITEs that return credits and places in the window.
#pragma once

#include <cstdint>

#include "models/base/direction.h"
#include "models/protocol/payload_pool.h"

namespace kernwave {

/// Addresses on a link's socket. A message is a WRITE to (number of its slot) x (bytes of a slot). A returned credit or
/// place in the window is a WRITE of one byte, of which only the address counts.
enum class LinkAddress : std::uint64_t {
  window_return = std::uint64_t{1} << 48,  ///< one message less is sent and not yet received
  credit_return,                           ///< one more slot is free
  queue_state,                             ///< transport_dbg READ: a QueueState
};

[[nodiscard]] constexpr bool carries_data(std::uint64_t address) noexcept {
  return address < static_cast<std::uint64_t>(LinkAddress::window_return);
}

/// The slots that the receiving end of a link offers; read in zero time before the first message is sent.
struct QueueState {
  std::int64_t slots = 0;  ///< 0: this end does not receive
  std::int64_t slot_bytes = 0;
};

/// A payload of a link.
class Message : public BufferedPayload {
 public:
  using BufferedPayload::BufferedPayload;

  Payload* command = nullptr;              ///< the send that this message carries out; none of a returned credit
  Direction direction = Direction::north;  ///< over whose link it leaves
};

using MessagePool = PayloadPool<Message>;

}  // namespace kernwave
