#include "models/protocol/timed_queue.h"

#include <algorithm>

namespace kernwave {

void TimedQueue::push(const Pending& pending) {
  heap_.push_back(Entry{pending, pushed_++});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

TimedQueue::Pending TimedQueue::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Pending first = heap_.back().pending;
  heap_.pop_back();
  return first;
}

bool TimedQueue::later(const Entry& a, const Entry& b) noexcept {
  if (a.pending.at != b.pending.at) return a.pending.at > b.pending.at;
  if (a.pending.port->id() != b.pending.port->id()) return a.pending.port->id() > b.pending.port->id();
  return a.sequence > b.sequence;
}

}  // namespace kernwave
