#include "traces/timeline/track_streams.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernwave::traces {

namespace {

constexpr std::size_t block_records = 128;

[[nodiscard]] Picoseconds end_of(const TrackStreams::Block& block) { return block.records.back().end; }

[[nodiscard]] bool precedes(const TrackStreams::Block& a, const TrackStreams::Block& b) {
  return std::make_tuple(end_of(a).count(), a.process, a.group) <
         std::make_tuple(end_of(b).count(), b.process, b.group);
}

/// Whether a run that has reached `end` and no later instant has come to the record.
[[nodiscard]] bool has_happened(const TrackRecord& record, Picoseconds end) {
  switch (record.form) {
    case TrackRecord::Form::issue:
    case TrackRecord::Form::wait:
      return record.end <= end || record.start < end;
    case TrackRecord::Form::counter:
      return record.start <= end;
    case TrackRecord::Form::service:
      break;
  }
  return record.end <= end;
}

}  // namespace

TrackStreams::TrackStreams(std::size_t processes, std::size_t groups, Sink sink)
    : sink_(std::move(sink)), groups_(groups), streams_(processes * groups) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].process = i / groups_;
    streams_[i].group = static_cast<TrackGroup>(i % groups_);
  }
}

bool TrackStreams::add(std::size_t process, TrackGroup group, const TrackRecord& record, const std::uint64_t* flows) {
  Block& block = stream(process, group);
  block.records.push_back(record);
  if (flows != nullptr) block.flows.insert(block.flows.end(), flows, flows + record.flows);
  if (block.records.size() < block_records) return false;
  full_.push_back(take(block));
  return true;
}

/// The stream goes on with an empty block.
TrackStreams::Block TrackStreams::take(Block& stream) {
  Block next;
  if (!spare_.empty()) {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next.process = stream.process;
  next.group = stream.group;
  return std::exchange(stream, std::move(next));
}

void TrackStreams::hand_on(Picoseconds now) {
  const auto later =
      std::stable_partition(full_.begin(), full_.end(), [now](const Block& block) { return end_of(block) < now; });
  write(full_, static_cast<std::size_t>(later - full_.begin()));
}

void TrackStreams::hand_on_all(Picoseconds end) {
  std::vector<Block> whole;
  std::vector<Block> partial;
  const auto add = [&](Block&& block) {
    cut(block, end);
    if (block.records.empty()) return;
    (block.records.size() == block_records ? whole : partial).push_back(std::move(block));
  };
  for (Block& block : full_) add(std::move(block));
  full_.clear();
  for (Block& block : streams_) add(take(block));
  write(whole, whole.size());
  write(partial, partial.size());
}

void TrackStreams::cut(Block& block, Picoseconds end) {
  const bool of_memory = block.group == TrackGroup::hbm_read || block.group == TrackGroup::hbm_write;
  if (of_memory || block.records.empty() || end_of(block) <= end) return;  // a memory knows what it will carry
  std::vector<TrackRecord> records;
  std::vector<std::uint64_t> flows;
  auto flow = block.flows.begin();
  for (TrackRecord& record : block.records) {
    if (has_happened(record, end)) {
      record.end = std::min(record.end, end);
      records.push_back(record);
      flows.insert(flows.end(), flow, flow + record.flows);
    }
    flow += record.flows;
  }
  block.records = std::move(records);
  block.flows = std::move(flows);
}

/// The first `count` of them, in order.
void TrackStreams::write(std::vector<Block>& blocks, std::size_t count) {
  const auto end = blocks.begin() + static_cast<std::ptrdiff_t>(count);
  std::stable_sort(blocks.begin(), end, precedes);
  for (auto block = blocks.begin(); block != end; ++block) {
    sink_(*block);
    block->records.clear();
    block->flows.clear();
    spare_.push_back(std::move(*block));
  }
  blocks.erase(blocks.begin(), end);
}

}  // namespace kernwave::traces
