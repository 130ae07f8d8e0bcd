#include "traces/timeline/track_streams.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernwave::traces {

namespace {

constexpr std::size_t block_records = 128;

[[nodiscard]] bool precedes(const TrackStreams::Block& a, const TrackStreams::Block& b) {
  return std::make_tuple(a.last.count(), a.process, a.group) < std::make_tuple(b.last.count(), b.process, b.group);
}

}  // namespace

TrackStreams::TrackStreams(std::size_t processes, Sink sink)
    : sink_(std::move(sink)), streams_(processes * track_group_count) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].process = i / track_group_count;
    streams_[i].group = static_cast<TrackGroup>(i % track_group_count);
  }
}

bool TrackStreams::add(std::size_t process, TrackGroup group, const TrackRecord& record, Picoseconds at,
                       const std::uint64_t* flows) {
  Block& block = stream(process, group);
  block.records.push_back(record);
  if (flows != nullptr) block.flows.insert(block.flows.end(), flows, flows + record.flows);
  block.last = at;
  if (block.records.size() < block_records) return false;
  complete(block);
  return true;
}

/// The stream goes on with an empty block.
void TrackStreams::complete(Block& stream) {
  Block next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next.process = stream.process;
  next.group = stream.group;
  next.last = stream.last;
  complete_.push_back(std::exchange(stream, std::move(next)));
}

void TrackStreams::hand_on(Picoseconds now) {
  const auto later =
      std::stable_partition(complete_.begin(), complete_.end(), [now](const Block& block) { return block.last < now; });
  write(static_cast<std::size_t>(later - complete_.begin()));
}

void TrackStreams::hand_on_all() {
  for (Block& block : streams_) {
    if (!block.records.empty()) complete(block);
  }
  write(complete_.size());
}

/// The first `count` of those that are complete, in order.
void TrackStreams::write(std::size_t count) {
  const auto end = complete_.begin() + static_cast<std::ptrdiff_t>(count);
  std::stable_sort(complete_.begin(), end, precedes);
  for (auto block = complete_.begin(); block != end; ++block) {
    sink_(*block);
    block->records.clear();
    block->flows.clear();
    spare_.push_back(std::move(*block));
  }
  complete_.erase(complete_.begin(), end);
}

}  // namespace kernwave::traces
