#include "traces/checks/race_detector.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/checks/footprint.h"
#include "traces/checks/operation_text.h"

namespace kernwave::traces {

RaceDetector::RaceDetector(const SystemConfig& config)
    : clocks_(config.cubes * config.pes_per_cube), memories_(static_cast<std::size_t>(config.cubes)) {}

void RaceDetector::submitted(const IssuedOperation& operation) {
  const Descriptor& descriptor = operation.descriptor;
  if (descriptor.engine == Engine::ipcq) return clocks_.submitted(operation);
  for_each_region(descriptor, [&](const HbmRegion& region, bool writes) {
    const PeId pe = descriptor.id.pe;
    add(operation, {pe, clocks_.epoch(pe), site_of(operation), writes}, region);
  });
}

void RaceDetector::wait_ends(const ProgramWait& wait, Picoseconds /*to*/) { clocks_.waited(wait.pe, wait.on); }

RaceDetector::Site RaceDetector::site_of(const IssuedOperation& operation) {
  const Descriptor& descriptor = operation.descriptor;
  const auto next = static_cast<Site>(operations_.size());
  const auto [site, is_new] = sites_.try_emplace(
      {descriptor.id.pe.count(), operation.where.file, operation.where.line, descriptor.engine}, next);
  if (is_new) operations_.push_back({descriptor, operation.where});
  return site->second;
}

/// An address in a cube that does not exist is an error that the memory answers.
void RaceDetector::add(const IssuedOperation& operation, const Access& access, const HbmRegion& region) {
  const CubeId cube = region.base.cube();
  if (cube.count() >= static_cast<std::int64_t>(memories_.size())) return;
  AccessHistory& memory = memories_[static_cast<std::size_t>(cube.count())];
  const auto is_ordered = [&](const Access& earlier) {
    return clocks_.is_ordered(earlier.pe, earlier.epoch, access.pe);
  };
  const auto collide = [&](const Access& earlier, std::int64_t begin, std::int64_t end) {
    note(earlier.site, access.site, {operation.issued, cube, begin, end});
  };
  memory.add(region, access, is_ordered, collide);
}

/// Calls of different PEs in one instant come in any order, so neither is the first.
void RaceDetector::note(Site earlier, Site later, const Race& race) {
  const bool in_order = operations_[earlier].descriptor.id.pe < operations_[later].descriptor.id.pe;
  races_.try_emplace(in_order ? std::make_pair(earlier, later) : std::make_pair(later, earlier), race);
}

std::vector<std::string> RaceDetector::findings() const {
  struct Row {
    const Operation* a;
    const Operation* b;
    const Race* race;
  };
  std::vector<Row> rows;
  rows.reserve(races_.size());
  for (const auto& [sites, race] : races_) {
    rows.push_back({&operations_[sites.first], &operations_[sites.second], &race});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    const auto key = [](const Row& row) {
      return std::make_tuple(row.race->issued.count(), row.a->descriptor.id.pe.count(), row.b->descriptor.id.pe.count(),
                             row.a->descriptor.id.sequence, row.b->descriptor.id.sequence);
    };
    return key(x) < key(y);
  });
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const Row& row : rows) {
    texts.push_back(fmt::format(
        "{}, and {} use the same bytes of HBM, cube {} from offset {:#x} to {:#x}, and no message puts one before the "
        "other",
        operation_text(row.a->descriptor, row.a->where), operation_text(row.b->descriptor, row.b->where),
        row.race->cube.count(), row.race->begin, row.race->end - 1));
  }
  return texts;
}

}  // namespace kernwave::traces
