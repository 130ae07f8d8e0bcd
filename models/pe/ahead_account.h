// A sum of values, some of which lie ahead of simulated time and count only when simulated time reaches them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave {

/// A Sum of Values (Sum += Value) each of which counts from its own instant on: in a run that ends early, no value
/// after the end counts.
template <typename Sum, typename Value = Sum>
class AheadAccount {
 public:
  void add(Picoseconds at, Picoseconds now, const Value& value) {
    if (!ahead_.empty() && ahead_.back().at <= now) settle();
    if (at <= now) {
      settled_ += value;
    } else if (ahead_.empty() || ahead_.back().at <= at) {
      ahead_.push_back({at, value});
    } else {
      insert({at, value});
    }
  }

  /// The sum of the values that count at `now`.
  [[nodiscard]] Sum at(Picoseconds now) const {
    Sum sum = settled_;
    for (const Entry& entry : ahead_) {
      if (entry.at <= now) sum += entry.value;
    }
    return sum;
  }

  /// Removes all values after `now`, which will not happen. Returns the first of them.
  std::optional<Value> cut(Picoseconds now) {
    const auto first = std::find_if(ahead_.begin(), ahead_.end(), [now](const Entry& entry) { return entry.at > now; });
    const std::optional<Value> lost = first == ahead_.end() ? std::nullopt : std::optional<Value>(first->value);
    ahead_.erase(first, ahead_.end());
    settle();
    return lost;
  }

  /// The number of values that do not count yet.
  [[nodiscard]] std::size_t ahead() const noexcept { return ahead_.size(); }

 private:
  struct Entry {
    Picoseconds at;
    Value value;
  };

  void insert(const Entry& entry) {
    const auto later = [](const Entry& a, const Entry& b) { return a.at < b.at; };
    ahead_.insert(std::upper_bound(ahead_.begin(), ahead_.end(), entry, later), entry);
  }

  /// All values count now.
  void settle() {
    for (const Entry& entry : ahead_) settled_ += entry.value;
    ahead_.clear();
  }

  Sum settled_{};
  std::vector<Entry> ahead_;
};

}  // namespace kernwave
