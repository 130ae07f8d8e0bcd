#include "platform/config/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/config/pe_kinds.h"
#include "platform/config/key_table.h"
#include "platform/config/math_table.h"
#include "platform/config/pe_kind_keys.h"
#include "platform/config/presets.h"
#include "platform/config/renamed_keys.h"
#include "platform/config/rules.h"
#include "platform/config/timing_keys.h"
#include "platform/config/toml_document.h"
#include "platform/config/written_value.h"
#include "platform/files/whole_file.h"
#include "platform/text/message_text.h"
#include "platform/text/units.h"

namespace kernwave::platform {
namespace {

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// ---- messages ---------------------------------------------------------------------------------------------------

/// Paths that end in `path`: what a user meant who left out the tables around it.
std::vector<std::string> longer_paths(std::string_view path, const std::vector<std::string>& candidates) {
  std::vector<std::string> found;
  const std::string end = fmt::format(".{}", path);
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(found),
               [&end](const std::string& candidate) { return ends_with(candidate, end); });
  return found;
}

/// Keys and tables directly below a table.
std::vector<std::string> allowed_below(std::string_view table) {
  std::vector<std::string> names = names_below(table);
  for (const TimingKey& key : timing_keys()) {
    if (table_of(key.path) == table) names.emplace_back(key.path.substr(table.size() + 1));
  }
  return names;
}

std::vector<std::string> all_paths() {
  std::vector<std::string> paths = key_paths();
  for (const TimingKey& key : timing_keys()) paths.emplace_back(key.path);
  return paths;
}

std::string unknown_key_message(std::string_view path, const std::vector<std::string>& candidates) {
  constexpr std::size_t max_suggestions = 6;
  const std::vector<std::string> longer = longer_paths(path, candidates);
  const bool use_longer = !longer.empty() && longer.size() <= max_suggestions;
  const std::string suggestion = use_longer ? fmt::format("; did you mean \"{}\"?", fmt::join(longer, "\" or \""))
                                            : did_you_mean(path, candidates);
  std::string_view table = table_of(path);
  while (!table.empty() && !is_table(table)) table = table_of(table);
  const std::string place = table.empty() ? "at the top" : fmt::format("in [{}]", table);
  return fmt::format("unknown key{} (allowed {}: {})", suggestion, place, fmt::join(allowed_below(table), ", "));
}

std::string table_expected_message(std::string_view path, const WrittenValue& value) {
  return fmt::format("is a table of keys ({}), not a single value; got {}", fmt::join(allowed_below(path), ", "),
                     describe(value));
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : shipped_presets()) names.emplace_back(preset.name);
  return names;
}

std::string unknown_preset_message(std::string_view name) {
  const std::vector<std::string> names = preset_names();
  return fmt::format("unknown preset {}{} (presets: {}; the name of a file ends in .toml)", in_quotes(name),
                     did_you_mean(name, names), fmt::join(names, ", "));
}

/// Of a value that the key does not take.
std::string refusal_text(const Key& key, const ParseError& error) {
  return fmt::format("{} (allowed: {})", error.what(), key.type.allowed(key));
}

// ---- loading ----------------------------------------------------------------------------------------------------

struct Place {
  std::string file;
  int line = 0;
};

/// A component of a path as TOML would write it, so that the quoted key "pe.clock" is not taken for clock in [pe].
std::string component(std::string_view name) {
  const bool is_bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return is_bare ? std::string(name) : in_quotes(name);
}

/// Applies layer after layer to a SystemConfig and collects every problem on the way.
class Loader {
 public:
  void apply_source(const std::string& source) {
    if (ends_with(source, ".toml")) {
      apply_file(source);
    } else {
      apply_preset(source, Place{}, "");
    }
  }

