#include "platform/config/timing_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "platform/config/toml_document.h"
#include "platform/files/whole_file.h"
#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

/// The timing at the end of a path of pointers to members, from SystemConfig on.
template <TimingSubject subject, auto... members>
struct TimingAt {
  static const std::string& name(const SystemConfig& system) { return (system.*....*members).name; }
  static void apply(const TimingTable& table, SystemConfig& system) {
    if constexpr (subject == TimingSubject::link) {
      (system.*....*members) = link_timing(table);
    } else {
      kernwave::apply(table, system.pe);
    }
  }
};

template <TimingSubject subject, auto... members>
constexpr TimingKey timing_key(std::string_view path, std::string_view description) {
  using At = TimingAt<subject, members...>;
  return {path, subject, description, &At::name, &At::apply};
}

/// Reads one file, and keeps on after a problem.
class TableReader {
 public:
  TableReader(std::string path, TimingSubject subject, std::vector<Problem>& problems)
      : path_(std::move(path)), subject_(subject), problems_(problems) {
    table_.name = path_;
    table_.subject = subject;
    if (subject == TimingSubject::link) {
      table_.unit = TimingUnit::picoseconds;
      table_.outside = OutsideTable::extrapolate;
    }
  }

  TimingTable read() {
    constexpr std::int64_t limit_bytes = std::int64_t{16} << 20;
    try {
      const TomlNode file = parse_toml(read_file(path_, limit_bytes));
      for (const auto& [name, node] : file.members) read_member(name, node);
      if (table_.entries.empty() && problems_.empty()) {
        problem(0, "", fmt::format("has no [[{}]]: no times", name_of(subject_)));
      }
    } catch (const FileError& error) {
      problem(0, "", fmt::format("cannot be read: {}", error.reason()));
    } catch (const TomlError& error) {
      problem(error.line(), "", error.what());
    }
    return std::move(table_);
  }

 private:
  void problem(int line, std::string key, std::string message) {
    problems_.push_back({path_, line, std::move(key), std::move(message)});
  }

  void read_member(const std::string& name, const TomlNode& node) {
    if (name == "unit") {
      read_choice(name, node, {"cycles", "ps"}, table_.unit);
      if (subject_ == TimingSubject::link && table_.unit == TimingUnit::cycles) {
        problem(node.line, name, "links have no clock: give \"ps\"");
      }
    } else if (name == "outside") {
      read_choice(name, node, {"refuse", "formula", "extrapolate"}, table_.outside);
      if (subject_ == TimingSubject::link && table_.outside != OutsideTable::extrapolate) {
        problem(node.line, name, "a table of links always extrapolates");
      }
    } else if (name == "fixed") {
      table_.fixed = read_number(name, node).value_or(0);
    } else if (name == name_of(subject_) && node.kind == TomlNode::Kind::array) {
      for (const TomlNode& entry : node.elements) read_entry(entry);
    } else {
      problem(node.line, name, fmt::format("unknown key (allowed: unit, fixed, outside, [[{}]])", name_of(subject_)));
    }
  }

  template <typename Choice>
  void read_choice(const std::string& name, const TomlNode& node, const std::vector<std::string>& choices,
                   Choice& choice) {
    const auto* text = std::get_if<std::string>(&node.value);
    const auto found = text == nullptr ? choices.end() : std::find(choices.begin(), choices.end(), *text);
    if (found == choices.end()) {
      problem(node.line, name,
              fmt::format("expected \"{}\", got {}", fmt::join(choices, "\" or \""), describe(node.value)));
    } else {
      choice = static_cast<Choice>(found - choices.begin());
    }
  }

  std::optional<std::int64_t> read_number(const std::string& name, const TomlNode& node) {
    const auto* number = std::get_if<std::int64_t>(&node.value);
    if (number != nullptr && *number >= 0 && *number <= TimingGrid::most_value) return *number;
    problem(node.line, name,
            fmt::format("expected an integer from 0 to {}, got {}", TimingGrid::most_value, describe(node.value)));
    return std::nullopt;
  }

  std::vector<std::int64_t> read_numbers(const std::string& name, const TomlNode& node) {
    if (node.kind != TomlNode::Kind::array) {
      problem(node.line, name, fmt::format("expected an array of integers, got {}", describe(node.value)));
      return {};
    }
    std::vector<std::int64_t> numbers;
    for (const TomlNode& element : node.elements) {
      const std::optional<std::int64_t> number = read_number(name, element);
      if (!number) return {};
      numbers.push_back(*number);
    }
    return numbers;
  }

