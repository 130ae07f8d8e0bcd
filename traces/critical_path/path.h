// Paths through a run: the cause of every picosecond from time 0 to an instant.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/address.h"
#include "models/base/quantity.h"
#include "traces/path_segment.h"

namespace kernwave::traces {

/// Names a place in a kernel's source, as a small number.
using SiteId = std::uint32_t;

/// Time by site and cause: element site x path_cause_count + cause, as far as the vector reaches.
using PathSums = std::vector<std::int64_t>;

/// The cause of an interval of time.
struct PathUse {
  PathCause cause = PathCause::issue;
  SiteId site = 0;
  OperationId operation;
};

class PathPool;

/// The path to one instant: a handle that is cheap to copy. Copies share the history, of which a pool keeps the part
/// that paths still need. The segments of a path sum to its instant exactly, because only `to` extends a path.
class Path {
 public:
  /// Time 0.
  Path() = default;
  Path(const Path& other) noexcept : node_(other.node_), at_(other.at_) { hold(); }
  Path(Path&& other) noexcept : node_(std::exchange(other.node_, nullptr)), at_(other.at_) {}
  Path& operator=(Path other) noexcept {
    std::swap(node_, other.node_);
    at_ = other.at_;
    return *this;
  }
  ~Path() { release(); }

  [[nodiscard]] Picoseconds at() const noexcept { return at_; }

 private:
  friend class PathPool;
  struct Node;

  void hold() const noexcept;
  void release() noexcept;

  Node* node_ = nullptr;
  Picoseconds at_;
};

/// Owns the history of all paths of a run. Without `keep_segments` it holds sums instead of distant history, so that
/// memory does not grow with the length of the run.
class PathPool {
 public:
  explicit PathPool(bool keep_segments) : keep_segments_(keep_segments) {}

  /// `path` extended until `at`; `path` itself if `at` is not later.
  [[nodiscard]] Path extend(Path path, Picoseconds at, const PathUse& use);

  [[nodiscard]] PathSums sums(const Path& path) const;
  /// From time 0 on; sites are those of `use`. Only with `keep_segments`.
  struct Interval {
    Picoseconds start;
    Picoseconds end;
    PathUse use;
  };
  [[nodiscard]] std::vector<Interval> intervals(const Path& path) const;

  [[nodiscard]] std::size_t nodes() const noexcept { return nodes_.size(); }

 private:
  friend class Path;

  [[nodiscard]] Path::Node& acquire();
  void free(Path::Node& node);
  void fold(Path::Node& node);

  bool keep_segments_;
  std::deque<Path::Node> nodes_;
  Path::Node* free_ = nullptr;  // the first of those that no path needs, linked by `before`
};

/// One interval at the end of a path, and its history: the interval before it, or (`sums`) the totals up to and with
/// it.
struct Path::Node {
  PathPool* pool = nullptr;
  Node* before = nullptr;
  std::uint32_t holders = 0;
  std::uint32_t distance = 0;  ///< intervals since the last node with sums
  std::int64_t duration = 0;
  PathUse use;
  std::unique_ptr<PathSums> sums;
};

inline void Path::hold() const noexcept {
  if (node_ != nullptr) ++node_->holders;
}

inline void Path::release() noexcept {
  if (node_ != nullptr && --node_->holders == 0) node_->pool->free(*node_);
}

}  // namespace kernwave::traces
