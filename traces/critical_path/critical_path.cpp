#include "traces/critical_path/critical_path.h"

#include <algorithm>
#include <string_view>

#include "models/config/pe_kinds.h"
#include "models/ipcq/topology.h"

namespace kernwave::traces {

CriticalPath::CriticalPath(const SystemConfig& config, Detail detail)
    : config_(config), pool_(detail == Detail::segments), sites_(1) {
  for (std::int64_t id = 0; id < config.cubes * config.pes_per_cube; ++id) {
    pes_.push_back(std::make_unique<PePaths>(pool_, PeId(id), pe_config(config, PeId(id))));
  }
}

SiteId CriticalPath::site_of(SourceLocation where) {
  if (where.file == last_where_.file && where.line == last_where_.line) return last_site_;
  const auto [found, is_new] = site_ids_.try_emplace({where.file, where.line}, static_cast<SiteId>(sites_.size()));
  if (is_new) sites_.push_back(where);
  last_where_ = where;
  last_site_ = found->second;
  return last_site_;
}

void CriticalPath::issuing(PeId pe, SourceLocation where, Picoseconds /*from*/, Picoseconds to) {
  of(pe).issued({PathCause::issue, site_of(where), of(pe).next_operation()}, to);
}

void CriticalPath::submitted(const IssuedOperation& operation) {
  of(operation.descriptor.id.pe).submitted(operation, site_of(operation.where));
}

void CriticalPath::wait_ends(const ProgramWait& wait, Picoseconds to) {
  if (wait.cause == TimeCause::credit) return of(wait.pe).waited_for_credit(wait, to);
  of(wait.pe).waited(wait, to);
}

void CriticalPath::drained(PeId pe, Picoseconds at) {
  const bool last = !end_.known || at > end_.path.at() || (at == end_.path.at() && pe < end_.pe);
  if (last) end_ = {of(pe).program(), pe, true};
}

void CriticalPath::accepted(const Descriptor& operation, Picoseconds presented, Picoseconds at) {
  of(operation.id.pe).accepted(presented, at);
}

void CriticalPath::dispatched(const Descriptor& operation, Picoseconds at) {
  of(operation.id.pe).dispatched(operation, at);
}

void CriticalPath::presented(const Descriptor& part, Picoseconds issued, Picoseconds at) {
  of(part.id.pe).presented(part, issued, at);
}

void CriticalPath::service_begins(const Descriptor& operation, Picoseconds at) {
  of(operation.id.pe).service_begins(operation, at);
}

void CriticalPath::transferred(const Descriptor& operation, const TransferPhases& phases) {
  of(operation.id.pe).transferred(operation, phases);
}

void CriticalPath::service_ends(const Descriptor& operation, Picoseconds at) {
  switch (operation.engine) {
    case Engine::gemm:
    case Engine::math:
      return of(operation.id.pe).computed(operation, at);
    case Engine::ipcq:
      return message_ends(operation, at);
    case Engine::dma_read:  // told by `transferred`
    case Engine::dma_write:
    case Engine::composite:
      return;
  }
  of(operation.id.pe).computed(operation, at);  // of an engine that was added
}

/// A receiver may take a message in before its sender hears of the landing, in one instant.
void CriticalPath::message_ends(const Descriptor& operation, Picoseconds at) {
  const IpcqDescriptor& message = operation.ipcq();
  const Direction there = opposite(message.direction);
  PePaths& here = of(operation.id.pe);
  PePaths& peer = of(message.peer);
  if (message.action == IpcqAction::send) {
    if (!here.has_landed(message.direction)) peer.arrives(there, here.landed(message.direction, at));
    return here.sent(message.direction);
  }
  if (!here.has_arrival(message.direction)) here.arrives(message.direction, peer.landed(there, at));
  peer.window_returns(there, here.received(message.direction, at));
}

void CriticalPath::slot_released(PeId pe, Direction from, Picoseconds at, const std::vector<Completion>& users) {
  const auto sender = neighbour(config_, pe, from);
  if (sender) of(*sender).credit_returns(opposite(from), of(pe).released(from, at, users));
}

void CriticalPath::completed(const CompletedOperation& operation) {
  if (operation.descriptor.engine != Engine::composite) return;
  of(operation.descriptor.id.pe).composite_completed(operation);
}

/// Who waited to send to it, goes on.
void CriticalPath::was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) {
  const Path path = of(pe).was_reset(at);
  for (const auto& [direction, peer] : neighbours) of(peer).credit_returns(opposite(direction), path);
}

PathSummary CriticalPath::summary() const {
  PathSummary summary;
  summary.latency = end_.path.at();
  const PathSums sums = pool_.sums(end_.path);
  std::map<std::pair<std::string_view, int>, PathSummary::Line> lines;  // one line may be known by several pointers
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    const SourceLocation where = sites_[i / path_cause_count];
    PathSummary::Line& line = lines[{where.file, where.line}];
    line.where = where;
    line.causes[i % path_cause_count] += Picoseconds(sums[i]);
    line.total += Picoseconds(sums[i]);
    summary.causes[i % path_cause_count] += Picoseconds(sums[i]);
  }
  for (const auto& entry : lines) summary.lines.push_back(entry.second);
  std::stable_sort(summary.lines.begin(), summary.lines.end(),
                   [](const PathSummary::Line& a, const PathSummary::Line& b) { return a.total > b.total; });
  return summary;
}

std::vector<PathSegment> CriticalPath::segments() const {
  std::vector<PathSegment> segments;
  for (const PathPool::Interval& interval : pool_.intervals(end_.path)) {
    segments.push_back(
        {interval.start, interval.end, interval.use.cause, interval.use.operation, sites_[interval.use.site]});
  }
  return segments;
}

}  // namespace kernwave::traces
