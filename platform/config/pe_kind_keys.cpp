#include "platform/config/pe_kind_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

#include "models/config/pe_kinds.h"
#include "platform/config/key_table.h"
#include "platform/text/message_text.h"
#include "platform/text/units.h"

namespace kernwave::platform {
namespace {

constexpr std::string_view kinds_table = "pe.kind";
constexpr std::string_view pe_table = "pe";

[[nodiscard]] ParseError not_ranges(const WrittenValue& value) {
  return ParseError(fmt::format("expected numbers of PEs such as \"0, 8-15\", got {}", describe(value)));
}

[[nodiscard]] PeRange read_range(std::string_view text, const WrittenValue& whole) {
  const auto number = [&whole](std::string_view digits) {
    std::int64_t value = 0;
    digits = trimmed(digits);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) throw not_ranges(whole);
    return value;
  };
  const std::size_t dash = text.find('-');
  const PeRange range{number(text.substr(0, dash)),
                      number(dash == std::string_view::npos ? text : text.substr(dash + 1))};
  if (range.last < range.first) throw not_ranges(whole);
  return range;
}

/// "0, 8-15".
[[nodiscard]] std::vector<PeRange> read_ranges(const WrittenValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && *number >= 0) {
    return {{*number, *number}};
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) throw not_ranges(value);
  std::vector<PeRange> ranges;
  std::string_view rest = *text;
  while (!trimmed(rest).empty()) {
    const std::size_t comma = rest.find(',');
    ranges.push_back(read_range(rest.substr(0, comma), value));
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return ranges;
}

[[nodiscard]] std::string print(const std::vector<PeRange>& ranges) {
  std::vector<std::string> texts;
  texts.reserve(ranges.size());
  for (const PeRange& range : ranges) {
    texts.push_back(range.first == range.last ? std::to_string(range.first)
                                              : fmt::format("{}-{}", range.first, range.last));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

[[nodiscard]] std::string path_of(const PeKind& kind, std::string_view name) {
  return fmt::format("{}.{}.{}", kinds_table, kind.name, name);
}

[[nodiscard]] std::optional<Problem> outside(const PeKind& kind, std::string_view key, const std::vector<PeRange>& pes,
                                             std::int64_t count, std::string_view who) {
  const auto beyond =
      std::find_if(pes.begin(), pes.end(), [count](const PeRange& range) { return range.last >= count; });
  if (beyond == pes.end()) return std::nullopt;
  return Problem{"", 0, path_of(kind, key),
                 fmt::format("{} no PE {} (allowed: 0 to {})", who, beyond->last, count - 1)};
}

}  // namespace

std::optional<KindPath> kind_path(std::string_view path) {
  if (path == kinds_table) return KindPath{"", std::string(pe_table)};
  if (!is_below(path, kinds_table)) return std::nullopt;
  const std::string_view rest = path.substr(kinds_table.size() + 1);
  const std::size_t dot = rest.find('.');
  return KindPath{std::string(rest.substr(0, dot)),
                  std::string(pe_table).append(dot == std::string_view::npos ? std::string_view{} : rest.substr(dot))};
}

std::string common_path(std::string_view path) {
  const std::optional<KindPath> of_kind = kind_path(path);
  return of_kind ? of_kind->common : std::string(path);
}

void apply_timings(const GivenTimings& timings, SystemConfig& system) {
  for (const auto& [key, table] : timings) {
    if (table) key->apply(*table, system);
  }
}

KindAssignments::Kind& KindAssignments::of(const std::string& name) {
  const auto found =
      std::find_if(kinds_.begin(), kinds_.end(), [&name](const Kind& kind) { return kind.chosen.name == name; });
  if (found != kinds_.end()) return *found;
  kinds_.emplace_back();
  kinds_.back().chosen.name = name;
  return kinds_.back();
}

bool KindAssignments::assign(const KindPath& path, const WrittenValue& value) {
  const std::string_view name = std::string_view(path.common).substr(std::min(path.common.size(), pe_table.size() + 1));
  if (name == kind_pes_key) {
    of(path.kind).chosen.pes = read_ranges(value);
    return true;
  }
  if (name == kind_of_each_cube_key) {
    of(path.kind).chosen.of_each_cube = read_ranges(value);
    return true;
  }
  const std::optional<std::size_t> index = index_of(path.common);
  if (!index) return false;
  const Key& key = all_keys()[*index];
  of(path.kind).values.emplace_back(&key, key.type.read(key, value));
  return true;
}

void KindAssignments::assign_timing(const std::string& kind, const TimingKey& key, std::optional<TimingTable> timing) {
  of(kind).timings.insert_or_assign(&key, std::move(timing));
}

std::vector<PeKind> KindAssignments::kinds(const SystemConfig& system, const GivenTimings& common) const {
  std::vector<PeKind> made;
  for (const Kind& kind : kinds_) {
    SystemConfig machine = system;
    for (const auto& [key, value] : kind.values) key->member.set(machine, value);
    GivenTimings timings = kind.timings;
    timings.insert(common.begin(), common.end());
    apply_timings(timings, machine);
    made.push_back(kind.chosen);
    made.back().pe = machine.pe;
  }
  return made;
}

std::vector<ConfigurationValue> kind_values(const SystemConfig& system, const PeKind& kind) {
  std::vector<ConfigurationValue> values;
  if (!kind.pes.empty()) values.push_back({path_of(kind, kind_pes_key), print(kind.pes)});
  if (!kind.of_each_cube.empty()) {
    values.push_back({path_of(kind, kind_of_each_cube_key), print(kind.of_each_cube)});
  }
  const SystemConfig machine = machine_of_kind(system, kind);
  for (const Key& key : all_keys()) {
    const std::int64_t value = key.member.get(machine);
    if (value == key.member.get(system)) continue;
    values.push_back({path_of(kind, key.path.substr(pe_table.size() + 1)), key.type.print(key, value)});
  }
  for (const TimingKey& key : timing_keys()) {
    if (key.name(machine) == key.name(system)) continue;
    values.push_back({path_of(kind, key.path.substr(pe_table.size() + 1)), key.name(machine)});
  }
  return values;
}

std::vector<Problem> kind_problems(const SystemConfig& system) {
  std::vector<Problem> problems;
  const auto add = [&problems](std::optional<Problem> problem) {
    if (problem) problems.push_back(std::move(*problem));
  };
  const std::int64_t count = system.cubes * system.pes_per_cube;
  for (const PeKind& kind : system.kinds) {
    if (kind.pes.empty() && kind.of_each_cube.empty()) {
      add(Problem{
          "", 0, fmt::format("{}.{}", kinds_table, kind.name),
          fmt::format("no PE is of this kind: give {} = \"0, 8-15\", numbers in the machine, or {} = \"0\", places "
                      "in every cube",
                      kind_pes_key, kind_of_each_cube_key)});
    }
    add(outside(kind, kind_pes_key, kind.pes, count, "there is"));
    add(outside(kind, kind_of_each_cube_key, kind.of_each_cube, system.pes_per_cube, "a cube has"));
  }
  for (std::int64_t pe = 0; pe < count && system.kinds.size() > 1; ++pe) {
    const PeKind* first = kind_of(system, PeId(pe));
    if (first == nullptr) continue;
    SystemConfig others = system;
    others.kinds.erase(others.kinds.begin() + (first - system.kinds.data()));
    const PeKind* second = kind_of(others, PeId(pe));
    if (second == nullptr) continue;
    add(Problem{"", 0, fmt::format("{}.{}", kinds_table, second->name),
                fmt::format("PE {} is of the kind \"{}\" already", pe, first->name)});
    break;
  }
  return problems;
}

}  // namespace kernwave::platform
