// The tracks of a timeline in Perfetto's format, and the processes that they belong to.
#pragma once

#include <cstdint>
#include <vector>

#include "models/config/system_config.h"
#include "traces/timeline/protobuf_writer.h"
#include "traces/timeline/track_streams.h"

namespace kernwave::traces {

/// Every packet belongs to one sequence, and names are known to all packets of a sequence.
inline constexpr std::uint64_t packet_sequence = 1;

/// Numbers tracks in the order in which they are asked for. Processes are the PEs by their numbers, then the cubes.
class PerfettoTracks {
 public:
  PerfettoTracks(const SystemConfig& config, const EngineList& engines);

  [[nodiscard]] std::size_t pes() const noexcept { return static_cast<std::size_t>(cubes_ * pes_per_cube_); }
  [[nodiscard]] std::size_t processes() const noexcept { return process_uuids_.size(); }
  [[nodiscard]] std::size_t process_of(CubeId cube) const noexcept {
    return pes() + static_cast<std::size_t>(cube.count());
  }
  [[nodiscard]] bool known(std::size_t process, TrackGroup group) const noexcept;

  /// Of a lane of a group; describes it to `out` when it is asked for the first time.
  [[nodiscard]] std::uint64_t uuid(std::size_t process, TrackGroup group, std::size_t lane, ProtobufWriter& out);
  /// Of a track that belongs to no process and comes first.
  [[nodiscard]] std::uint64_t run_uuid(ProtobufWriter& out);

 private:
  [[nodiscard]] const std::vector<std::uint64_t>& lanes(std::size_t process, TrackGroup group) const {
    return lane_uuids_[process * groups_ + static_cast<std::size_t>(group)];
  }
  [[nodiscard]] std::string group_name(TrackGroup group) const;
  [[nodiscard]] std::uint64_t describe_process(std::size_t process, ProtobufWriter& out);
  [[nodiscard]] std::uint64_t describe_lane(std::size_t process, TrackGroup group, std::size_t lane,
                                            ProtobufWriter& out);

  std::int64_t cubes_;
  std::int64_t pes_per_cube_;
  EngineList engines_;
  std::size_t groups_;
  std::vector<std::uint64_t> process_uuids_;            // 0: not described yet
  std::vector<std::vector<std::uint64_t>> lane_uuids_;  // by process and group
  std::uint64_t next_uuid_ = 1;
};

}  // namespace kernwave::traces
