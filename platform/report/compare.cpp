#include "platform/report/compare.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/report/report_page.h"
#include "platform/report/report_table.h"
#include "platform/report/result_check.h"
#include "platform/report/result_tables.h"
#include "platform/report/roofline.h"
#include "platform/results/quotient.h"
#include "platform/results/result_figures.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

struct Pair {
  const Json& a;
  const Json& b;
};

[[nodiscard]] std::string ratio_text(std::int64_t a, std::int64_t b) {
  return a == 0 ? "-" : fmt::format("{:.3f}", quotient(b, a));
}

[[nodiscard]] ReportTable table_of(const std::string& title) { return {title, {"", "A", "B", "B / A"}, {}}; }

/// Left out where both are 0.
void add_times(ReportTable& table, const std::string& name, std::int64_t a, std::int64_t b) {
  if (a == 0 && b == 0) return;
  table.rows.push_back({name, time_text(a), time_text(b), ratio_text(a, b)});
}

void add_counts(ReportTable& table, const std::string& name, std::int64_t a, std::int64_t b) {
  if (a == 0 && b == 0) return;
  table.rows.push_back({name, fmt::format("{}", a), fmt::format("{}", b), ratio_text(a, b)});
}

[[nodiscard]] std::int64_t latency_of(const Json& result) { return result.at("latency_ps").as_int(); }

[[nodiscard]] std::string multiple_text(const Json& result) {
  const BindingBound bound = binding_bound(result);
  if (bound.picoseconds == 0) return "-";
  return fmt::format("{:.3f}", quotient(latency_of(result), bound.picoseconds));
}

[[nodiscard]] ReportTable latency_table(const Pair& runs) {
  ReportTable table = table_of("latency");
  add_times(table, "latency", latency_of(runs.a), latency_of(runs.b));
  table.rows.push_back({"bound by", binding_bound(runs.a).resource, binding_bound(runs.b).resource, ""});
  table.rows.push_back({"latency / bound", multiple_text(runs.a), multiple_text(runs.b), ""});
  add_counts(table, "PEs that worked", active_pes(runs.a), active_pes(runs.b));
  return table;
}

[[nodiscard]] ReportTable bounds_table(const Pair& runs, std::string_view kind) {
  ReportTable table = table_of(fmt::format("{} bounds", kind));
  const Json& of_b = runs.b.at("bounds_ps").at(kind);
  for (const Json::Member& bound : runs.a.at("bounds_ps").at(kind).as_object()) {
    add_times(table, bound.key, bound.value.as_int(), of_b.at(bound.key).as_int());
  }
  return table;
}

using PerPe = std::int64_t (*)(const Json& result, std::string_view key);

[[nodiscard]] std::int64_t average(const Json& result, PerPe sum, std::string_view key) {
  const std::int64_t pes = active_pes(result);
  return pes == 0 ? 0 : sum(result, key) / pes;
}

/// `key` of the document holds an object for each PE, of the names of the rows.
[[nodiscard]] ReportTable per_pe_table(const Pair& runs, const std::string& title, std::string_view key, PerPe sum) {
  ReportTable table = table_of(title);
  const Json::Object& pes = runs.a.at(key).as_object();
  if (pes.empty()) return table;
  for (const Json::Member& row : pes.front().value.as_object()) {
    add_times(table, row.key, average(runs.a, sum, row.key), average(runs.b, sum, row.key));
  }
  return table;
}

[[nodiscard]] ReportTable work_table(const Pair& runs) {
  ReportTable table = table_of("work");
  for (const std::string_view group : {"counts", "bytes", "flops"}) {
    const Json& of_b = runs.b.at(group);
    for (const Json::Member& member : runs.a.at(group).as_object()) {
      const std::string name = group == "counts" ? member.key : fmt::format("{} {}", member.key, group);
      add_counts(table, name, member.value.as_int(), of_b.at(member.key).as_int());
    }
  }
  return table;
}

/// Keys of both objects, those of the first in front.
[[nodiscard]] std::vector<std::string> keys_of(const Json& a, const Json& b) {
  std::vector<std::string> keys;
  for (const Json::Member& member : a.as_object()) keys.push_back(member.key);
  for (const Json::Member& member : b.as_object()) {
    if (a.find(member.key) == nullptr) keys.push_back(member.key);
  }
  return keys;
}

void add_differences(ReportTable& table, const std::string& prefix, const Json& a, const Json& b) {
  for (const std::string& key : keys_of(a, b)) {
    const Json* const left = a.find(key);
    const Json* const right = b.find(key);
    if (left != nullptr && right != nullptr && *left == *right) continue;
    table.rows.push_back(
        {prefix + key, left == nullptr ? "-" : value_text(*left), right == nullptr ? "-" : value_text(*right)});
  }
}

[[nodiscard]] ReportTable differences_table(const Pair& runs) {
  ReportTable table{"what differs", {"", "A", "B"}, {}, true};
  for (const std::string_view key : {"kernel", "policy", "data", "version", "revision"}) {
    const Json& a = runs.a.at(key);
    const Json& b = runs.b.at(key);
    if (a != b) table.rows.push_back({std::string(key), value_text(a), value_text(b)});
  }
  add_differences(table, "shape ", runs.a.at("shape"), runs.b.at("shape"));
  add_differences(table, "", runs.a.at("config"), runs.b.at("config"));
  if (table.rows.empty()) table.rows.push_back({"nothing", "", ""});
  return table;
}

