#include "tests/support/timeline_reader.h"

#include <gtest/gtest.h>

#include "tests/support/test_files.h"
#include "tests/support/text_message.h"

namespace kernwave::testing {

namespace {

struct Track {
  std::string process;
  std::string name;
  std::int64_t last_ns = 0;
  std::int64_t last_ps = 0;
  bool open = false;
  TimelineSlice slice;  // that is open
};

class TimelineReader {
 public:
  [[nodiscard]] TimelineFile read(const std::string& path) {
    const TextMessage trace =
        read_protobuf(path, test_file("tests/traces/perfetto_subset.proto").string(), "perfetto.protos.Trace");
    const auto packets = trace.messages.find("packet");
    if (packets == trace.messages.end()) return {};
    EXPECT_EQ(packets->second.front().number("sequence_flags"), 1) << "the state of the sequence begins here";
    for (const TextMessage& packet : packets->second) {
      EXPECT_EQ(packet.number("trusted_packet_sequence_id"), 1);
      if (packet.has("interned_data")) learn_texts(packet.message("interned_data"));
      if (packet.has("track_descriptor")) learn_track(packet.message("track_descriptor"));
      if (packet.has("track_event")) take_event(packet, packet.message("track_event"));
    }
    for (const auto& [uuid, track] : tracks_) EXPECT_FALSE(track.open) << track.name;
    for (const auto& [rank, process] : process_ranks_) file_.processes.push_back(process);
    return file_;
  }

 private:
  void learn_texts(const TextMessage& data) {
    for (const auto& [table, texts] : data.messages) {
      for (const TextMessage& text : texts) {
        const bool is_new = texts_[table].emplace(text.text("iid"), text.text(text.has("str") ? "str" : "name")).second;
        EXPECT_TRUE(is_new) << table << " " << text.text("iid");
      }
    }
  }

  [[nodiscard]] std::string text(const std::string& table, const std::string& number) {
    EXPECT_EQ(texts_[table].count(number), 1U) << table << " " << number;
    return texts_[table][number];
  }

  void learn_track(const TextMessage& track) {
    const std::string uuid = track.text("uuid");
    if (track.has("process")) {
      const std::string name = track.message("process").text("process_name");
      EXPECT_TRUE(processes_.emplace(uuid, name).second);
      EXPECT_TRUE(process_ranks_.emplace(track.number("sibling_order_rank"), name).second);
    } else if (uuid != "0") {
      Track added;
      added.name = track.text("name");
      if (track.has("parent_uuid")) added.process = processes_.at(track.text("parent_uuid"));
      EXPECT_TRUE(tracks_.emplace(uuid, added).second);
    }
  }

  void take_event(const TextMessage& packet, const TextMessage& event) {
    const std::int64_t at = packet.number("timestamp");
    const std::string type = event.text("type");
    ASSERT_EQ(tracks_.count(event.text("track_uuid")), 1U);
    Track& track = tracks_[event.text("track_uuid")];
    if (type == "TYPE_COUNTER") {
      const std::string value = event.text(event.has("counter_value") ? "counter_value" : "double_counter_value");
      file_.counters[track.process + "/" + track.name].emplace_back(at, std::stod(value));
    } else if (type == "TYPE_INSTANT") {
      file_.instants.push_back(track.process + "/" + track.name + " at " + std::to_string(at) + ": " +
                               event.text("name"));
    } else if (type == "TYPE_SLICE_BEGIN") {
      EXPECT_EQ(packet.number("sequence_flags"), 2) << "it refers to texts";
      begin(track, event, at);
    } else {
      end(track, event, at);
    }
  }

  void begin(Track& track, const TextMessage& event, std::int64_t at) {
    EXPECT_FALSE(track.open) << track.name;
    TimelineSlice& slice = track.slice = TimelineSlice();
    track.open = true;
    slice.process = track.process;
    slice.track = track.name;
    slice.name = text("event_names", event.text("name_iid"));
    slice.begin_ns = at;
    const auto notes = event.messages.find("debug_annotations");
    for (const TextMessage& note : notes->second) {
      const std::string value = note.has("uint_value")
                                    ? note.text("uint_value")
                                    : text("debug_annotation_string_values", note.text("string_value_iid"));
      slice.notes[text("debug_annotation_names", note.text("name_iid"))] = value;
    }
    take_flows(slice, event);
    EXPECT_GE(at, track.last_ns) << track.process << " " << track.name;
    EXPECT_GE(slice.number("start_ps"), track.last_ps) << track.process << " " << track.name;
    EXPECT_EQ(at, slice.number("start_ps") / 1000);
  }

  void end(Track& track, const TextMessage& event, std::int64_t at) {
    EXPECT_TRUE(track.open);
    track.open = false;
    track.slice.end_ns = at;
    take_flows(track.slice, event);
    EXPECT_GE(track.slice.duration_ps(), 0);
    EXPECT_EQ(at, track.slice.number("end_ps") / 1000);
    track.last_ns = at;
    track.last_ps = track.slice.number("end_ps");
    file_.slices.push_back(track.slice);
  }

  static void take_flows(TimelineSlice& slice, const TextMessage& event) {
    for (const std::string& flow : event.all("flow_ids")) EXPECT_TRUE(slice.flows_out.insert(flow).second);
    for (const std::string& flow : event.all("terminating_flow_ids")) EXPECT_TRUE(slice.flows_in.insert(flow).second);
  }

  std::map<std::string, std::map<std::string, std::string>> texts_;
  std::map<std::string, std::string> processes_;
  std::map<std::int64_t, std::string> process_ranks_;
  std::map<std::string, Track> tracks_;
  TimelineFile file_;
};

}  // namespace

std::vector<TimelineSlice> TimelineFile::of_track(const std::string& process, const std::string& track) const {
  std::vector<TimelineSlice> found;
  for (const TimelineSlice& slice : slices) {
    if (slice.process == process && slice.track == track) found.push_back(slice);
  }
  return found;
}

TimelineFile read_timeline(const std::string& path) { return TimelineReader().read(path); }

}  // namespace kernwave::testing
