// The critical path of a run: the cause of every picosecond from its start to its end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/config/system_config.h"
#include "models/pe/pe_observer.h"
#include "traces/critical_path/pe_paths.h"
#include "traces/path_segment.h"

namespace kernwave::traces {

/// The parts of a run's latency.
struct PathSummary {
  using Causes = std::array<Picoseconds, path_cause_count>;
  struct Line {
    SourceLocation where;
    Causes causes{};
    Picoseconds total;
  };

  Picoseconds latency;      ///< of the PE that drained last
  Causes causes{};          ///< sum to the latency
  std::vector<Line> lines;  ///< sum to the latency; the longest first
};

/// Follows paths through all PEs while the run goes on. Every picosecond of the latency has exactly one cause and one
/// line.
///
/// Each instant continues the path of the predecessor that came last (`PePaths` has the order of ties). A message takes
/// its sender's path to the receiver, a returned credit the receiver's to the sender. The wait of a transfer for a
/// memory that serves other transfers is a cause of its own; the path does not go on to the other transfers.
class CriticalPath : public PeObserver {
 public:
  /// With `keep_segments`, memory grows with the length of the path.
  enum class Detail : std::uint8_t { sums, segments };
  CriticalPath(const SystemConfig& config, Detail detail);

  /// The result; only after a run that has finished.
  [[nodiscard]] PathSummary summary() const;
  /// In order, without gaps, from 0 to the latency. Only with Detail::segments.
  [[nodiscard]] std::vector<PathSegment> segments() const;
  /// The largest number of intervals held in memory.
  [[nodiscard]] std::size_t history_size() const noexcept { return pool_.nodes(); }

  // PeObserver
  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void issuing(PeId pe, SourceLocation where, Picoseconds from, Picoseconds to) override;
  void submitted(const IssuedOperation& operation) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void drained(PeId pe, Picoseconds at) override;
  void accepted(const Descriptor& operation, Picoseconds presented, Picoseconds at) override;
  void dispatched(const Descriptor& operation, Picoseconds at) override;
  void presented(const Descriptor& part, Picoseconds issued, Picoseconds at) override;
  void service_begins(const Descriptor& operation, Picoseconds at) override;
  void transferred(const Descriptor& operation, const TransferPhases& phases) override;
  void service_ends(const Descriptor& operation, Picoseconds at) override;
  void slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) override;
  void completed(const CompletedOperation& operation) override;
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override;

 private:
  struct End {
    Path path;
    PeId pe;
    bool known = false;
  };

  [[nodiscard]] PePaths& of(PeId pe) { return *pes_[static_cast<std::size_t>(pe.count())]; }
  [[nodiscard]] SiteId site_of(SourceLocation where);
  void message_ends(const Descriptor& operation, Picoseconds at);

  SystemConfig config_;
  PathPool pool_;
  std::vector<std::unique_ptr<PePaths>> pes_;
  std::vector<SourceLocation> sites_;
  std::map<std::pair<const char*, int>, SiteId> site_ids_;
  SourceLocation last_where_;  // what was looked up last: the same again, mostly
  SiteId last_site_ = 0;
  End end_;
};

}  // namespace kernwave::traces