  /// Axes stand in the order in which `timing_axes` has them: of gemm, n runs fastest.
  void read_entry(const TomlNode& entry) {
    const std::size_t problems_before = problems_.size();
    std::vector<std::string> names;
    std::vector<std::vector<std::int64_t>> axes;
    std::vector<TimingEntry::Condition> conditions;
    for (const std::string_view axis : timing_axes(subject_)) {
      const TomlNode* node = entry.find(axis);
      if (node == nullptr) continue;
      names.emplace_back(axis);
      axes.push_back(read_numbers(names.back(), *node));
    }
    for (const std::string_view condition : timing_conditions(subject_)) {
      const TomlNode* node = entry.find(condition);
      if (node != nullptr) conditions.push_back(read_condition(std::string(condition), *node));
    }
    for (const auto& [name, node] : entry.members) check_name(name, node);
    const TomlNode* time = entry.find(time_key);
    if (time == nullptr) problem(entry.line, std::string(name_of(subject_)), "an entry without \"time\"");
    if (time == nullptr || problems_.size() > problems_before) return;
    std::vector<std::int64_t> values = read_numbers(std::string(time_key), *time);
    if (problems_.size() > problems_before) return;
    try {
      table_.entries.push_back(
          {std::move(conditions), std::move(names), TimingGrid(std::move(axes), std::move(values))});
    } catch (const std::invalid_argument& error) {
      problem(time->line, std::string(name_of(subject_)), error.what());
    }
  }

  TimingEntry::Condition read_condition(const std::string& name, const TomlNode& node) {
    const std::vector<std::string> allowed = timing_condition_values(subject_, name);
    std::string written;
    if (const auto* text = std::get_if<std::string>(&node.value)) written = *text;
    if (const auto* flag = std::get_if<bool>(&node.value)) written = *flag ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&node.value)) written = std::to_string(*number);
    if (std::find(allowed.begin(), allowed.end(), written) == allowed.end()) {
      problem(node.line, name, fmt::format("{} is none of {}", describe(node.value), fmt::join(allowed, ", ")));
    }
    return {name, written};
  }

  void check_name(const std::string& name, const TomlNode& node) {
    std::vector<std::string> allowed;
    for (const std::string_view axis : timing_axes(subject_)) allowed.emplace_back(axis);
    for (const std::string_view condition : timing_conditions(subject_)) allowed.emplace_back(condition);
    allowed.emplace_back(time_key);
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return;
    problem(node.line, name,
            fmt::format("unknown key{} (allowed in [[{}]]: {})", did_you_mean(name, allowed), name_of(subject_),
                        fmt::join(allowed, ", ")));
  }

  static constexpr std::string_view time_key = "time";

  std::string path_;
  TimingSubject subject_;
  std::vector<Problem>& problems_;
  TimingTable table_;
};

}  // namespace

const std::vector<TimingKey>& timing_keys() {
  static const std::vector<TimingKey> keys{
      timing_key<TimingSubject::gemm, &SystemConfig::pe, &PeConfig::gemm, &GemmConfig::timing>(
          "pe.gemm.timing", "a file of measured times, in the place of array, dataflow and scratch bandwidth"),
      timing_key<TimingSubject::math, &SystemConfig::pe, &PeConfig::math, &MathConfig::timing>(
          "pe.math.timing", "a file of measured times, in the place of lanes and cycles"),
      timing_key<TimingSubject::dma, &SystemConfig::pe, &PeConfig::dma, &DmaConfig::timing>(
          "pe.dma.timing", "a file of measured times, in the place of setup and bandwidth"),
      timing_key<TimingSubject::link, &SystemConfig::pe, &PeConfig::ipcq, &IpcqConfig::timing>(
          "ipcq.timing", "a file of measured times of a link, in the place of its bandwidth"),
      timing_key<TimingSubject::link, &SystemConfig::interconnect, &InterconnectConfig::timing>(
          "interconnect.timing", "a file of measured times of a cube's port, in the place of its bandwidth"),
  };
  return keys;
}

const TimingKey* find_timing_key(std::string_view path) noexcept {
  const auto found = std::find_if(timing_keys().begin(), timing_keys().end(),
                                  [path](const TimingKey& key) { return key.path == path; });
  return found == timing_keys().end() ? nullptr : &*found;
}

TimingTable read_timing_table(const std::string& path, TimingSubject subject, std::vector<Problem>& problems) {
  return TableReader(path, subject, problems).read();
}

}  // namespace kernwave::platform
