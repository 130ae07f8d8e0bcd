// The order of one PE's accesses to HBM: an access waits for earlier ones that it overlaps.
#pragma once

#include <optional>
#include <vector>

#include "models/protocol/completion.h"
#include "models/protocol/descriptor.h"

namespace kernwave::tl {

/// Whether two regions share a byte. Exact when their strides are equal or one of them is contiguous; otherwise by
/// their bounding intervals, which may say yes where the answer is no.
[[nodiscard]] bool overlap(const HbmRegion& a, const HbmRegion& b) noexcept;

/// The accesses in flight. If a new access overlaps an earlier one and one of the two is a write, the new access has to
/// wait before it is issued: inside a channel it could block the access for which it waits.
class MemoryOrder {
 public:
  /// An access in flight that the new one must wait for, or nothing. Ask again after the wait.
  template <typename IsComplete>
  [[nodiscard]] std::optional<Completion> conflict(const HbmRegion& region, bool writes, IsComplete is_complete) {
    std::optional<Completion> found;
    std::size_t kept = 0;
    for (const Access& access : accesses_) {
      if (is_complete(access.completion)) continue;
      accesses_[kept++] = access;
      if (!found && (writes || access.writes) && overlap(region, access.region)) found = access.completion;
    }
    accesses_.resize(kept);
    return found;
  }

  /// An access in flight, if there is any.
  template <typename IsComplete>
  [[nodiscard]] std::optional<Completion> any(IsComplete is_complete) const {
    for (const Access& access : accesses_) {
      if (!is_complete(access.completion)) return access.completion;
    }
    return std::nullopt;
  }

  void add(const HbmRegion& region, bool writes, Completion completion) {
    accesses_.push_back({region, writes, completion});
  }

 private:
  struct Access {
    HbmRegion region;
    bool writes = false;
    Completion completion;
  };

  std::vector<Access> accesses_;
};

}  // namespace kernwave::tl
