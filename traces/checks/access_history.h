// The history of accesses to a memory with which a later access could still collide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "models/base/address.h"
#include "traces/checks/footprint.h"

namespace kernwave::traces {

/// The accesses of one PE to some bytes in one epoch.
struct Access {
  PeId pe;
  std::int64_t epoch = 0;
  std::uint32_t site = 0;  ///< names the operation for messages
  bool writes = false;
};

/// A total order of accesses, for use in sorted containers.
[[nodiscard]] bool operator<(const Access& a, const Access& b) noexcept;

/// Intervals of bytes with the same accesses, in order, page by page. Neighbouring intervals with the same accesses are
/// merged. An access is removed as soon as every access that collides with it must also collide with a later one. So
/// the memory of the history depends on how finely the bytes are shared, not on how often they are used.
class AccessHistory {
 public:
  AccessHistory();

  /// Adds an access to a region of this memory. `is_ordered(earlier)` tells whether an access of another PE is ordered
  /// before this one. `collide(earlier, begin, end)` is called for each access that is not, if one of the two writes,
  /// with the bytes that both use.
  template <typename IsOrdered, typename Collide>
  void add(const HbmRegion& region, const Access& access, IsOrdered is_ordered, Collide collide) {
    steps_.clear();
    const auto after = [&](List list, std::int64_t begin, std::int64_t end) {
      for (const Step& step : steps_) {
        if (step.from == list) return step.to;
      }
      for (const Access& earlier : lists_[list]) {
        const bool collides = earlier.pe != access.pe && (earlier.writes || access.writes) && !is_ordered(earlier);
        if (collides) collide(earlier, begin, end);
      }
      steps_.push_back({list, with(list, access, is_ordered)});
      return steps_.back().to;
    };
    for_each_interval(region, [&](std::int64_t begin, std::int64_t count) {
      for (const std::int64_t end = begin + count; begin < end;) {
        const std::int64_t until = std::min(end, (begin / page_size + 1) * page_size);
        use(page_of(begin), begin, until, after);
        begin = until;
      }
    });
  }

  [[nodiscard]] std::size_t intervals() const noexcept;

 private:
  using List = std::uint32_t;  ///< names a set of accesses; 0 is the empty one
  struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    List list = 0;
  };
  using Page = std::vector<Interval>;  // in order
  /// The accesses of an interval after those of the new operation are added.
  struct Step {
    List from = 0;
    List to = 0;
  };

  static constexpr std::int64_t page_size = std::int64_t{16} * 1024;

  [[nodiscard]] Page& page_of(std::int64_t byte);
  [[nodiscard]] List list_of(std::vector<Access> accesses);

  /// An earlier access that is ordered before the new one is no longer needed, unless it writes and the new one does
  /// not: whatever is ordered after the new access is also ordered after the earlier one.
  template <typename IsOrdered>
  [[nodiscard]] List with(List list, const Access& access, IsOrdered is_ordered) {
    std::vector<Access> accesses = lists_[list];
    const auto covered = [&](const Access& earlier) {
      const bool at_least = access.writes || !earlier.writes;
      return at_least && (earlier.pe == access.pe || is_ordered(earlier));
    };
    accesses.erase(std::remove_if(accesses.begin(), accesses.end(), covered), accesses.end());
    accesses.push_back(access);
    return list_of(std::move(accesses));
  }

  /// Bytes [begin, end) of a page go from each list to the one after it.
  template <typename After>
  void use(Page& page, std::int64_t begin, std::int64_t end, After after) {
    const auto first =
        std::lower_bound(page.begin(), page.end(), begin,
                         [](const Interval& interval, std::int64_t byte) { return interval.end < byte; });
    auto next = first;  // of those that are replaced, the one to come
    pieces_.clear();
    if (next != page.end() && next->begin < begin) {  // a part that stays, or a neighbour
      append({next->begin, begin, next->list});
      if (next->end == begin) ++next;
    }
    for (std::int64_t at = begin; at < end;) {
      const bool here = next != page.end() && next->begin <= at;
      if (!here) {
        const std::int64_t until = next == page.end() ? end : std::min(end, next->begin);
        append({at, until, after(0, at, until)});
        at = until;
        continue;
      }
      const std::int64_t until = std::min(end, next->end);
      append({at, until, after(next->list, at, until)});
      if (next->end > end) append({end, next->end, next->list});
      at = until;
      ++next;
    }
    if (next != page.end() && next->begin == end) append(*next++);
    replace(page, first, next);
  }

  void append(const Interval& piece);
  /// Puts `pieces_` in the place of [first, last).
  void replace(Page& page, Page::iterator first, Page::iterator last) const;

  std::unordered_map<std::int64_t, Page> pages_;  // by number
  std::int64_t last_number_ = -1;                 // of the page that was looked up last
  Page* last_page_ = nullptr;
  std::vector<std::vector<Access>> lists_;
  std::map<std::vector<Access>, List> numbers_;  // of the lists
  std::vector<Step> steps_;                      // of the operation that is being added
  std::vector<Interval> pieces_;                 // work space of `use`
};

}  // namespace kernwave::traces
