// A queue of requests that are due at instants, in an order that does not depend on the order of their arrival.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/protocol/target_port.h"

namespace kernwave {

/// A min-heap by (time, port id, arrival): the order never depends on who called first within an instant. An Item has
/// members `at`, when it is due, and `port`, the TargetPort that it came by.
template <typename Item>
class ArbitrationQueue {
 public:
  void push(const Item& item) {
    heap_.push_back(Entry{item, pushed_++});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  [[nodiscard]] bool due(Picoseconds time) const noexcept { return !heap_.empty() && heap_.front().item.at <= time; }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] Picoseconds next() const noexcept { return heap_.front().item.at; }

  [[nodiscard]] Item pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Item first = heap_.back().item;
    heap_.pop_back();
    return first;
  }

 private:
  struct Entry {
    Item item;
    std::int64_t sequence = 0;
  };

  [[nodiscard]] static bool later(const Entry& a, const Entry& b) noexcept {
    if (a.item.at != b.item.at) return a.item.at > b.item.at;
    if (a.item.port->id() != b.item.port->id()) return a.item.port->id() > b.item.port->id();
    return a.sequence > b.sequence;
  }

  std::vector<Entry> heap_;
  std::int64_t pushed_ = 0;
};

}  // namespace kernwave
