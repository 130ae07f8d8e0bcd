#include "traces/timeline/perfetto_writer.h"

#include <array>
#include <string_view>

#include "traces/timeline/perfetto_fields.h"

namespace kernwave::traces {

namespace {

namespace packet = perfetto::trace_packet;
namespace event = perfetto::track_event;
namespace annotation = perfetto::debug_annotation;
namespace interned = perfetto::interned_data;

/// Names of annotations; a name's number is its place + 1.
enum class Note : std::uint8_t { sequence, part, start_ps, end_ps, bytes, flops, source, peer, operation, issued_at };
constexpr std::array<std::string_view, 10> note_names = {"sequence", "part",   "start_ps", "end_ps",    "bytes",
                                                         "flops",    "source", "peer",     "operation", "issued_at"};
static_assert(note_names.size() == static_cast<std::size_t>(Note::issued_at) + 1);

[[nodiscard]] constexpr std::uint64_t number_of(Note note) noexcept { return static_cast<std::uint64_t>(note) + 1; }

void put_note(ProtobufWriter& out, Note note, std::uint64_t value, perfetto::Field kind = annotation::uint_value) {
  const std::size_t message = out.begin(event::debug_annotations);
  out.varint(annotation::name_iid, number_of(note));
  out.varint(kind, value);
  out.end(message);
}

/// Puts a positive number.
void put_count(ProtobufWriter& out, Note note, std::int64_t value) {
  if (value > 0) put_note(out, note, static_cast<std::uint64_t>(value));
}

void put_text(ProtobufWriter& out, perfetto::Field table, std::uint64_t number, std::string_view text) {
  const std::size_t message = out.begin(table);
  out.varint(perfetto::interned_text::iid, number);
  out.text(perfetto::interned_text::text, text);
  out.end(message);
}

/// An event of a track in a packet of its own, open for further fields.
class EventPacket {
 public:
  EventPacket(ProtobufWriter& out, Picoseconds at, std::uint64_t type, std::uint64_t track, std::uint64_t flags = 0)
      : out_(out), packet_(out.begin(perfetto::trace::packet)) {
    out_.varint(packet::timestamp, static_cast<std::uint64_t>(at.count() / 1000));
    out_.varint(packet::trusted_packet_sequence_id, packet_sequence);
    if (flags != 0) out_.varint(packet::sequence_flags, flags);
    event_ = out_.begin(packet::track_event);
    out_.varint(event::type, type);
    out_.varint(event::track_uuid, track);
  }
  EventPacket(const EventPacket&) = delete;
  EventPacket& operator=(const EventPacket&) = delete;
  ~EventPacket() {
    out_.end(event_);
    out_.end(packet_);
  }

