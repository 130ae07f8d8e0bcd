// A first-in first-out queue in one block of memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace kernwave {

/// First in, first out, with access by position. Grows to the largest size it ever had and then never allocates; unlike
/// std::deque it does not wander through memory, which matters with many processing elements in one cache.
template <typename T>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& front() noexcept { return slots_[head_]; }
  [[nodiscard]] const T& front() const noexcept { return slots_[head_]; }
  [[nodiscard]] T& operator[](std::size_t position) noexcept { return slots_[(head_ + position) & mask()]; }

  [[nodiscard]] const T& operator[](std::size_t position) const noexcept { return slots_[(head_ + position) & mask()]; }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[(head_ + size_) & mask()] = std::move(value);
    ++size_;
  }

  void pop_front() noexcept {
    head_ = (head_ + 1) & mask();
    --size_;
  }

 private:
  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }

  void grow() {
    std::vector<T> larger(slots_.empty() ? 4 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_.swap(larger);
    head_ = 0;
  }

  std::vector<T> slots_;  // a power of two, or none yet
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kernwave
