// The timeline of a run, a file for ui.perfetto.dev.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/config/system_config.h"
#include "models/memory/channel_observer.h"
#include "models/pe/pe_observer.h"
#include "traces/files/background_writer.h"
#include "traces/files/byte_stream.h"
#include "traces/files/output.h"
#include "traces/files/pending_file.h"
#include "traces/timeline/bandwidth_bins.h"
#include "traces/timeline/flows.h"
#include "traces/timeline/lanes.h"
#include "traces/timeline/perfetto_writer.h"
#include "traces/timeline/slice_kinds.h"
#include "traces/timeline/track_streams.h"

namespace kernwave::traces {

/// Writes the timeline while the run goes on, on a thread of its own; its memory does not grow with the number of
/// operations. Each process of the timeline is a PE or a cube. Time stamps are in ns, rounded down; `start_ps` and
/// `end_ps` of a slice are exact.
class Timeline : public PeObserver, public ChannelObserver {
 public:
  /// Throws WriteError if the file cannot be made.
  Timeline(const std::string& path, Compression compression, const SystemConfig& config,
           const EngineList& engines = {});

  /// Of the file, as it was asked for.
  [[nodiscard]] const std::string& path() const noexcept { return pending_.path(); }
  /// The last call: the file gets its name. Of a run that is not complete, marks its end. Throws WriteError if not all
  /// could be written; an older file is then as it was, as it is without this call.
  void close(const RunNote& note);
  /// A write has failed: `close` will throw.
  [[nodiscard]] bool failed() const noexcept { return background_.failed(); }

  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) override;
  void depends(PeId pe, Completion on) override;
  void submitted(const IssuedOperation& operation) override;
  void wait_begins(const ProgramWait& wait) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void scratch_used(PeId pe, Bytes bytes, Picoseconds at) override;
  void completed(const CompletedOperation& operation) override;
  void slot_filled(PeId pe, Direction from, Picoseconds at) override;
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override;
  void served(const ChannelService& service) override;

 private:
  /// The data of an operation between its submission and its end, at the slot of its completion.
  struct InFlight {
    std::uint32_t generation = 0;
    KindNumber kind = no_kind;
    OperationFlows flows;
  };
  /// A counter's last value, written when the next one is of a later instant.
  struct Value {
    Picoseconds at;
    std::int64_t value = 0;
    std::int64_t written = -1;
  };
  struct PeState {
    std::vector<InFlight> in_flight;
    std::int64_t next_sequence = 0;
    LoadFlows loads;
    std::array<std::int64_t, direction_count> sent{};
    std::array<std::int64_t, direction_count> received{};
    std::array<std::int64_t, direction_count> landed{};
    Picoseconds issue_from;  // not written yet if it lies before `issue_to`
    Picoseconds issue_to;
    ProgramWait wait;
    bool waits = false;
    Value scratch;
    std::vector<Lanes> lanes;  // by group
  };
  struct Traffic {
    BandwidthBins bins;
    Picoseconds end;  // of the last bin that was taken
    std::int64_t written = 0;
  };

  /// Blocks on their way to the file, and the kinds that they are the first to have.
  struct Batch {
    std::vector<TrackStreams::Block> blocks;  // the first `count` are in use
    std::size_t count = 0;
    std::vector<SliceKind> new_kinds;

    void add(TrackStreams::Block& block);
    void clear() noexcept;
  };

  [[nodiscard]] PeState& state(PeId pe) { return pes_[static_cast<std::size_t>(pe.count())]; }
  [[nodiscard]] static const InFlight* find(const PeState& pe, Completion completion) noexcept;
  [[nodiscard]] static OperationFlows flows_of(PeState& pe, const IssuedOperation& operation);
  void add(std::size_t process, TrackGroup group, const TrackRecord& record, const OperationFlows* flows = nullptr);
  void add_issue(PeId pe, const TrackRecord& like);
  void add_wait(const ProgramWait& wait, Picoseconds to);
  void add_scratch(std::size_t pe, Value& value, Picoseconds known_at);
  void take_bins(Traffic& traffic, std::size_t process, TrackGroup group, Picoseconds until, Picoseconds known_at);
  void add_traffic(Traffic& traffic, std::size_t process, TrackGroup group, Picoseconds from, Picoseconds known_at,
                   Bytes bytes);
  void add_what_is_open(const RunNote& note);
  void take(TrackStreams::Block& block);
  void hand_over();

  PendingFile pending_;
  SliceKinds kinds_;
  std::size_t known_kinds_ = 0;  // to the writer, or with the next batch
  Batch batch_;
  TrackStreams streams_;
  std::vector<PeState> pes_;
  std::vector<Traffic> traffic_;  // of each cube: reads, writes
  // What the thread writes shares no line of the cache with what is above: each would wait for the other's.
  alignas(cache_line_bytes) ByteStream file_;
  PerfettoWriter writer_;  // the thread's, until that has ended
  BackgroundWriter<Batch> background_;
};

}  // namespace kernwave::traces
