#include "traces/critical_path/path.h"

#include <algorithm>

namespace kernwave::traces {

namespace {

/// A longer history costs memory, a shorter one more copies of sums.
constexpr std::uint32_t longest_history = 64;

void add(PathSums& sums, const PathUse& use, std::int64_t duration) {
  const std::size_t index = std::size_t{use.site} * path_cause_count + static_cast<std::size_t>(use.cause);
  if (index >= sums.size()) sums.resize((use.site + 1) * path_cause_count, 0);
  sums[index] += duration;
}

}  // namespace

/// The new node holds the one before in the place of `path`.
Path PathPool::extend(Path path, Picoseconds at, const PathUse& use) {
  if (at <= path.at_) return path;
  Path::Node& node = acquire();
  node.distance = path.node_ == nullptr ? 1 : path.node_->distance + 1;
  node.before = std::exchange(path.node_, &node);
  node.holders = 1;
  node.duration = (at - path.at_).count();
  node.use = use;
  path.at_ = at;
  if (!keep_segments_ && node.distance == longest_history) fold(node);
  return path;
}

Path::Node& PathPool::acquire() {
  if (free_ == nullptr) {
    nodes_.emplace_back();
    nodes_.back().pool = this;
    return nodes_.back();
  }
  return *std::exchange(free_, free_->before);
}

/// A loop, not a recursion: a history may be as long as the run.
void PathPool::free(Path::Node& node) {
  Path::Node* freed = &node;
  while (freed != nullptr) {
    Path::Node* before = std::exchange(freed->before, free_);
    if (freed->sums != nullptr) freed->sums.reset();
    free_ = freed;
    freed = before != nullptr && --before->holders == 0 ? before : nullptr;
  }
}

/// Replaces the history of a node by its sums.
void PathPool::fold(Path::Node& node) {
  auto sums = std::make_unique<PathSums>();
  const Path::Node* base = &node;
  while (base != nullptr && base->sums == nullptr) base = base->before;
  if (base != nullptr) *sums = *base->sums;
  for (const Path::Node* each = &node; each != base; each = each->before) add(*sums, each->use, each->duration);
  Path::Node* before = std::exchange(node.before, nullptr);
  node.sums = std::move(sums);
  node.distance = 0;
  if (before != nullptr && --before->holders == 0) free(*before);
}

PathSums PathPool::sums(const Path& path) const {
  PathSums sums;
  const Path::Node* node = path.node_;
  for (; node != nullptr && node->sums == nullptr; node = node->before) add(sums, node->use, node->duration);
  if (node == nullptr) return sums;
  if (sums.size() < node->sums->size()) sums.resize(node->sums->size(), 0);
  for (std::size_t i = 0; i < node->sums->size(); ++i) sums[i] += (*node->sums)[i];
  return sums;
}

std::vector<PathPool::Interval> PathPool::intervals(const Path& path) const {
  std::vector<Interval> intervals;
  Picoseconds end = path.at();
  for (const Path::Node* node = path.node_; node != nullptr; node = node->before) {
    const Picoseconds start = end - Picoseconds(node->duration);
    intervals.push_back({start, end, node->use});
    end = start;
  }
  std::reverse(intervals.begin(), intervals.end());
  return intervals;
}

}  // namespace kernwave::traces
