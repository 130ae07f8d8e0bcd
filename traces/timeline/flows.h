// The arrows of a timeline: from a load to its first use, and from a send to its receive.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/address.h"
#include "models/base/direction.h"
#include "models/protocol/completion.h"

namespace kernwave::traces {

/// The flows of a submitted operation; ids are unique in a run.
struct OperationFlows {
  static constexpr std::size_t capacity = 8;  // of a composite 6: two factors, the sum it adds to, three steps

  std::array<std::uint64_t, capacity> ids{};  ///< the one that starts with the operation, then those that end with it
  std::uint8_t count = 0;
  bool starts = false;
};

/// Of one PE: follows its loads to their first uses. Keeps the loads whose use has not come, unless it comes more than
/// 16,384 operations later.
class LoadFlows {
 public:
  /// The next operation, with sequence number `next`, reads the result of `on`.
  void depends(PeId pe, Completion on, std::int64_t next) {
    if (on.generation == 0 || unused_.empty()) return;
    std::uint32_t& unused = unused_[on.generation % unused_.size()];
    if (unused != on.generation) return;
    unused = 0;
    if (used_.count < used_.ids.size()) used_.ids[used_.count++] = id(pe, sequence_of(on, next));
  }
  /// The operation that has been depended for.
  [[nodiscard]] OperationFlows submitted(const OperationId& operation, Completion completion, bool is_load);

  /// Of the operation of that completion, one of the last 2^32 before `next`.
  [[nodiscard]] static std::int64_t sequence_of(Completion completion, std::int64_t next) noexcept {
    return next - static_cast<std::uint32_t>(static_cast<std::uint32_t>(next) + 1 - completion.generation);
  }

 private:
  static constexpr std::size_t remembered = 16384;

  [[nodiscard]] static std::uint64_t id(PeId pe, std::int64_t sequence) noexcept {
    return static_cast<std::uint64_t>(pe.count() + 1) << 40U | static_cast<std::uint64_t>(sequence);
  }

  std::vector<std::uint32_t> unused_;  // generations of loads; 0: none
  OperationFlows used_;
};

/// Of the messages that one PE receives from one side: the n-th that is sent is the n-th that is received.
[[nodiscard]] constexpr std::uint64_t message_flow(PeId receiver, Direction from, std::int64_t number) noexcept {
  return std::uint64_t{1} << 63U | static_cast<std::uint64_t>(receiver.count()) << 42U |
         static_cast<std::uint64_t>(from) << 40U | static_cast<std::uint64_t>(number);
}

}  // namespace kernwave::traces
