// Completion records, by which a program learns the end of an operation even after its transaction is reused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave {

/// Names one operation. Default constructed: an operation that is complete.
struct Completion {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< the operation's sequence number + 1, modulo 2^32

  friend constexpr bool operator==(Completion a, Completion b) noexcept {
    return a.slot == b.slot && a.generation == b.generation;
  }
};

/// Records of one PE's operations in flight, and of those whose end is known ahead of time. A slot is reused when its
/// operation has completed; it then has another generation or none, so that every holder of the old handle sees
/// "complete".
class CompletionTable {
 public:
  CompletionTable() : records_(1, {1, Picoseconds(0)}) {}  // slot 0 stays unused: the default handle is complete

  /// Opens a record for the operation of that number.
  [[nodiscard]] Completion open(std::int64_t sequence) {
    if (free_.empty()) {
      records_.emplace_back();
      free_.reserve(records_.size());
      free_.push_back(static_cast<std::uint32_t>(records_.size() - 1));
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    ++open_;
    records_[slot] = {static_cast<std::uint32_t>(sequence + 1), unknown};
    return Completion{slot, records_[slot].generation};
  }

  /// The operation is complete at `end`, now or later.
  void complete(Completion completion, Picoseconds end) {
    records_[completion.slot].end = end;
    ending_.push_back(completion.slot);
    last_end_ = std::max(last_end_, end);
    --open_;
  }

  /// Frees the slots of those that are complete at that instant, which never descends. Does so only when slots run out.
  void forget_complete(Picoseconds at) {
    if (!free_.empty() || records_.size() < least_records) return;
    const auto complete = [this, at](std::uint32_t slot) {
      if (records_[slot].end > at) return false;
      records_[slot].generation = 0;
      free_.push_back(slot);
      return true;
    };
    ending_.erase(std::remove_if(ending_.begin(), ending_.end(), complete), ending_.end());
  }

  [[nodiscard]] bool is_complete(Completion completion, Picoseconds at) const noexcept {
    const Record& record = records_[completion.slot];
    return record.generation != completion.generation || record.end <= at;
  }
  /// Whether the operation is complete, or will be complete at `end_of`.
  [[nodiscard]] bool has_known_end(Completion completion) const noexcept {
    const Record& record = records_[completion.slot];
    return record.generation != completion.generation || record.end != unknown;
  }
  /// The instant at which the operation will be complete; 0 if it is complete.
  [[nodiscard]] Picoseconds end_of(Completion completion) const noexcept {
    const Record& record = records_[completion.slot];
    return record.generation == completion.generation ? record.end : Picoseconds(0);
  }
  /// The latest end that was known ahead.
  [[nodiscard]] Picoseconds last_end() const noexcept { return last_end_; }

  /// Operations whose end is not known.
  [[nodiscard]] std::size_t open_count() const noexcept { return open_; }
  /// Operations that are not complete at that instant.
  [[nodiscard]] std::size_t in_flight(Picoseconds at) const noexcept {
    std::size_t ending = 0;
    for (const std::uint32_t slot : ending_) ending += records_[slot].end > at ? 1 : 0;
    return open_ + ending;
  }

 private:
  static constexpr std::size_t least_records = 32;  // so that many are freed by one search
  static constexpr Picoseconds unknown{std::numeric_limits<std::int64_t>::max()};

  struct Record {
    std::uint32_t generation = 0;
    Picoseconds end;  ///< or `unknown`
  };

  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> ending_;  // slots of those whose end is known
  Picoseconds last_end_;
  std::size_t open_ = 0;
};

}  // namespace kernwave