  void apply_override(const std::string& text) {
    const Place place{"--set"};
    const std::size_t equals = text.find('=');
    const std::string_view path = trimmed(std::string_view(text).substr(0, equals));
    if (equals == std::string::npos || path.empty()) {
      add_problem(place, "", fmt::format("{} is not KEY=VALUE; write --set pe.gemm.rows=128", in_quotes(text)));
      return;
    }
    const WrittenValue value = written_value_of(trimmed(std::string_view(text).substr(equals + 1)));
    if (path == preset_key) {
      add_problem(place, std::string(path), "the preset is chosen by name or in a file, not by --set");
    } else {
      apply_value(place, std::string(path), value);
    }
  }

  [[nodiscard]] Configuration finish() {
    check_rules();
    if (problems_.empty()) make_kinds();
    if (!problems_.empty()) throw ConfigurationError(std::move(problems_));
    apply_timings(timings_, configuration_.system);
    configuration_.warnings = warnings_of(configuration_.system);
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      if (origins_[i].order > of_preset_) configuration_.given.emplace_back(all_keys()[i].path);
    }
    std::move(kind_keys_.begin(), kind_keys_.end(), std::back_inserter(configuration_.given));
    for (const RenamedKey& key : renamed_keys) {
      if (old_names_.count(key.old_path) != 0) {
        configuration_.notes.push_back(
            fmt::format("{} is now called {}; the next version does not know the old name", key.old_path, key.path));
      }
    }
    return std::move(configuration_);
  }

 private:
  static constexpr std::string_view preset_key = "preset";

  /// Where a key was last set.
  struct Origin {
    Place place;
    std::string path;        ///< as it was written: the key's, or one that it had before
    int order = 0;           ///< counts assignments
    bool is_faulty = false;  ///< the last value was refused: rules about it would mislead
  };

  void add_problem(const Place& place, std::string key, std::string message) {
    problems_.push_back(Problem{place.file, place.line, std::move(key), std::move(message)});
  }

  void apply_file(const std::string& path) {
    constexpr std::int64_t limit_bytes = 65'536;  // far above any real configuration
    try {
      apply_text(read_file(path, limit_bytes), path, default_preset);
    } catch (const FileError& error) {
      add_problem(Place{path}, "", fmt::format("cannot be read: {}", error.reason()));
    }
  }

  void apply_preset(std::string_view name, const Place& place, std::string_view key) {
    const Preset* const preset = find_preset(name);
    if (preset == nullptr) {
      add_problem(place, std::string(key), unknown_preset_message(name));
      return;
    }
    apply_text(preset->toml, fmt::format("preset {}", name), "");
    configuration_.preset = name;
    of_preset_ = assignments_;
  }

  /// `base`: the preset that comes first if the text names none; empty for none.
  void apply_text(std::string_view text, const std::string& file, std::string_view base) {
    const std::size_t first_problem = problems_.size();
    try {
      const TomlNode table = parse_toml(text);
      apply_base(table, file, base);
      apply_table(table, "", file);
    } catch (const TomlError& error) {
      add_problem(Place{file, error.line()}, "", error.what());
    }
    // The library sorts tables by name; people read files from the top.
    std::stable_sort(problems_.begin() + static_cast<std::ptrdiff_t>(first_problem), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; });
  }

  void apply_base(const TomlNode& table, const std::string& file, std::string_view base) {
    const TomlNode* const node = table.find(preset_key);
    if (node == nullptr) {
      if (!base.empty()) apply_preset(base, Place{file}, "");
      return;
    }
    const Place place{file, node->line};
    if (const auto* const name = std::get_if<std::string>(&node->value)) {
      apply_preset(*name, place, preset_key);
    } else {
      add_problem(place, std::string(preset_key),
                  fmt::format("expected the name of a preset in quotes ({}), got {}", fmt::join(preset_names(), ", "),
                              describe(node->value)));
    }
  }

  void apply_table(const TomlNode& table, const std::string& prefix, const std::string& file) {
    for (const auto& [name, node] : table.members) {
      if (prefix.empty() && name == preset_key) continue;
      const std::string path = prefix + component(name);
      if (node.kind == TomlNode::Kind::table && is_table(common_path(path))) {
        apply_table(node, path + '.', file);
      } else {
        apply_value(Place{file, node.line}, path, node.value);
      }
    }
  }

  void apply_value(const Place& place, const std::string& path, const WrittenValue& value) {
    if (const std::optional<KindPath> of_kind = kind_path(path)) {
      apply_to_kind(place, path, *of_kind, value);
      return;
    }
    const std::optional<std::size_t> index = index_of(current_path(path));
    if (index) {
      assign(*index, place, path, value);
    } else if (const TimingKey* timing = find_timing_key(path)) {
      assign_timing(*timing, place, value);
    } else if (is_table(path)) {
      add_problem(place, path, table_expected_message(path, value));
    } else {
      const bool wants_table = std::holds_alternative<Unsupported>(value);
      add_problem(place, printable(path), unknown_key_message(path, wants_table ? table_paths() : all_paths()));
    }
  }

  /// `path`: the key's, or one that it had before.
  void assign(std::size_t index, const Place& place, const std::string& path, const WrittenValue& value) {
    const Key& key = all_keys()[index];
    Origin& origin = origins_[index];
    if (path != key.path) old_names_.insert(path);
    if (origin.place.file == place.file && origin.path != path) {
      add_problem(place, path, fmt::format("is {} by another name, which is given here too; give one", origin.path));
    }
    origin = Origin{place, path, ++assignments_, false};
    try {
      key.member.set(configuration_.system, key.type.read(key, value));
    } catch (const ParseError& error) {
      origin.is_faulty = true;
      add_problem(place, path, refusal_text(key, error));
    }
  }

  void apply_to_kind(const Place& place, const std::string& path, KindPath of_kind, const WrittenValue& value) {
    const std::string_view present = current_path(of_kind.common);
    if (present != of_kind.common) old_names_.insert(of_kind.common);
    of_kind.common = present;
    kind_places_.insert_or_assign(of_kind.kind, place);
    const TimingKey* const timing = find_timing_key(of_kind.common);
    try {
      if (of_kind.kind.empty() || is_table(of_kind.common)) {
        add_problem(
            place, path,
            fmt::format("is a table, not a single value: write [pe.kind.big] with pes = \"0-3\" and keys of [pe]; "
                        "got {}",
                        describe(value)));
      } else if (component(of_kind.kind) != of_kind.kind) {
        add_problem(place, printable(path), "the name of a kind has letters, digits, \"_\" and \"-\" alone");
      } else if (timing != nullptr) {
        kinds_.assign_timing(of_kind.kind, *timing, read_timing(*timing, place, value));
      } else if (!kinds_.assign(of_kind, value)) {
        add_problem(place, printable(path), unknown_key_message(of_kind.common, keys_of_kinds()));
      }
      kind_keys_.push_back(path);
    } catch (const ParseError& error) {
      const std::optional<std::size_t> index = index_of(of_kind.common);
      add_problem(place, path, index ? refusal_text(all_keys()[*index], error) : error.what());
    }
  }

  [[nodiscard]] static std::vector<std::string> keys_of_kinds() {
    std::vector<std::string> paths = all_paths();
    for (const std::string_view key : {kind_pes_key, kind_of_each_cube_key}) paths.push_back(fmt::format("pe.{}", key));
    return paths;
  }

  /// The file is read now, and takes its place when the other keys are known.
  void assign_timing(const TimingKey& key, const Place& place, const WrittenValue& value) {
    timings_.insert_or_assign(&key, read_timing(key, place, value));
  }

  [[nodiscard]] std::optional<TimingTable> read_timing(const TimingKey& key, const Place& place,
                                                       const WrittenValue& value) {
    const auto* const path = std::get_if<std::string>(&value);
    if (path == nullptr) {
      add_problem(place, std::string(key.path),
                  fmt::format("expected the path of a file of times, or \"\" for none; got {}", describe(value)));
      return std::nullopt;
    }
    if (path->empty()) return std::nullopt;
    const bool in_file = ends_with(place.file, ".toml");
    const auto folder = in_file ? std::filesystem::path(place.file).parent_path() : std::filesystem::path();
    return read_timing_table((folder / *path).string(), key.subject, problems_);
  }

  void make_kinds() {
    SystemConfig& system = configuration_.system;
    system.kinds = kinds_.kinds(system, timings_);
    for (Problem& problem : kind_problems(system)) {
      const Place& place = kind_places_[kind_path(problem.key)->kind];
      add_problem(place, std::move(problem.key), std::move(problem.message));
    }
  }

  void check_rules() {
    for (const Rule& rule : configuration_rules()) {
      const std::optional<Origin> origin = last_origin(rule);
      if (!origin) continue;
      if (auto violation = rule.violation(configuration_.system)) {
        add_problem(origin->place, "", std::move(*violation));
      }
    }
  }

  /// Where the last value that the rule reads comes from; nothing if one of them was refused.
  [[nodiscard]] std::optional<Origin> last_origin(const Rule& rule) const {
    Origin last;
    for (const std::string_view path : rule.keys) {
      const std::optional<std::size_t> index = index_of(path);
      if (!index) continue;
      const Origin& origin = origins_[*index];
      if (origin.is_faulty) return std::nullopt;
      if (origin.order >= last.order) last = origin;
    }
    return last;
  }

  /// The path as it stands, unless it would break the line of the message.
  [[nodiscard]] static std::string printable(const std::string& path) {
    const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c != 0x7f; });
    constexpr std::size_t max_length = 120;
    return is_plain && path.size() <= max_length ? path : in_quotes(path);
  }

  Configuration configuration_;
  std::vector<Problem> problems_;
  std::vector<Origin> origins_ = std::vector<Origin>(all_keys().size());
  GivenTimings timings_;
  KindAssignments kinds_;
  std::vector<std::string> kind_keys_;            ///< paths of the keys of kinds that were given
  std::map<std::string, Place> kind_places_;      ///< of the last key of each kind
  std::set<std::string, std::less<>> old_names_;  ///< by which keys were given
  int assignments_ = 0;
  int of_preset_ = 0;  ///< assignments up to the end of the preset, which comes before all others
};

