// The allocator of scratch: which buffer holds which bytes, and which operations still use them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/tl/shape.h"
#include "kernels/tl/tensor.h"
#include "models/base/address.h"
#include "models/base/direction.h"
#include "models/pe/stall_account.h"
#include "models/protocol/completion.h"

namespace kernwave::tl {

/// The reason why a buffer exists, for messages. `operation` points at a string that is never freed.
struct BufferOrigin {
  const char* operation = "";
  SourceLocation where;
  Shape shape;
  DType dtype = DType::f32;
};

/// A bump allocator with scopes. Addresses are a function of the order of allocations and scopes alone. Operations in
/// flight decide when an allocation may proceed, never its address or whether it fits.
class ScratchArena {
 public:
  /// The slot of a received message.
  struct Slot {
    Direction direction = Direction::north;
    std::int64_t message = 0;
  };
  struct Buffer {
    std::uint32_t generation = 1;
    ScratchAddress address;
    Bytes size;
    Completion writer;                ///< the last operation that writes it
    std::vector<Completion> readers;  ///< since that write; complete ones stay until the next reader is added
    TimeCause writer_cause = TimeCause::compute;
    bool is_slot = false;  ///< of a queue: `slot` says which
    BufferOrigin origin;
    Slot slot;
    std::int64_t tiles_staged = 0;  ///< of a staging area: tiles that composites pass through it
  };

  explicit ScratchArena(Bytes capacity) : capacity_(capacity) {}

  /// Whether `size` more bytes fit.
  [[nodiscard]] bool fits(Bytes size) const noexcept { return top_ + align_up(size, scratch_alignment) <= capacity_; }
  [[nodiscard]] BufferId allocate(Bytes size, const BufferOrigin& origin);
  /// The bytes of a received message, which lie outside the arena, as a buffer of the current scope.
  [[nodiscard]] BufferId adopt(const Slot& slot, ScratchAddress address, Bytes size, const BufferOrigin& origin);
  [[nodiscard]] Bytes top() const noexcept { return top_; }
  [[nodiscard]] Bytes capacity() const noexcept { return capacity_; }

  [[nodiscard]] bool alive(BufferId id) const noexcept { return buffers_[id.slot].generation == id.generation; }
  [[nodiscard]] Buffer& buffer(BufferId id) noexcept { return buffers_[id.slot]; }

  void enter_scope() { scopes_.push_back(Scope{live_.size(), top_}); }
  /// Frees the buffers of the innermost scope at once. Their operations in flight keep the bytes until they complete.
  /// Calls `release(slot, users)` for each slot of a queue, with the operations in flight that use the slot.
  template <typename IsComplete, typename Release>
  void leave_scope(IsComplete is_complete, Release release);

  /// An operation in flight that still uses bytes in [address, address + size) of freed buffers, or a complete one.
  /// Ask again after waiting for it.
  template <typename IsComplete>
  [[nodiscard]] Completion user_of(ScratchAddress address, Bytes size, IsComplete is_complete);

  /// "131072 B for load 512x128 f16 (decode.cpp:33), ...": the largest holders first.
  [[nodiscard]] std::string holders() const;

 private:
  [[nodiscard]] BufferId make(ScratchAddress address, Bytes size, const BufferOrigin& origin);

  struct Scope {
    std::size_t live = 0;
    Bytes top;
  };
  /// Bytes of a freed buffer that an operation in flight still uses.
  struct Retired {
    ScratchAddress begin;
    ScratchAddress end;
    Completion user;
  };

  Bytes capacity_;
  Bytes top_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> live_;  // numbers in order of allocation
  std::vector<Scope> scopes_;
  std::vector<Retired> retired_;
  std::vector<Completion> users_;  // work space of `leave_scope`
};

template <typename IsComplete, typename Release>
void ScratchArena::leave_scope(IsComplete is_complete, Release release) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  while (live_.size() > scope.live) {
    const std::uint32_t number = live_.back();
    live_.pop_back();
    Buffer& buffer = buffers_[number];
    const ScratchAddress end(buffer.address.count() + buffer.size.count());
    users_.clear();
    if (!is_complete(buffer.writer)) users_.push_back(buffer.writer);
    for (const Completion reader : buffer.readers) {
      if (!is_complete(reader)) users_.push_back(reader);
    }
    if (buffer.is_slot) {
      release(buffer.slot, users_);
    } else {
      for (const Completion user : users_) retired_.push_back({buffer.address, end, user});
    }
    buffer.readers.clear();
    ++buffer.generation;
    free_slots_.push_back(number);
  }
  top_ = scope.top;
}

template <typename IsComplete>
Completion ScratchArena::user_of(ScratchAddress address, Bytes size, IsComplete is_complete) {
  const ScratchAddress end(address.count() + size.count());
  Completion found;
  std::size_t kept = 0;
  for (const Retired& retired : retired_) {
    if (is_complete(retired.user)) continue;
    retired_[kept++] = retired;
    if (found == Completion{} && retired.begin < end && address < retired.end) found = retired.user;
  }
  retired_.resize(kept);
  return found;
}

}  // namespace kernwave::tl
