#include "traces/timeline/timeline.h"

#include <algorithm>
#include <utility>

#include "models/base/systemc.h"

namespace kernwave::traces {

namespace {

constexpr Picoseconds traffic_bin(1'000'000);
constexpr Picoseconds end_of_time(std::int64_t{1} << 62U);

[[nodiscard]] TrackGroup group_of_operation(const Descriptor& descriptor) {
  if (descriptor.engine != Engine::ipcq) return group_of(descriptor.engine);
  const IpcqDescriptor& message = descriptor.ipcq();
  return group_of(message.action == IpcqAction::send ? TrackGroup::send : TrackGroup::receive, message.direction);
}

[[nodiscard]] bool is_receive(const Descriptor& descriptor) {
  return descriptor.engine == Engine::ipcq && descriptor.ipcq().action == IpcqAction::receive;
}

[[nodiscard]] std::size_t index_of(PeId pe) noexcept { return static_cast<std::size_t>(pe.count()); }

}  // namespace

Timeline::Timeline(const std::string& path, Compression compression, const SystemConfig& config,
                   const EngineList& engines)
    : pending_(path),
      streams_(PerfettoTracks(config, engines).processes(), track_groups(engines),
               [this](TrackStreams::Block& block) { take(block); }),
      pes_(PerfettoTracks(config, engines).pes()),
      traffic_(static_cast<std::size_t>(2 * config.cubes), Traffic{BandwidthBins(traffic_bin), {}, 0}),
      file_(pending_.descriptor(), compression),
      writer_(file_, config, engines, traffic_bin),
      background_([this](Batch& batch) {
        writer_.learn(batch.new_kinds);
        for (std::size_t i = 0; i < batch.count; ++i) writer_.write(batch.blocks[i]);
        file_.check();
      }) {
  for (PeState& pe : pes_) pe.lanes.resize(track_groups(engines));
}

// ---- to the thread

/// Takes the block over; what it gets in exchange has room.
void Timeline::Batch::add(TrackStreams::Block& block) {
  if (count == blocks.size()) blocks.emplace_back();
  std::swap(blocks[count++], block);
}

void Timeline::Batch::clear() noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i].records.clear();
    blocks[i].flows.clear();
  }
  count = 0;
  new_kinds.clear();
}

void Timeline::take(TrackStreams::Block& block) {
  constexpr std::size_t batch_blocks = 8;
  batch_.add(block);
  if (batch_.count == batch_blocks) hand_over();
}

void Timeline::hand_over() {
  for (; known_kinds_ < kinds_.size(); ++known_kinds_) {
    batch_.new_kinds.push_back(kinds_[static_cast<KindNumber>(known_kinds_)]);
  }
  background_.exchange(batch_);
}

// ---- records

void Timeline::add(std::size_t process, TrackGroup group, const TrackRecord& record, const OperationFlows* flows) {
  if (streams_.add(process, group, record, flows == nullptr ? nullptr : flows->ids.data())) streams_.hand_on(now());
}

// ---- the program

void Timeline::issuing(PeId pe, SourceLocation /*where*/, Picoseconds from, Picoseconds to) {
  PeState& program = state(pe);
  program.issue_from = from;
  program.issue_to = to;
}

/// The issue that has been paid, of which `like` tells what for.
void Timeline::add_issue(PeId pe, const TrackRecord& like) {
  PeState& program = state(pe);
  if (program.issue_from == program.issue_to) return;
  TrackRecord record = like;
  record.start = program.issue_from;
  record.end = program.issue_to;
  add(index_of(pe), TrackGroup::kernel, record);
  program.issue_from = program.issue_to;
}

void Timeline::depends(PeId pe, Completion on) {
  PeState& program = state(pe);
  program.loads.depends(pe, on, program.next_sequence);
}

