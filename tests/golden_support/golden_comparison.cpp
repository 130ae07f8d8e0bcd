#include "tests/golden_support/golden_comparison.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "models/pe/stall_account.h"

namespace kernwave::testing {

namespace {

/// "1,234,000".
[[nodiscard]] std::string in_thousands(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

/// "+6,000".
[[nodiscard]] std::string signed_text(std::int64_t value) { return (value > 0 ? "+" : "") + in_thousands(value); }

/// "+0.49 %".
[[nodiscard]] std::string percent_text(std::int64_t before, std::int64_t after) {
  if (before == 0) return "was 0";
  return fmt::format("{:+.2f} %", 100.0 * static_cast<double>(after - before) / static_cast<double>(before));
}

/// Of a group. That other PEs have nothing to do explains nothing.
[[nodiscard]] std::optional<FigureChange> largest(const std::vector<FigureChange>& all, std::string_view group) {
  std::optional<FigureChange> most;
  for (const FigureChange& change : all) {
    if (change.group != group || change.name == name_of(TimeCause::idle)) continue;
    if (!most || std::abs(change.by()) > std::abs(most->by())) most = change;
  }
  return most;
}

/// How the time of a program is told.
[[nodiscard]] std::string in_words(const std::string& cause) {
  if (cause == name_of(TimeCause::issue)) return "issuing";
  if (cause == name_of(TimeCause::drain)) return "draining";
  return "waiting for " + cause;
}

/// What moved most of each kind that explains a latency.
[[nodiscard]] std::string reasons(const std::vector<FigureChange>& all) {
  std::vector<std::string> found;
  if (const auto stall = largest(all, "stall_ps")) {
    found.push_back(fmt::format("{} {} ps over all PEs", in_words(stall->name), signed_text(stall->by())));
  }
  if (const auto segment = largest(all, "critical_path_ps")) {
    found.push_back(fmt::format("{} {} ps on the critical path", segment->name, signed_text(segment->by())));
  }
  if (const auto bound = largest(all, "issued_bounds_ps")) {
    found.push_back(fmt::format("the bound {} {} ps", bound->name, signed_text(bound->by())));
  }
  return found.empty() ? "no stall and no bound moved" : fmt::format("{}", fmt::join(found, ", "));
}

[[nodiscard]] std::string latency_text(const GoldenFigures& golden, const GoldenFigures& now) {
  const std::int64_t before = value_of(golden, "latency_ps", "");
  const std::int64_t after = value_of(now, "latency_ps", "");
  if (before == after) return fmt::format("latency {} ps as before", in_thousands(after));
  return fmt::format("latency {} -> {} ps ({}, {})", in_thousands(before), in_thousands(after),
                     signed_text(after - before), percent_text(before, after));
}

[[nodiscard]] std::string name_of(const FigureChange& change) {
  return change.name.empty() ? change.group : change.group + " " + change.name;
}

[[nodiscard]] std::string row_of(const FigureChange& change) {
  return fmt::format("    {:<32}{:>18} -> {:>18}  {:>16}  {:>10}\n", name_of(change), in_thousands(change.before),
                     in_thousands(change.after), signed_text(change.by()), percent_text(change.before, change.after));
}

}  // namespace

std::vector<FigureChange> changes(const GoldenFigures& golden, const GoldenFigures& now) {
  std::vector<FigureChange> found;
  for (const GoldenFigure& figure : golden) {
    const std::int64_t after = value_of(now, figure.group, figure.name);
    if (after != figure.value) found.push_back({figure.group, figure.name, figure.value, after});
  }
  for (const GoldenFigure& figure : now) {
    const bool told = value_of(golden, figure.group, figure.name) != 0;
    if (!told && figure.value != 0) found.push_back({figure.group, figure.name, 0, figure.value});
  }
  return found;
}

std::string headline_of(const GoldenFigures& golden, const GoldenFigures& now) {
  return latency_text(golden, now) + ": " + reasons(changes(golden, now));
}

std::vector<GoldenDifference> differences(const GoldenDocument& golden, const GoldenDocument& now) {
  using Kind = GoldenDifference::Kind;
  std::vector<GoldenDifference> found;
  for (const GoldenEntry& entry : now.entries) {
    const GoldenEntry* const before = golden.find(entry.policy, entry.options);
    if (before == nullptr) {
      found.push_back({Kind::added, entry.policy, entry.options, {}, entry.figures});
    } else if (!changes(before->figures, entry.figures).empty()) {
      found.push_back({Kind::changed, entry.policy, entry.options, before->figures, entry.figures});
    }
  }
  for (const GoldenEntry& entry : golden.entries) {
    if (now.find(entry.policy, entry.options) != nullptr) continue;
    found.push_back({Kind::removed, entry.policy, entry.options, entry.figures, {}});
  }
  return found;
}

std::string short_text(const GoldenDifference& difference) {
  const std::string name = fmt::format("  {} {}\n    ", difference.policy, difference.options);
  switch (difference.kind) {
    case GoldenDifference::Kind::added:
      return name + fmt::format("new: latency {} ps\n", in_thousands(value_of(difference.after, "latency_ps", "")));
    case GoldenDifference::Kind::removed:
      return name + "is not run any more\n";
    case GoldenDifference::Kind::changed:
      break;
  }
  return name + headline_of(difference.before, difference.after) + "\n";
}

std::string long_text(const GoldenDifference& difference) {
  std::string text = short_text(difference);
  if (difference.kind != GoldenDifference::Kind::changed) return text;
  for (const FigureChange& change : changes(difference.before, difference.after)) text += row_of(change);
  return text;
}

}  // namespace kernwave::testing
