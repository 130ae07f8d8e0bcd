#include "platform/outputs/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "platform/files/whole_file.h"
#include "platform/report/report.h"
#include "platform/results/activity_document.h"
#include "platform/results/critical_path_document.h"
#include "platform/text/message_text.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

namespace fs = std::filesystem;

/// All that the request has written, side files included.
[[nodiscard]] std::vector<NamedFile> files_of(const OutputRequest& request) {
  std::vector<NamedFile> files;
  const auto add = [&files](const char* option, const std::string& path, const std::vector<std::string>& beside = {}) {
    if (path.empty()) return;
    files.push_back({option, path});
    for (const std::string& other : beside) files.push_back({option, other, path});
  };
  add("--json", request.json);
  const WaveformSideFiles of_waveform = side_files_of_waveform(request.vcd);
  add("--vcd", request.vcd, {of_waveform.save, of_waveform.states});
  add("--timeline", request.timeline);
  const bool has_path_file = request.critical_path && is_csv(request.op_log);
  add("--op-log", request.op_log,
      has_path_file ? std::vector<std::string>{path_file_of_op_log(request.op_log)} : std::vector<std::string>{});
  add("--report", request.report);
  return files;
}

void check_extensions(const OutputRequest& request) {
  if (!request.vcd.empty() && fs::path(request.vcd).extension() != ".vcd") {
    throw OutputError(fmt::format("--vcd: the name {} does not end with .vcd", in_quotes(request.vcd)));
  }
  const fs::path extension = fs::path(request.op_log).extension();
  if (!request.op_log.empty() && extension != ".sqlite" && extension != ".db" && extension != ".csv") {
    throw OutputError(
        fmt::format("--op-log: the name {} does not end with .sqlite, .db or .csv", in_quotes(request.op_log)));
  }
}

void check_interval(const char* option, Picoseconds from, const std::optional<Picoseconds>& to) {
  if (to && from >= *to) {
    throw OutputError(
        fmt::format("{0}-from {1} is not before {0}-to {2}", option, format_quantity(from), format_quantity(*to)));
  }
}

}  // namespace

std::vector<std::string> paths_of(const OutputRequest& request) {
  std::vector<std::string> paths;
  for (const NamedFile& file : files_of(request)) {
    if (file.beside.empty()) paths.push_back(file.path);
  }
  return paths;
}

void check_outputs(const OutputRequest& request, const std::vector<NamedFile>& inputs) {
  check_extensions(request);
  check_interval("--vcd", request.vcd_from, request.vcd_to);
  check_interval("--report", request.report_from, request.report_to);
  check_names(files_of(request), inputs);
}

namespace {

/// Nothing if it was not asked for.
[[nodiscard]] std::optional<traces::PendingFile> pending_document(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return writing(path, [&path] { return std::make_optional<traces::PendingFile>(path); });
}

}  // namespace

RunOutputs::RunOutputs(const OutputRequest& request, System& system) : system_(system) {
  if (request.critical_path) {
    const auto detail =
        request.op_log.empty() ? traces::CriticalPath::Detail::sums : traces::CriticalPath::Detail::segments;
    critical_path_ = std::make_unique<traces::CriticalPath>(system.config(), detail);
  }
  if (!request.report.empty()) {
    traces::RecordedWindow window;
    window.from = request.report_from;
    if (request.report_to) window.to = *request.report_to;
    report_ = std::make_unique<ReportObservers>(window);
  }
  if (!request.vcd.empty()) {
    add(make_waveform_output({request.vcd, request.vcd_scope, {request.vcd_from, request.vcd_to}}, system));
  }
  if (!request.timeline.empty()) add(make_timeline_output(request.timeline, system));
  if (!request.op_log.empty()) add(make_op_log_output(request.op_log));
  json_ = pending_document(request.json);
  report_file_ = pending_document(request.report);
}

void RunOutputs::attach() {
  if (critical_path_ != nullptr) pe_observers_.add(*critical_path_);
  if (report_ != nullptr) {
    pe_observers_.add(report_->series);
    pe_observers_.add(report_->recorder);
    channel_observers_.add(report_->series);
  }
  for (const auto& trace : traces_) {
    if (PeObserver* observer = trace->pe_observer()) pe_observers_.add(*observer);
    if (ChannelObserver* observer = trace->channel_observer()) channel_observers_.add(*observer);
  }
  system_.set_observer(pe_observers_.observer());
  system_.set_channel_observer(channel_observers_.observer());
}

template <typename Action>
void RunOutputs::attempt(const std::string& path, Action action) {
  try {
    action();
  } catch (const traces::WriteError& error) {
    problems_.emplace_back(cannot_write(path, error.what()).what());
  } catch (const std::exception& error) {
    problems_.emplace_back(error.what());
  }
}

void RunOutputs::finish_traces(const traces::RunNote& note) {
  // Those that have failed first: what they have written makes room for the others.
  std::stable_partition(traces_.begin(), traces_.end(), [](const auto& trace) { return trace->failed(); });
  for (auto& trace : traces_) {
    attempt(trace->path(), [&] {
      if (critical_path_ != nullptr && note.complete) trace->add_critical_path(*critical_path_);
      trace->finish(note);
    });
    trace.reset();  // what is not in its place goes, before anything else is written
  }
  traces_.clear();
}

void RunOutputs::complete(Json& document) const {
  if (critical_path_ != nullptr && document.at("complete").as_bool()) {
    document["critical_path"] = critical_path_document(critical_path_->summary());
  }
}

template <typename Text>
void RunOutputs::write_document(std::optional<traces::PendingFile>& file, Text text) {
  if (!file) return;
  attempt(file->path(), [&] {
    file->write(text());
    file->commit();
  });
  file.reset();
}

void RunOutputs::write_documents(const Json& document) {
  write_document(json_, [&document] { return to_text(document) + "\n"; });
  write_document(report_file_, [&] {
    return report_html(document, activity_document(report_->series, report_->recorder, system_.engines()));
  });
}

}  // namespace kernwave::platform