void Timeline::submitted(const IssuedOperation& operation) {
  const OperationId& id = operation.descriptor.id;
  PeState& program = state(id.pe);
  program.next_sequence = id.sequence + 1;
  if (program.in_flight.size() <= operation.completion.slot) program.in_flight.resize(operation.completion.slot + 1);
  InFlight& entry = program.in_flight[operation.completion.slot];
  entry.generation = operation.completion.generation;
  entry.kind = kinds_.of_operation(operation.descriptor, operation.where);
  entry.flows = flows_of(program, operation);
  TrackRecord issue;
  issue.kind = entry.kind;
  issue.value = id.sequence;
  issue.form = TrackRecord::Form::issue;
  add_issue(id.pe, issue);
}

OperationFlows Timeline::flows_of(PeState& pe, const IssuedOperation& operation) {
  const Descriptor& descriptor = operation.descriptor;
  OperationFlows flows = pe.loads.submitted(descriptor.id, operation.completion, descriptor.engine == Engine::dma_read);
  if (descriptor.engine != Engine::ipcq) return flows;
  const IpcqDescriptor& message = descriptor.ipcq();
  const auto side = static_cast<std::size_t>(message.direction);
  if (message.action == IpcqAction::send) {
    flows.starts = true;
    if (flows.count < flows.ids.size()) ++flows.count;
    std::rotate(flows.ids.begin(), flows.ids.end() - 1, flows.ids.end());
    flows.ids[0] = message_flow(message.peer, opposite(message.direction), pe.sent[side]++);
  } else {
    flows.ids[flows.count++] = message_flow(descriptor.id.pe, message.direction, pe.received[side]++);
  }
  return flows;
}

void Timeline::slot_filled(PeId pe, Direction from, Picoseconds /*at*/) {
  ++state(pe).landed[static_cast<std::size_t>(from)];
}

/// The numbers of messages by which their arrows are known go on alike at both ends.
void Timeline::was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) {
  for (const auto& [direction, other] : neighbours) {
    const auto here = static_cast<std::size_t>(direction);
    const auto there = static_cast<std::size_t>(opposite(direction));
    state(pe).received[here] = state(other).sent[there];
    state(pe).landed[here] = state(other).sent[there];
    state(pe).sent[here] = state(other).landed[there];
  }
  scratch_used(pe, Bytes(0), at);
}

const Timeline::InFlight* Timeline::find(const PeState& pe, Completion completion) noexcept {
  if (completion.generation == 0 || completion.slot >= pe.in_flight.size()) return nullptr;
  const InFlight& entry = pe.in_flight[completion.slot];
  return entry.generation == completion.generation ? &entry : nullptr;
}

void Timeline::wait_begins(const ProgramWait& wait) {
  PeState& program = state(wait.pe);
  program.wait = wait;
  program.waits = true;
}

void Timeline::wait_ends(const ProgramWait& wait, Picoseconds to) {
  state(wait.pe).waits = false;
  if (to > wait.from) add_wait(wait, to);
}

void Timeline::add_wait(const ProgramWait& wait, Picoseconds to) {
  PeState& program = state(wait.pe);
  TrackRecord record;
  record.form = TrackRecord::Form::wait;
  record.kind = SliceKinds::of_wait(TimeCause::issue);
  record.value = -1;
  add_issue(wait.pe, record);
  record.kind = SliceKinds::of_wait(wait.cause);
  record.start = wait.from;
  record.end = to;
  if (const InFlight* awaited = find(program, wait.on)) {
    record.other = awaited->kind;
    record.value = LoadFlows::sequence_of(wait.on, program.next_sequence);
  }
  add(index_of(wait.pe), TrackGroup::kernel, record);
}

void Timeline::scratch_used(PeId pe, Bytes bytes, Picoseconds at) {
  Value& value = state(pe).scratch;
  if (at > value.at) add_scratch(index_of(pe), value, at);
  value.at = at;
  value.value = bytes.count();
}

