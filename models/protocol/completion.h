// Completion records: how a program learns that an operation is done, long after its transaction is gone.
#pragma once

#include <cstdint>
#include <vector>

namespace kernwave {

/// Names one operation. Default constructed: an operation that is complete.
struct Completion {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< the operation's sequence number + 1, modulo 2^32

  friend constexpr bool operator==(Completion a, Completion b) noexcept {
    return a.slot == b.slot && a.generation == b.generation;
  }
};

/// Records of one PE's operations in flight. A slot is reused as soon as its operation completes; it then has another
/// generation or none, so that every holder of the old handle sees "complete".
class CompletionTable {
 public:
  CompletionTable() : generations_(1, 1) {}  // slot 0 stays unused: the default handle is complete

  /// For the operation of that number.
  [[nodiscard]] Completion open(std::int64_t sequence) {
    if (free_.empty()) {
      generations_.push_back(0);
      free_.reserve(generations_.size());
      free_.push_back(static_cast<std::uint32_t>(generations_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    ++open_;
    generations_[slot] = static_cast<std::uint32_t>(sequence + 1);
    return Completion{slot, generations_[slot]};
  }

  void complete(Completion completion) {
    generations_[completion.slot] = 0;
    free_.push_back(completion.slot);
    --open_;
  }

  [[nodiscard]] bool is_complete(Completion completion) const noexcept {
    return generations_[completion.slot] != completion.generation;
  }

  [[nodiscard]] std::size_t open_count() const noexcept { return open_; }

 private:
  std::vector<std::uint32_t> generations_;
  std::vector<std::uint32_t> free_;
  std::size_t open_ = 0;
};

}  // namespace kernwave
