// The streams of a timeline's records, in the order in which they go into the file.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/base/direction.h"
#include "models/base/quantity.h"
#include "traces/timeline/slice_kinds.h"

namespace kernwave::traces {

/// The groups of tracks of a process; a group may have several tracks, its lanes.
enum class TrackGroup : std::uint8_t {
  kernel,
  engine,                              // one group an engine, in the order of `Engine`
  send = engine + engine_rows.size(),  // one group a direction
  receive = send + direction_count,    // likewise
  scratch = receive + direction_count,
  hbm_read,
  hbm_write,
  added,  // one group for each engine that was added to the machine
};

/// The number of groups in a machine with these engines.
[[nodiscard]] inline std::size_t track_groups(const EngineList& engines) noexcept {
  return static_cast<std::size_t>(TrackGroup::added) + engines.size() - engine_rows.size();
}

[[nodiscard]] constexpr TrackGroup group_of(Engine engine) noexcept {
  if (is_added(engine)) {
    return static_cast<TrackGroup>(static_cast<std::size_t>(TrackGroup::added) + place_of_added(engine));
  }
  return static_cast<TrackGroup>(static_cast<std::size_t>(TrackGroup::engine) + static_cast<std::size_t>(engine));
}

[[nodiscard]] constexpr TrackGroup group_of(TrackGroup first, Direction direction) noexcept {
  return static_cast<TrackGroup>(static_cast<std::uint8_t>(first) + static_cast<std::uint8_t>(direction));
}

/// A slice, or a value of a counter from `start` on.
struct TrackRecord {
  enum class Form : std::uint8_t { service, issue, wait, counter };

  Picoseconds start;
  Picoseconds end;             ///< of a counter: when it was known, at `start` or later
  std::int64_t value = 0;      ///< sequence number of the operation, -1: none; of a counter: its value
  KindNumber kind = no_kind;   ///< none of an issue of nothing known, of a counter
  KindNumber other = no_kind;  ///< the operation waited for
  std::int32_t part = 0;
  std::uint16_t lane = 0;
  Form form = Form::service;
  bool starts_flow = false;
  bool message = false;    ///< its flows end where it ends, not where it begins
  std::uint8_t flows = 0;  ///< behind one another in the stream's: the one that starts here, then those that end here
};

/// Collects the records of each group of tracks of each process and writes them in blocks. The order of blocks
/// follows from the records alone, whatever the order in which different streams are told, and however far ahead of
/// simulated time: full blocks by the end of their last record, then those that the end of the run has left partly
/// filled, likewise.
class TrackStreams {
 public:
  struct Block {
    std::size_t process = 0;
    TrackGroup group = TrackGroup::kernel;
    std::vector<TrackRecord> records;
    std::vector<std::uint64_t> flows;
  };
  /// Writes a block, or takes it over and leaves an empty one.
  using Sink = std::function<void(Block&)>;

  TrackStreams(std::size_t processes, std::size_t groups, Sink sink);

  /// Ends of records never descend in a stream, and are never before simulated time. Returns whether a block has become
  /// full: it is time to `hand_on`.
  [[nodiscard]] bool add(std::size_t process, TrackGroup group, const TrackRecord& record,
                         const std::uint64_t* flows = nullptr);
  /// Hands on the blocks that no later record can precede.
  void hand_on(Picoseconds now);
  /// Hands on the remaining records of a run that has reached `end` and no later instant. Services that end later have
  /// not ended; an activity or a wait of a program in that instant ends there.
  void hand_on_all(Picoseconds end);

 private:
  [[nodiscard]] Block& stream(std::size_t process, TrackGroup group) {
    return streams_[process * groups_ + static_cast<std::size_t>(group)];
  }
  [[nodiscard]] Block take(Block& stream);
  static void cut(Block& block, Picoseconds end);
  void write(std::vector<Block>& blocks, std::size_t count);

  Sink sink_;
  std::size_t groups_;
  std::vector<Block> streams_;  // the block of each that is being filled
  std::vector<Block> full_;     // not written yet
  std::vector<Block> spare_;
};

}  // namespace kernwave::traces
