// A timeline's records in Perfetto's trace format.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/files/byte_stream.h"
#include "traces/timeline/perfetto_tracks.h"
#include "traces/timeline/protobuf_writer.h"
#include "traces/timeline/slice_kinds.h"
#include "traces/timeline/track_streams.h"

namespace kernwave::traces {

/// Fields that are the same in all slices of a kind are encoded once. The file depends only on the records and their
/// order.
class PerfettoWriter {
 public:
  /// `hbm_bin`: the time over which a value of an HBM counter counts bytes. Outlived by `file`.
  PerfettoWriter(ByteStream& file, const SystemConfig& config, const EngineList& engines, Picoseconds hbm_bin);

  [[nodiscard]] const PerfettoTracks& tracks() const noexcept { return tracks_; }
  /// The kinds of slices that follow those known so far, before the first block with one of them.
  void learn(const std::vector<SliceKind>& kinds) { kinds_.insert(kinds_.end(), kinds.begin(), kinds.end()); }
  void write(const TrackStreams::Block& block);
  /// An instant on the kernel track of each PE that has one, and on a track that belongs to none.
  void mark_all(const std::string& text, Picoseconds at);
  /// Gives what has been written to the file; `write` does so by itself.
  void flush();

 private:
  /// Fields of an event, ready to be copied; empty: not encoded yet.
  struct EncodedKind {
    std::string service;
    std::string issue;
    std::string reference;  ///< to an operation of the kind, by one that waits for it
  };
  /// Texts that stand in the file once and are referred to by number. Looked up, never iterated.
  struct TextTable {
    std::uint32_t field;  ///< of InternedData
    std::unordered_map<std::string, std::uint64_t> numbers;
  };

  void begin_file();
  void write_begin(const TrackRecord& record, std::uint64_t track, const std::uint64_t* flows);
  void write_end(const TrackRecord& record, std::uint64_t track, const std::uint64_t* flows);
  void write_counter(const TrackRecord& record, TrackGroup group, std::uint64_t track);
  void mark(const std::string& text, Picoseconds at, std::uint64_t track);
  /// May write packets of its own.
  void encode_for(const TrackRecord& record);
  void encode_slice(KindNumber kind);
  void encode_reference(KindNumber kind);
  [[nodiscard]] std::uint64_t number_of(TextTable& table, const std::string& text);

  ByteStream& file_;
  std::vector<SliceKind> kinds_;
  Picoseconds hbm_bin_;
  PerfettoTracks tracks_;
  ProtobufWriter out_;
  ProtobufWriter fields_;  // of a kind
  std::vector<EncodedKind> encoded_;
  TextTable event_names_;
  TextTable annotation_texts_;
};

}  // namespace kernwave::traces
