// Requests by the instant at which something is due, in an order that nothing but configuration decides.
#pragma once

#include <cstdint>
#include <vector>

#include "models/protocol/target_port.h"

namespace kernwave {

/// A min-heap by (time, port id, arrival at that port): never by who called first within an instant.
class TimedQueue {
 public:
  struct Pending {
    Picoseconds at;
    TargetPort* port = nullptr;
    Payload* payload = nullptr;
  };

  void push(const Pending& pending);
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] bool due(Picoseconds time) const noexcept { return !heap_.empty() && heap_.front().pending.at <= time; }
  [[nodiscard]] Picoseconds next() const noexcept { return heap_.front().pending.at; }
  [[nodiscard]] Pending pop();

 private:
  struct Entry {
    Pending pending;
    std::int64_t sequence = 0;
  };
  [[nodiscard]] static bool later(const Entry& a, const Entry& b) noexcept;

  std::vector<Entry> heap_;
  std::int64_t pushed_ = 0;
};

}  // namespace kernwave
