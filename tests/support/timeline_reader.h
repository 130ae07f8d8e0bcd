// A timeline as it stands in its file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernwave::testing {

struct TimelineSlice {
  std::string process;
  std::string track;
  std::string name;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::map<std::string, std::string> notes;  ///< annotations; texts as texts
  std::set<std::string> flows_out;
  std::set<std::string> flows_in;

  /// -1 if there is no such note.
  [[nodiscard]] std::int64_t number(const std::string& note) const {
    const auto found = notes.find(note);
    return found == notes.end() ? -1 : std::stoll(found->second);
  }
  [[nodiscard]] std::int64_t duration_ps() const { return number("end_ps") - number("start_ps"); }
};

struct TimelineFile {
  std::vector<TimelineSlice> slices;  ///< of each track in the order in which they begin
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> counters;  ///< by "process/track": ns, value
  std::vector<std::string> instants;                                             ///< "process/track at ns: name"
  std::vector<std::string> processes;                                            ///< by their rank

  [[nodiscard]] std::vector<TimelineSlice> of_track(const std::string& process, const std::string& track) const;
};

/// Fails the calling test unless packets are as Perfetto wants them: every name, text and track is known before it is
/// used, and the slices of a track follow one another without overlap, in ns and in ps.
[[nodiscard]] TimelineFile read_timeline(const std::string& path);

}  // namespace kernwave::testing