void Timeline::add_scratch(std::size_t pe, Value& value, Picoseconds known_at) {
  if (value.value == value.written) return;
  TrackRecord record;
  record.form = TrackRecord::Form::counter;
  record.start = value.at;
  record.end = known_at;
  record.value = value.value;
  value.written = value.value;
  add(pe, TrackGroup::scratch, record);
}

// ---- engines

void Timeline::completed(const CompletedOperation& operation) {
  const Descriptor& descriptor = operation.descriptor;
  PeState& program = state(descriptor.id.pe);
  const InFlight* entry = find(program, operation.completion);
  const TrackGroup group = group_of_operation(descriptor);
  TrackRecord record;
  record.start = operation.start;
  record.end = operation.end;
  record.value = descriptor.id.sequence;
  record.part = descriptor.id.part;
  record.lane =
      static_cast<std::uint16_t>(program.lanes[static_cast<std::size_t>(group)].place(operation.start, operation.end));
  record.kind = entry != nullptr ? entry->kind : kinds_.of_operation(descriptor, operation.where);
  const OperationFlows* flows = entry != nullptr ? &entry->flows : nullptr;
  if (flows != nullptr) {
    record.flows = flows->count;
    record.starts_flow = flows->starts;
    record.message = is_receive(descriptor);
  }
  add(index_of(descriptor.id.pe), group, record, flows);
}

// ---- memory

void Timeline::served(const ChannelService& service) {
  const std::size_t process = writer_.tracks().process_of(service.cube);
  const TrackGroup group = service.reads ? TrackGroup::hbm_read : TrackGroup::hbm_write;
  Traffic& traffic = traffic_[static_cast<std::size_t>(2 * service.cube.count()) + (service.reads ? 0 : 1)];
  if (traffic.bins.ready(service.eligible)) take_bins(traffic, process, group, service.eligible, service.eligible);
  traffic.bins.add(service.eligible, service.start, service.end, service.bytes);
}

void Timeline::take_bins(Traffic& traffic, std::size_t process, TrackGroup group, Picoseconds until,
                         Picoseconds known_at) {
  while (traffic.bins.ready(until)) {
    const BandwidthBins::Bin bin = traffic.bins.take();
    if (bin.start > traffic.end) add_traffic(traffic, process, group, traffic.end, known_at, Bytes(0));
    add_traffic(traffic, process, group, bin.start, known_at, bin.bytes);
    traffic.end = bin.start + traffic.bins.width();
  }
}

void Timeline::add_traffic(Traffic& traffic, std::size_t process, TrackGroup group, Picoseconds from,
                           Picoseconds known_at, Bytes bytes) {
  if (traffic.written == bytes.count()) return;
  TrackRecord record;
  record.form = TrackRecord::Form::counter;
  record.start = from;
  record.end = known_at;
  record.value = traffic.written = bytes.count();
  add(process, group, record);
}

// ---- the end

void Timeline::close(const RunNote& note) {
  add_what_is_open(note);
  streams_.hand_on_all(last_instant(note));
  hand_over();
  background_.finish();
  if (!note.complete) writer_.mark_all("run incomplete: " + note.reason, note.end);
  writer_.flush();
  file_.close();
  pending_.commit();
}

void Timeline::add_what_is_open(const RunNote& note) {
  for (std::size_t i = 0; i < pes_.size(); ++i) {
    PeState& program = pes_[i];
    if (program.waits) add_wait(program.wait, std::max(note.end, program.wait.from));
    add_scratch(i, program.scratch, std::max(note.end, program.scratch.at));
  }
  for (std::size_t i = 0; i < traffic_.size(); ++i) {
    Traffic& traffic = traffic_[i];
    const std::size_t process = pes_.size() + i / 2;
    const TrackGroup group = i % 2 == 0 ? TrackGroup::hbm_read : TrackGroup::hbm_write;
    take_bins(traffic, process, group, end_of_time, note.end);
    add_traffic(traffic, process, group, traffic.end, note.end, Bytes(0));
  }
}

}  // namespace kernwave::traces
