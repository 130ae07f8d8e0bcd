#include "traces/timeline/perfetto_tracks.h"

#include <fmt/format.h>

#include <string>

#include "traces/timeline/perfetto_fields.h"

namespace kernwave::traces {

namespace {

namespace packet = perfetto::trace_packet;
namespace track = perfetto::track_descriptor;
namespace counter = perfetto::counter_descriptor;

/// A descriptor in a packet of its own, open for further fields.
class DescriptorPacket {
 public:
  DescriptorPacket(ProtobufWriter& out, std::uint64_t uuid) : out_(out), packet_(out.begin(perfetto::trace::packet)) {
    out_.varint(packet::trusted_packet_sequence_id, packet_sequence);
    descriptor_ = out_.begin(packet::track_descriptor);
    out_.varint(track::uuid, uuid);
  }
  DescriptorPacket(const DescriptorPacket&) = delete;
  DescriptorPacket& operator=(const DescriptorPacket&) = delete;
  ~DescriptorPacket() {
    out_.end(descriptor_);
    out_.end(packet_);
  }

 private:
  ProtobufWriter& out_;
  std::size_t packet_;
  std::size_t descriptor_ = 0;
};

void describe_counter(TrackGroup group, ProtobufWriter& out) {
  if (group < TrackGroup::scratch || group >= TrackGroup::added) return;
  const std::size_t message = out.begin(track::counter);
  if (group == TrackGroup::scratch) {
    out.varint(counter::unit, counter::size_bytes);
  } else {
    out.text(counter::unit_name, "GB/s");
  }
  out.end(message);
}

}  // namespace

PerfettoTracks::PerfettoTracks(const SystemConfig& config, const EngineList& engines)
    : cubes_(config.cubes),
      pes_per_cube_(config.pes_per_cube),
      engines_(engines),
      groups_(track_groups(engines)),
      process_uuids_(static_cast<std::size_t>(cubes_ * (pes_per_cube_ + 1))),
      lane_uuids_(process_uuids_.size() * groups_) {}

std::string PerfettoTracks::group_name(TrackGroup group) const {
  for (const EngineRow& row : engines_) {
    if (row.service != EngineService::messages && group == group_of(row.engine)) return std::string(row.title);
  }
  if (group >= TrackGroup::send && group < TrackGroup::scratch) {
    const auto offset = static_cast<std::size_t>(group) - static_cast<std::size_t>(TrackGroup::send);
    const auto direction = static_cast<Direction>(offset % direction_count);
    return fmt::format("{} {}", group < TrackGroup::receive ? "send" : "receive", name_of(direction));
  }
  switch (group) {
    case TrackGroup::kernel:
      return "kernel";
    case TrackGroup::scratch:
      return "scratch";
    case TrackGroup::hbm_read:
      return "HBM read";
    default:
      return "HBM write";
  }
}

bool PerfettoTracks::known(std::size_t process, TrackGroup group) const noexcept {
  return !lanes(process, group).empty();
}

std::uint64_t PerfettoTracks::uuid(std::size_t process, TrackGroup group, std::size_t lane, ProtobufWriter& out) {
  const auto& known = lanes(process, group);
  if (lane < known.size() && known[lane] != 0) return known[lane];
  return describe_lane(process, group, lane, out);
}

std::uint64_t PerfettoTracks::run_uuid(ProtobufWriter& out) {
  const std::uint64_t uuid = next_uuid_++;
  const DescriptorPacket descriptor(out, uuid);
  out.text(track::name, "run");
  return uuid;
}

/// A cube comes before its PEs.
std::uint64_t PerfettoTracks::describe_process(std::size_t process, ProtobufWriter& out) {
  std::uint64_t& uuid = process_uuids_[process];
  if (uuid != 0) return uuid;
  uuid = next_uuid_++;
  const auto number = static_cast<std::int64_t>(process);
  const std::int64_t cube = process < pes() ? number / pes_per_cube_ : number - cubes_ * pes_per_cube_;
  const std::int64_t place = process < pes() ? 1 + number % pes_per_cube_ : 0;
  const DescriptorPacket descriptor(out, uuid);
  out.varint(track::child_ordering, track::explicit_children);
  out.varint(track::sibling_order_rank, static_cast<std::uint64_t>(1 + cube * (pes_per_cube_ + 1) + place));
  const std::size_t message = out.begin(track::process);
  out.varint(perfetto::process_descriptor::pid, process + 1);
  out.text(perfetto::process_descriptor::process_name,
           process < pes() ? fmt::format("PE {} (cube {})", number, cube) : fmt::format("cube {}", cube));
  out.end(message);
  return uuid;
}

std::uint64_t PerfettoTracks::describe_lane(std::size_t process, TrackGroup group, std::size_t lane,
                                            ProtobufWriter& out) {
  constexpr std::size_t ranks_per_group = 1000;
  const std::uint64_t parent = describe_process(process, out);
  auto& lanes = lane_uuids_[process * groups_ + static_cast<std::size_t>(group)];
  if (lane >= lanes.size()) lanes.resize(lane + 1);
  lanes[lane] = next_uuid_++;
  const DescriptorPacket descriptor(out, lanes[lane]);
  out.text(track::name, lane == 0 ? group_name(group) : fmt::format("{} {}", group_name(group), lane + 1));
  out.varint(track::parent_uuid, parent);
  describe_counter(group, out);
  out.varint(track::sibling_order_rank, static_cast<std::size_t>(group) * ranks_per_group + lane);
  return lanes[lane];
}

}  // namespace kernwave::traces
