#include "platform/run/outputs.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "platform/config/units.h"
#include "platform/file_system.h"
#include "platform/files.h"
#include "platform/message_text.h"
#include "platform/report/activity_document.h"
#include "platform/report/report.h"
#include "platform/run/critical_path_document.h"

namespace kernwave::platform {

namespace {

namespace fs = std::filesystem;

struct NamedPath {
  const char* option;
  const std::string& path;
};

[[nodiscard]] std::array<NamedPath, 5> files_of(const OutputRequest& request) {
  return {{{"--json", request.json},
           {"--vcd", request.vcd},
           {"--timeline", request.timeline},
           {"--op-log", request.op_log},
           {"--report", request.report}}};
}

/// The same for all names of one file; nothing for devices and pipes, which can be written by several.
[[nodiscard]] std::optional<std::string> identity_of(const std::string& path) {
  const std::string target = resolve_links(path);
  const auto existing = status_of(target);
  if (existing && !S_ISREG(existing->st_mode)) return std::nullopt;
  std::error_code error;
  const fs::path parent = fs::path(target).parent_path();
  const fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
  return (folder / fs::path(target).filename()).string();
}

void refuse_one_file_twice(const OutputRequest& request) {
  std::map<std::string, const char*> options;
  for (const NamedPath& file : files_of(request)) {
    if (file.path.empty()) continue;
    const auto identity = identity_of(file.path);
    if (!identity) continue;
    const auto [found, is_new] = options.emplace(*identity, file.option);
    if (!is_new) {
      throw OutputError(
          fmt::format("{} and {} name the same file, {}", found->second, file.option, in_quotes(file.path)));
    }
  }
}

void check_names(const OutputRequest& request) {
  if (!request.vcd.empty() && fs::path(request.vcd).extension() != ".vcd") {
    throw OutputError(fmt::format("--vcd: the name {} does not end with .vcd", in_quotes(request.vcd)));
  }
  const fs::path extension = fs::path(request.op_log).extension();
  if (!request.op_log.empty() && extension != ".sqlite" && extension != ".db" && extension != ".csv") {
    throw OutputError(
        fmt::format("--op-log: the name {} does not end with .sqlite, .db or .csv", in_quotes(request.op_log)));
  }
}

void check_stretch(const char* option, Picoseconds from, const std::optional<Picoseconds>& to) {
  if (to && from >= *to) {
    throw OutputError(
        fmt::format("{0}-from {1} is not before {0}-to {2}", option, format_quantity(from), format_quantity(*to)));
  }
}

}  // namespace

void check_outputs(const OutputRequest& request) {
  check_names(request);
  check_stretch("--vcd", request.vcd_from, request.vcd_to);
  check_stretch("--report", request.report_from, request.report_to);
  for (const NamedPath& file : files_of(request)) {
    if (!file.path.empty()) check_writable(file.path);
  }
  refuse_one_file_twice(request);
}

RunOutputs::RunOutputs(const OutputRequest& request, System& system) : request_(request), system_(system) {
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
    add(make_waveform_output(request.vcd, {"", request.vcd_scope, {request.vcd_from, request.vcd_to}}, system));
  }
  if (!request.timeline.empty()) add(make_timeline_output(request.timeline, system.config()));
  if (!request.op_log.empty()) add(make_op_log_output(request.op_log, request.critical_path));
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
  for (const auto& trace : traces_) {
    attempt(trace->path(), [&] {
      if (critical_path_ != nullptr && note.complete) trace->add_critical_path(*critical_path_);
      trace->finish(note);
    });
  }
}

void RunOutputs::complete(Json& document) const {
  if (critical_path_ != nullptr && document.at("complete").as_bool()) {
    document["critical_path"] = critical_path_document(critical_path_->summary());
  }
}

void RunOutputs::write_documents(const Json& document) {
  if (!request_.json.empty()) {
    attempt(request_.json, [&] { write_file_atomically(request_.json, to_text(document) + "\n"); });
  }
  if (report_ != nullptr) {
    attempt(request_.report, [&] {
      const Json activity = activity_document(report_->series, report_->recorder);
      write_file_atomically(request_.report, report_html(document, activity));
    });
  }
}

}  // namespace kernwave::platform