std::string lines_of(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  lines.reserve(problems.size());
  for (const Problem& problem : problems) lines.push_back(problem.to_string());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string Problem::to_string() const {
  std::string text = in_one_line(file);
  if (line > 0) text += fmt::format(":{}", line);
  for (const std::string& part : {key, message}) {
    if (!text.empty() && !part.empty()) text += ": ";
    text += part;
  }
  return text;
}

ConfigurationError::ConfigurationError(std::vector<Problem> problems)
    : std::runtime_error(lines_of(problems)), problems_(std::move(problems)) {}

Configuration load_configuration(const ConfigurationRequest& request) {
  Loader loader;
  loader.apply_source(request.source);
  for (const std::string& text : request.overrides) loader.apply_override(text);
  return loader.finish();
}

namespace {

/// Values outside of their limits, and impossible combinations of the others.
[[nodiscard]] std::vector<Problem> problems_of_values(const SystemConfig& system) {
  std::vector<Problem> problems;
  std::vector<std::string_view> faulty;
  for (const Key& key : all_keys()) {
    const std::string value = key.type.print(key, key.member.get(system));
    try {
      (void)key.type.read(key, written_value_of(value));
    } catch (const ParseError& error) {
      faulty.push_back(key.path);
      problems.push_back({"", 0, std::string(key.path), refusal_text(key, error)});
    }
  }
  for (const Rule& rule : configuration_rules()) {
    const bool would_mislead =
        std::find_first_of(rule.keys.begin(), rule.keys.end(), faulty.begin(), faulty.end()) != rule.keys.end();
    if (would_mislead) continue;
    if (auto violation = rule.violation(system)) problems.push_back({"", 0, "", std::move(*violation)});
  }
  return problems;
}

}  // namespace

ConfigurationCheck check(const SystemConfig& system) {
  ConfigurationCheck found{problems_of_values(system), {}};
  if (!found.problems.empty()) return found;
  for (const PeKind& kind : system.kinds) {
    for (Problem& problem : problems_of_values(machine_of_kind(system, kind))) {
      problem.message.insert(0, fmt::format("for the kind \"{}\": ", kind.name));
      found.problems.push_back(std::move(problem));
    }
  }
  for (Problem& problem : kind_problems(system)) found.problems.push_back(std::move(problem));
  if (found.problems.empty()) found.warnings = warnings_of(system);
  return found;
}

namespace {

/// A key as it is shown to people.
struct ShownKey {
  std::string path;
  std::string value;
  bool is_text = true;
  std::string type;
  std::string allowed;
  std::string description;
};

/// All keys in the order of the documentation: a timing is the last key of its table.
[[nodiscard]] std::vector<ShownKey> shown_keys(const SystemConfig& system) {
  std::vector<ShownKey> shown;
  std::string_view table;
  const auto end_table = [&] {
    for (const TimingKey& key : timing_keys()) {
      if (table_of(key.path) != table) continue;
      shown.push_back({std::string(key.path), key.name(system), true, "a path", "a file, or empty: none",
                       std::string(key.description)});
    }
  };
  for (const Key& key : all_keys()) {
    const bool leaves = table_of(key.path) != table;
    if (leaves) end_table();
    table = table_of(key.path);
    shown.push_back({std::string(key.path), key.type.print(key, key.member.get(system)), key.type.is_text,
                     std::string(key.type.name), key.type.allowed(key), description_of(key)});
  }
  end_table();
  return shown;
}

}  // namespace

std::string to_toml(const Configuration& configuration) {
  std::string text = fmt::format("preset = {}\n", in_quotes(configuration.preset));
  std::string table;
  const auto add = [&](std::string_view path, const std::string& value, std::string_view description) {
    if (table_of(path) != table) {
      table = table_of(path);
      text += fmt::format("\n[{}]\n", table);
    }
    const std::string assignment = fmt::format("{} = {}", path.substr(table.size() + 1), value);
    text += description.empty() ? assignment + '\n' : fmt::format("{:<32} # {}\n", assignment, description);
  };
  for (const ShownKey& key : shown_keys(configuration.system)) {
    add(key.path, key.is_text ? in_quotes(key.value) : key.value, key.description);
  }
  for (const PeKind& kind : configuration.system.kinds) {
    for (const ConfigurationValue& value : kind_values(configuration.system, kind)) {
      const std::optional<std::size_t> index = index_of(common_path(value.path));
      const bool is_text = !index || all_keys()[*index].type.is_text;
      add(value.path, is_text ? in_quotes(value.value) : value.value, "");
    }
  }
  return text;
}

std::vector<ConfigurationValue> configuration_values(const SystemConfig& system) {
  std::vector<ConfigurationValue> values;
  for (ShownKey& key : shown_keys(system)) values.push_back({std::move(key.path), std::move(key.value)});
  for (const PeKind& kind : system.kinds) {
    std::vector<ConfigurationValue> own = kind_values(system, kind);
    std::move(own.begin(), own.end(), std::back_inserter(values));
  }
  return values;
}

std::vector<KeyDescription> configuration_keys() {
  std::vector<KeyDescription> descriptions;
  for (ShownKey& key : shown_keys(SystemConfig{})) {
    descriptions.push_back({std::move(key.path), std::move(key.type), std::move(key.value), std::move(key.allowed),
                            std::move(key.description)});
  }
  return descriptions;
}

std::string keys_as_markdown() {
  std::string text = "| key | type | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const KeyDescription& key : configuration_keys()) {
    const std::string value = key.default_value.empty() ? "" : fmt::format("`{}`", key.default_value);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.path, key.type, value, key.allowed, key.description);
  }
  return text;
}

std::vector<PresetDescription> presets() {
  std::vector<PresetDescription> descriptions;
  for (const Preset& preset : shipped_presets()) {
    descriptions.push_back({std::string(preset.name), std::string(preset.description)});
  }
  return descriptions;
}

}  // namespace kernwave::platform