 private:
  ProtobufWriter& out_;
  std::size_t packet_;
  std::size_t event_ = 0;
};

}  // namespace

PerfettoWriter::PerfettoWriter(ByteStream& file, const SystemConfig& config, const EngineList& engines,
                               Picoseconds hbm_bin)
    : file_(file),
      hbm_bin_(hbm_bin),
      tracks_(config, engines),
      event_names_{interned::event_names, {}},
      annotation_texts_{interned::debug_annotation_string_values, {}} {
  begin_file();
}

/// The names of annotations, and that processes have an order.
void PerfettoWriter::begin_file() {
  const std::size_t message = out_.begin(perfetto::trace::packet);
  out_.varint(packet::trusted_packet_sequence_id, packet_sequence);
  out_.varint(packet::sequence_flags, packet::incremental_state_cleared);
  out_.varint(packet::first_packet_on_sequence, 1);
  const std::size_t names = out_.begin(packet::interned_data);
  for (std::size_t i = 0; i < note_names.size(); ++i) {
    put_text(out_, interned::debug_annotation_names, i + 1, note_names.at(i));
  }
  out_.end(names);
  const std::size_t root = out_.begin(packet::track_descriptor);
  out_.varint(perfetto::track_descriptor::uuid, 0);
  out_.varint(perfetto::track_descriptor::process_ordering, perfetto::track_descriptor::explicit_processes);
  out_.end(root);
  out_.end(message);
}

void PerfettoWriter::write(const TrackStreams::Block& block) {
  if (file_.failed()) return;
  const std::uint64_t* flows = block.flows.data();
  std::size_t lane = block.records.front().lane;
  std::uint64_t track = tracks_.uuid(block.process, block.group, lane, out_);
  for (const TrackRecord& record : block.records) {
    if (record.lane != lane) {
      lane = record.lane;
      track = tracks_.uuid(block.process, block.group, lane, out_);
    }
    if (record.form == TrackRecord::Form::counter) {
      write_counter(record, block.group, track);
    } else {
      encode_for(record);
      write_begin(record, track, flows);
      write_end(record, track, flows);
    }
    flows += record.flows;
  }
  flush();
}

void PerfettoWriter::flush() {
  file_.write(out_.data());
  out_.clear();
}

void PerfettoWriter::write_begin(const TrackRecord& record, std::uint64_t track, const std::uint64_t* flows) {
  const EventPacket opened(out_, record.start, event::slice_begin, track, packet::needs_incremental_state);
  const EncodedKind& kind = encoded_[record.kind];
  out_.encoded(record.form == TrackRecord::Form::issue ? kind.issue : kind.service);
  if (record.other != no_kind) out_.encoded(encoded_[record.other].reference);
  if (record.value >= 0) put_note(out_, Note::sequence, static_cast<std::uint64_t>(record.value));
  put_count(out_, Note::part, record.part);
  put_note(out_, Note::start_ps, static_cast<std::uint64_t>(record.start.count()));
  put_note(out_, Note::end_ps, static_cast<std::uint64_t>(record.end.count()));
  const std::size_t started = record.starts_flow ? 1 : 0;
  if (started > 0) out_.fixed64(event::flow_ids, flows[0]);
  if (record.message) return;
  for (std::size_t i = started; i < record.flows; ++i) out_.fixed64(event::terminating_flow_ids, flows[i]);
}

/// A receive may begin before its message is sent; an arrow to its beginning would point back in time.
void PerfettoWriter::write_end(const TrackRecord& record, std::uint64_t track, const std::uint64_t* flows) {
  const EventPacket opened(out_, record.end, event::slice_end, track);
  if (!record.message) return;
  for (std::size_t i = record.starts_flow ? 1 : 0; i < record.flows; ++i) {
    out_.fixed64(event::terminating_flow_ids, flows[i]);
  }
}

void PerfettoWriter::write_counter(const TrackRecord& record, TrackGroup group, std::uint64_t track) {
  const EventPacket opened(out_, record.start, event::counter, track);
  if (group == TrackGroup::scratch) {
    out_.varint(event::counter_value, static_cast<std::uint64_t>(record.value));
  } else {  // bytes a picosecond are TB/s
    const double bytes_per_picosecond = static_cast<double>(record.value) / static_cast<double>(hbm_bin_.count());
    out_.real(event::double_counter_value, 1000.0 * bytes_per_picosecond);
  }
}

void PerfettoWriter::mark_all(const std::string& text, Picoseconds at) {
  for (std::size_t process = 0; process < tracks_.pes(); ++process) {
    if (tracks_.known(process, TrackGroup::kernel)) {
      mark(text, at, tracks_.uuid(process, TrackGroup::kernel, 0, out_));
    }
  }
  mark(text, at, tracks_.run_uuid(out_));
}

void PerfettoWriter::mark(const std::string& text, Picoseconds at, std::uint64_t track) {
  const EventPacket opened(out_, at, event::instant, track);
  out_.text(event::name, text);
}

void PerfettoWriter::encode_for(const TrackRecord& record) {
  if (encoded_.size() < kinds_.size()) encoded_.resize(kinds_.size());
  if (encoded_[record.kind].service.empty()) encode_slice(record.kind);
  if (record.other != no_kind && encoded_[record.other].reference.empty()) encode_reference(record.other);
}

void PerfettoWriter::encode_slice(KindNumber number) {
  const SliceKind& kind = kinds_[number];
  EncodedKind& encoded = encoded_[number];
  std::string source;
  if (!kind.source.empty()) {
    fields_.clear();
    put_note(fields_, Note::source, number_of(annotation_texts_, kind.source), annotation::string_value_iid);
    source = fields_.data();
  }
  fields_.clear();
  fields_.varint(event::name_iid, number_of(event_names_, kind.name));
  put_count(fields_, Note::bytes, kind.bytes);
  put_count(fields_, Note::flops, kind.flops);
  if (kind.peer >= 0) put_note(fields_, Note::peer, static_cast<std::uint64_t>(kind.peer));
  encoded.service = std::string(fields_.data()) + source;
  if (kind.issue.empty()) return;
  fields_.clear();
  fields_.varint(event::name_iid, number_of(event_names_, kind.issue));
  encoded.issue = std::string(fields_.data()) + source;
}

void PerfettoWriter::encode_reference(KindNumber number) {
  const SliceKind& kind = kinds_[number];
  fields_.clear();
  put_note(fields_, Note::operation, number_of(annotation_texts_, kind.name), annotation::string_value_iid);
  put_note(fields_, Note::issued_at, number_of(annotation_texts_, kind.source), annotation::string_value_iid);
  encoded_[number].reference = fields_.data();
}

std::uint64_t PerfettoWriter::number_of(TextTable& table, const std::string& text) {
  const auto [place, is_new] = table.numbers.try_emplace(text, table.numbers.size() + 1);
  if (is_new) {
    const std::size_t message = out_.begin(perfetto::trace::packet);
    out_.varint(packet::trusted_packet_sequence_id, packet_sequence);
    const std::size_t data = out_.begin(packet::interned_data);
    put_text(out_, table.field, place->second, text);
    out_.end(data);
    out_.end(message);
  }
  return place->second;
}

}  // namespace kernwave::traces
