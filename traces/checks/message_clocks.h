// The order of events on different PEs that messages make, as vector clocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/pe/pe_observer.h"

namespace kernwave::traces {

/// Vector clocks. An epoch of a PE ends with each message that it sends: a send waits for all earlier accesses of its
/// PE, under every policy, so all that a receiver does after the receive is ordered after the epoch. A message is
/// received when `recv` returns, or when the program has waited for the tensor of a `recv_async`.
class MessageClocks {
 public:
  explicit MessageClocks(std::int64_t pes);

  [[nodiscard]] std::int64_t epoch(PeId pe) const { return clock(pe)[index(pe)]; }
  /// Whether the accesses of `before` in `epoch` are ordered before all later accesses of `after`.
  [[nodiscard]] bool is_ordered(PeId before, std::int64_t epoch, PeId after) const {
    return epoch <= clock(after)[index(before)];
  }

  /// A send or a receive is issued.
  void submitted(const IssuedOperation& message);
  /// A message has landed.
  void landed(PeId receiver, Direction from) { ++queue(receiver, from).landed; }
  /// What the PE has sent and not brought on its way is lost, and what it has not received.
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours);
  /// A program has waited for an operation of its own.
  void waited(PeId pe, Completion on);

 private:
  using Clock = std::vector<std::int64_t>;  // by PE: its epochs up to here are known to be over

  /// Of a receiver: what came, and what was asked for, from one direction.
  struct Queue {
    std::deque<Clock> sent;           // by message, from number `first` on
    std::deque<Completion> receives;  // likewise
    std::int64_t first_sent = 0;
    std::int64_t first_receive = 0;
    std::int64_t landed = 0;
  };

  [[nodiscard]] static std::size_t index(PeId pe) noexcept { return static_cast<std::size_t>(pe.count()); }
  [[nodiscard]] const Clock& clock(PeId pe) const { return clocks_[index(pe)]; }
  [[nodiscard]] Queue& queue(PeId receiver, Direction from) {
    return queues_[index(receiver)][static_cast<std::size_t>(from)];
  }
  void join(PeId receiver, Queue& queue, std::int64_t message);

  std::vector<Clock> clocks_;
  std::vector<std::array<Queue, direction_count>> queues_;
};

}  // namespace kernwave::traces
