#include "platform/results/critical_path_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

using Output = std::back_insert_iterator<std::string>;

[[nodiscard]] Json causes_object(const traces::PathSummary::Causes& causes) {
  Json object = Json::object();
  for (std::size_t i = 0; i < traces::path_cause_count; ++i) {
    if (causes[i] != Picoseconds(0)) object[name_of(static_cast<traces::PathCause>(i))] = causes[i].count();
  }
  return object;
}

[[nodiscard]] std::string_view largest(const traces::PathSummary::Causes& causes) {
  const auto longest = std::max_element(causes.begin(), causes.end());
  return name_of(static_cast<traces::PathCause>(longest - causes.begin()));
}

[[nodiscard]] double percentage(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void add_causes(Output out, const Json& path, std::int64_t latency) {
  std::vector<Json::Member> causes = path.at("by_cause").as_object();
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Json::Member& a, const Json::Member& b) { return a.value.as_int() > b.value.as_int(); });
  fmt::format_to(out, "{:<15}{:>14}{:>12}\n", "critical path", "time", "% of time");
  for (const Json::Member& cause : causes) {
    fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%\n", cause.key, time_text(cause.value.as_int()),
                   percentage(cause.value.as_int(), latency));
  }
}

/// Of all lines of the path, with the slash at its end.
[[nodiscard]] std::string common_folder(const Json::Array& lines) {
  std::string folder = lines.empty() ? "" : lines.front().at("file").as_string();
  for (const Json& line : lines) {
    const std::string& file = line.at("file").as_string();
    const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    folder.erase(end, folder.end());
  }
  return folder.substr(0, folder.rfind('/') + 1);
}

void add_lines(Output out, const Json& path, std::int64_t latency) {
  const std::string folder = common_folder(path.at("by_line").as_array());
  fmt::format_to(out, "\n{:<15}{:>14}{:>12}  {:<13} where, below {}\n", "by line", "time", "% of time", "most of it",
                 folder);
  std::int64_t rest = 0;
  for (const Json& line : path.at("by_line").as_array()) {
    const std::int64_t time = line.at("ps").as_int();
    if (time * 1000 < latency) {
      rest += time;
      continue;
    }
    fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%  {:<13} {}:{}\n", "", time_text(time), percentage(time, latency),
                   line.at("cause").as_string(), line.at("file").as_string().substr(folder.size()),
                   line.at("line").as_int());
  }
  if (rest == 0) return;
  fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%\n", "other lines", time_text(rest), percentage(rest, latency));
}

void add_what_if(Output out, const Json& path, std::int64_t latency) {
  fmt::format_to(out, "\n{:<15}{:>14}{:>12}{:>14}  {}\n", "twice as fast", "predicted", "gain", "actual", "that is");
  for (const Json& prediction : path.at("what_if").as_array()) {
    const std::int64_t predicted = prediction.at("predicted_ps").as_int();
    const Json& actual = prediction.at("actual_ps");
    fmt::format_to(out, "  {:<13}{:>14}{:>11.1f}%{:>14}  {}\n", prediction.at("resource").as_string(),
                   time_text(predicted), percentage(latency - predicted, latency),
                   actual.is_null() ? "-" : time_text(actual.as_int()), prediction.at("keys").as_string());
  }
}

}  // namespace

Json critical_path_document(const traces::PathSummary& path) {
  Json lines = Json::array();
  for (const traces::PathSummary::Line& line : path.lines) {
    lines.push_back(Json::object({{"file", line.where.file},
                                  {"line", line.where.line},
                                  {"ps", line.total.count()},
                                  {"cause", largest(line.causes)},
                                  {"causes", causes_object(line.causes)}}));
  }
  Json what_if = Json::array();
  for (const Prediction& prediction : predict(path)) {
    what_if.push_back(Json::object({{"resource", name_of(prediction.resource)},
                                    {"keys", keys_of(prediction.resource)},
                                    {"predicted_ps", prediction.latency.count()},
                                    {"actual_ps", nullptr}}));
  }
  return Json::object({{"latency_ps", path.latency.count()},
                       {"by_cause", causes_object(path.causes)},
                       {"by_line", lines},
                       {"what_if", what_if}});
}

std::vector<Prediction> predictions_of(const Json& critical_path) {
  std::vector<Prediction> predictions;
  for (const Json& entry : critical_path.at("what_if").as_array()) {
    for (std::size_t i = 0; i < faster_count; ++i) {
      const auto resource = static_cast<Faster>(i);
      if (name_of(resource) == entry.at("resource").as_string()) {
        predictions.push_back({resource, Picoseconds(entry.at("predicted_ps").as_int())});
      }
    }
  }
  return predictions;
}

void set_actual(Json& critical_path, Faster resource, Picoseconds latency) {
  Json entries = Json::array();
  for (Json entry : critical_path.at("what_if").as_array()) {
    if (entry.at("resource").as_string() == name_of(resource)) entry["actual_ps"] = latency.count();
    entries.push_back(std::move(entry));
  }
  critical_path["what_if"] = entries;
}

std::string critical_path_text(const Json& critical_path) {
  std::string text;
  const Output out = std::back_inserter(text);
  const std::int64_t latency = critical_path.at("latency_ps").as_int();
  add_causes(out, critical_path, latency);
  add_lines(out, critical_path, latency);
  add_what_if(out, critical_path, latency);
  return text + "\n";
}

}  // namespace kernwave::platform