[[nodiscard]] std::vector<ReportTable> comparison_tables(const Pair& runs) {
  return {latency_table(runs),
          differences_table(runs),
          bounds_table(runs, "compulsory"),
          bounds_table(runs, "issued"),
          per_pe_table(runs, "engines, busy per PE", "busy_ps", busy_of),
          per_pe_table(runs, "time per PE", "stall_ps", stalled_for),
          work_table(runs)};
}

[[nodiscard]] std::string headline_of(const Pair& runs) {
  const std::int64_t a = latency_of(runs.a);
  const std::int64_t b = latency_of(runs.b);
  if (a == b) return fmt::format("A and B take the same time, {}.", time_text(a));
  if (a == 0 || b == 0) return fmt::format("A takes {}, B {}.", time_text(a), time_text(b));
  const bool faster = b < a;
  return fmt::format("B is {:.3f} x as {} as A: {} instead of {}.", faster ? quotient(a, b) : quotient(b, a),
                     faster ? "fast" : "slow", time_text(b), time_text(a));
}

void add_warnings(std::vector<std::string>& warnings, std::string_view letter, const Json& result) {
  const Verdict words = verdict(result);
  for (const std::string& warning : words.warnings) {
    warnings.push_back(fmt::format("{}: {}", letter, warning));
  }
}

/// The cause whose time per PE changed most.
[[nodiscard]] std::string largest_change(const Pair& runs) {
  std::string cause;
  std::int64_t most = 0;
  for (const Json::Member& member : runs.a.at("stall_ps").as_object().front().value.as_object()) {
    const std::int64_t change = average(runs.b, stalled_for, member.key) - average(runs.a, stalled_for, member.key);
    if (std::abs(change) <= std::abs(most)) continue;
    cause = member.key;
    most = change;
  }
  if (most == 0) return {};
  return fmt::format("What changed most is the time of cause {}: {} {} per PE.", cause, time_text(std::abs(most)),
                     most < 0 ? "less" : "more");
}

[[nodiscard]] Verdict compared(const Pair& runs) {
  Verdict words;
  add_warnings(words.warnings, "A", runs.a);
  add_warnings(words.warnings, "B", runs.b);
  words.headline = headline_of(runs);
  if (std::string change = largest_change(runs); !change.empty()) words.findings.push_back(std::move(change));
  words.findings.push_back("A: " + verdict(runs.a).headline);
  words.findings.push_back("B: " + verdict(runs.b).headline);
  return words;
}

[[nodiscard]] std::string text_of(const ComparedRun& a, const ComparedRun& b) {
  const Pair runs{a.result, b.result};
  const Verdict words = compared(runs);
  std::string text = fmt::format("A  {}\n   {}\nB  {}\n   {}\n\n", a.name, a.result.at("command").as_string(), b.name,
                                 b.result.at("command").as_string());
  for (const std::string& warning : words.warnings) text += warning + "\n";
  text += words.headline + "\n";
  for (const std::string& finding : words.findings) text += finding + "\n";
  text += "\n";
  for (const ReportTable& table : comparison_tables(runs)) text += to_text(table);
  text.pop_back();
  return text;
}

[[nodiscard]] std::string html_of(const ComparedRun& a, const ComparedRun& b) {
  const Pair runs{a.result, b.result};
  Json tables = Json::array();
  for (const ReportTable& table : comparison_tables(runs)) {
    if (!table.rows.empty()) tables.push_back(to_json(table));
  }
  ReportPage page;
  page.title = "Comparison of two runs";
  page.subtitle = fmt::format("A: {}\nB: {}", a.name, b.name);
  page.verdict = compared(runs);
  page.findings_title = "What changed";
  page.data = Json::object({{"names", Json::array({Json("A"), Json("B")})},
                            {"results", Json::array({a.result, b.result})},
                            {"rooflines", Json::array({to_json(roofline(a.result)), to_json(roofline(b.result))})},
                            {"activity", nullptr},
                            {"tables", tables}});
  return to_html(page);
}

/// Keys of the right names may still hold anything: whatever a reader then throws becomes an error about the documents.
[[nodiscard]] std::string checked(const ComparedRun& a, const ComparedRun& b,
                                  const std::function<std::string(const ComparedRun&, const ComparedRun&)>& make) {
  require_result_document(a.result, a.name);
  require_result_document(b.result, b.name);
  try {
    return make(a, b);
  } catch (const std::exception& error) {
    throw ReportError(fmt::format("{} and {} cannot be compared: {}", a.name, b.name, error.what()));
  }
}

}  // namespace

std::string comparison_text(const ComparedRun& a, const ComparedRun& b) { return checked(a, b, text_of); }

std::string comparison_html(const ComparedRun& a, const ComparedRun& b) { return checked(a, b, html_of); }

}  // namespace kernwave::platform
