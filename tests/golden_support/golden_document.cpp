#include "tests/golden_support/golden_document.h"

#include <algorithm>
#include <map>

#include "platform/files/whole_file.h"

namespace kernwave::testing {

using platform::Json;

namespace {

void add(GoldenFigures& figures, const std::string& group, const std::string& name, std::int64_t value) {
  if (value != 0) figures.push_back({group, name, value});
}

void add_all(GoldenFigures& figures, const std::string& group, const Json& object) {
  for (const Json::Member& member : object.as_object()) add(figures, group, member.key, member.value.as_int());
}

/// The sum over the members, which are objects of equal keys.
void add_sums(GoldenFigures& figures, const std::string& group, const Json& object) {
  if (object.size() == 0) return;
  std::map<std::string, std::int64_t> sums;
  for (const Json::Member& part : object.as_object()) {
    for (const Json::Member& member : part.value.as_object()) sums[member.key] += member.value.as_int();
  }
  for (const Json::Member& member : object.as_object().front().value.as_object()) {
    add(figures, group, member.key, sums[member.key]);
  }
}

[[nodiscard]] Json to_json(const GoldenDocument& document) {
  Json runs = Json::object();
  for (const GoldenEntry& entry : document.entries) runs[entry.policy][entry.options] = to_json(entry.figures);
  return Json::object({{"kernel", document.kernel}, {"runs", runs}});
}

[[nodiscard]] GoldenDocument document_from_json(const Json& json) {
  GoldenDocument document;
  document.kernel = json.at("kernel").as_string();
  for (const Json::Member& policy : json.at("runs").as_object()) {
    for (const Json::Member& run : policy.value.as_object()) {
      document.entries.push_back({policy.key, run.key, figures_from_json(run.value)});
    }
  }
  return document;
}

}  // namespace

std::int64_t value_of(const GoldenFigures& figures, const std::string& group, const std::string& name) {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const GoldenFigure& figure) {
    return figure.group == group && figure.name == name;
  });
  return found == figures.end() ? 0 : found->value;
}

GoldenFigures figures_of(const Json& result) {
  GoldenFigures figures;
  add(figures, "latency_ps", "", result.at("latency_ps").as_int());
  add_all(figures, "counts", result.at("counts"));
  add_all(figures, "bytes", result.at("bytes"));
  add_all(figures, "flops", result.at("flops"));
  add_all(figures, "issued_bounds_ps", result.at("bounds_ps").at("issued"));
  add_sums(figures, "stall_ps", result.at("stall_ps"));
  add_all(figures, "critical_path_ps", result.at("critical_path").at("by_cause"));
  return figures;
}

const GoldenEntry* GoldenDocument::find(const std::string& policy, const std::string& options) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const GoldenEntry& entry) {
    return entry.policy == policy && entry.options == options;
  });
  return found == entries.end() ? nullptr : &*found;
}

Json to_json(const GoldenFigures& figures) {
  Json json = Json::object();
  for (const GoldenFigure& figure : figures) {
    Json& group = json[figure.group];
    (figure.name.empty() ? group : group[figure.name]) = figure.value;
  }
  return json;
}

GoldenFigures figures_from_json(const Json& json) {
  GoldenFigures figures;
  for (const Json::Member& group : json.as_object()) {
    if (group.value.is_object()) {
      add_all(figures, group.key, group.value);
    } else {
      add(figures, group.key, "", group.value.as_int());
    }
  }
  return figures;
}

std::string to_text(const GoldenDocument& document) { return platform::to_text(to_json(document)) + "\n"; }

std::filesystem::path golden_path(const std::filesystem::path& folder, const std::string& kernel) {
  return folder / (kernel + ".json");
}

GoldenDocument read_golden(const std::filesystem::path& folder, const std::string& kernel) {
  const std::string path = golden_path(folder, kernel).string();
  const Json json = platform::parse_json(platform::read_file(path), path);
  try {
    return document_from_json(json);
  } catch (const platform::JsonError& error) {
    throw platform::JsonError(path + ": " + error.what());
  }
}

void write_golden(const std::filesystem::path& folder, const GoldenDocument& document) {
  platform::write_file_atomically(golden_path(folder, document.kernel).string(), to_text(document));
}

}  // namespace kernwave::testing
