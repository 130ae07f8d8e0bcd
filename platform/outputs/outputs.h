// The output files of a run, from the request to the completed file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/system/system.h"
#include "platform/json/json.h"
#include "platform/outputs/output_names.h"
#include "platform/outputs/trace_output.h"
#include "traces/activity/activity_series.h"
#include "traces/activity/window_recorder.h"
#include "traces/critical_path/critical_path.h"
#include "traces/files/output.h"
#include "traces/files/pending_file.h"
#include "traces/observer_group.h"

namespace kernwave::platform {

/// Paths; empty: not asked for.
struct OutputRequest {
  std::string json;
  std::string vcd;
  std::string timeline;
  std::string op_log;
  std::string report;
  std::string vcd_scope = "*";
  Picoseconds vcd_from;
  std::optional<Picoseconds> vcd_to;  ///< none: to the end
  Picoseconds report_from;            ///< of the operations that the report draws one by one
  std::optional<Picoseconds> report_to;
  bool critical_path = false;
  bool verify_what_if = false;  ///< implies critical_path

  /// At least one file.
  [[nodiscard]] bool any_file() const noexcept {
    return !json.empty() || !vcd.empty() || !timeline.empty() || !op_log.empty() || !report.empty();
  }
};

/// The paths that were asked for.
[[nodiscard]] std::vector<std::string> paths_of(const OutputRequest& request);

/// Whether all that is asked for can be expected to be written, asked before long work; creates nothing. Throws
/// OutputError (a name with a wrong extension, an interval of time without length, all that check_names refuses) and
/// FileError.
void check_outputs(const OutputRequest& request, const std::vector<NamedFile>& inputs = {});

/// What the report draws beside the result.
struct ReportObservers {
  explicit ReportObservers(const traces::RecordedWindow& window) : recorder(window) {}

  traces::ActivitySeries series;
  traces::WindowRecorder recorder;
};

/// All outputs of one run. One that fails does not keep the others from being written: its problem is noted.
class RunOutputs {
 public:
  /// After elaboration of `system`, before its run. Makes the files, without names: what is not finished goes away with
  /// this object. Opens devices and pipes. Throws FileError, OutputError.
  RunOutputs(const OutputRequest& request, System& system);
  RunOutputs(const RunOutputs&) = delete;
  RunOutputs& operator=(const RunOutputs&) = delete;
  ~RunOutputs() = default;

  void add(std::unique_ptr<TraceOutput> output) { traces_.push_back(std::move(output)); }
  /// One more observer, which must outlive the run. Before `attach`.
  void observe(PeObserver& observer) { pe_observers_.add(observer); }
  /// Has the system's observers set; after the last `add`, before the run.
  void attach();

  /// The run has ended, however: every trace is completed and put in its place. One that cannot be gives the space that
  /// it took back.
  void finish_traces(const traces::RunNote& note);
  /// After finish_traces, of a run that has a result: adds to the document what observers know.
  void complete(Json& document) const;
  /// Writes the document and what is made from it.
  void write_documents(const Json& document);

  /// "cannot write ...", one for each output that is not in its place.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  /// Notes what `action` throws as the problem of the output at `path`.
  template <typename Action>
  void attempt(const std::string& path, Action action);

  template <typename Text>
  void write_document(std::optional<traces::PendingFile>& file, Text text);

  System& system_;
  std::unique_ptr<traces::CriticalPath> critical_path_;
  std::unique_ptr<ReportObservers> report_;
  std::vector<std::unique_ptr<TraceOutput>> traces_;
  std::optional<traces::PendingFile> json_;
  std::optional<traces::PendingFile> report_file_;
  traces::PeObserverGroup pe_observers_;
  traces::ChannelObserverGroup channel_observers_;
  std::vector<std::string> problems_;
};

}  // namespace kernwave::platform
