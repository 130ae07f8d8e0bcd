#include "platform/workload/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "platform/message_text.h"
#include "platform/workload/model_config_keys.h"

namespace kernwave::platform {

namespace {

constexpr std::int64_t max_count = 65'536;

constexpr std::string_view advice =
    R"(what the kernels need can be stated in a file of your own: {"num_attention_heads": 32, "num_key_value_heads": 8, )"
    R"("head_dim": 128})";

/// A value of the file, with the way to it ("block_configs[3].attention.n_heads_in_group").
struct Leaf {
  std::string path;
  std::string key;
  const Json* value = nullptr;
};

/// Null, false, 0 and what is empty: the way of switching something off.
[[nodiscard]] bool is_off(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_bool()) return !value.as_bool();
  if (value.is_int() || value.is_double()) return value.as_double() == 0.0;
  if (value.is_string()) return value.as_string().empty();
  return value.size() == 0;
}

[[nodiscard]] bool holds_objects(const Json& value) {
  return value.is_array() && std::any_of(value.as_array().begin(), value.as_array().end(),
                                         [](const Json& element) { return element.is_object(); });
}

void collect(const Json& object, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const Json::Member& member : object.as_object()) {
    if (is_other_part(member.key)) continue;
    const std::string path = prefix + member.key;
    if (member.value.is_object() && model_key(member.key) != ModelKey::changes_the_work) {
      collect(member.value, path + ".", leaves);
    } else if (holds_objects(member.value)) {
      const Json::Array& elements = member.value.as_array();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].is_object()) collect(elements[i], fmt::format("{}[{}].", path, i), leaves);
      }
    } else {
      leaves.push_back({path, member.key, &member.value});
    }
  }
}

[[nodiscard]] bool states_query_heads(const Json& object) {
  const Json::Object& members = object.as_object();
  return std::any_of(members.begin(), members.end(), [](const Json::Member& member) {
    return model_key(member.key) == ModelKey::query_heads && !member.value.is_object();
  });
}

/// The object that holds the attention shape: the document, or the language part of a multimodal model.
[[nodiscard]] const Json& language_part(const Json& document) {
  if (states_query_heads(document)) return document;
  for (const char* part : {"text_config", "llm_config", "language_config", "thinker_config"}) {
    const Json* const found = document.find(part);
    if (found != nullptr && found->is_object()) return language_part(*found);
  }
  return document;
}

[[nodiscard]] std::string text_of(const Json& document, std::string_view key) {
  const Json* const value = document.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

[[nodiscard]] bool any_text_has(const Json& value, std::string_view part) {
  if (value.is_string()) return value.as_string().find(part) != std::string::npos;
  return value.is_array() && std::any_of(value.as_array().begin(), value.as_array().end(),
                                         [part](const Json& element) { return any_text_has(element, part); });
}

/// Why no kernel models what a key switches on.
[[nodiscard]] std::string_view change_of(std::string_view key) {
  const auto has = [key](std::string_view part) { return key.find(part) != std::string_view::npos; };
  if (has("lora") || has("qk_") || has("index_")) return "multi-head latent attention has no grouped-query shape";
  if (has("sink")) return "attention sinks are not modelled";
  if (has("cap")) return "softcapping of scores is not modelled";
  if (has("scale")) return "scores are scaled by 1 / sqrt(head size) and nothing else";
  return "this changes the work of attention, and is not modelled";
}

/// Models whose code says what their files do not.
[[nodiscard]] std::string_view change_of_family(std::string_view family) {
  return family == "gpt_oss" ? "attention sinks are not modelled" : std::string_view();
}

[[nodiscard]] bool shares_one_kv_head_by_default(std::string_view family) {
  return family == "falcon" || family == "RefinedWebModel" || family == "gpt_bigcode";
}

/// Reads one model's numbers and collects what is wrong with them.
class ConfigReader {
 public:
  ConfigReader(const Json& part, std::string family) : family_(std::move(family)) { collect(part, "", leaves_); }

  [[nodiscard]] ConfigShape read() {
    for (const Leaf& leaf : leaves_) {
      if (model_key(leaf.key) == ModelKey::suspect) refuse_suspect(leaf);
    }
    ConfigShape found;
    const std::optional<std::int64_t> heads = query_heads();
    const std::optional<std::int64_t> kv_heads = heads ? read_kv_heads(*heads) : stated_kv_heads();
    const std::optional<std::int64_t> head_dim = read_head_dim(heads);
    if (head_dim) refuse_other_sizes_and_scales(*head_dim);
    refuse_changes();
    found.shape.span = read_span();
    // What is missing has been noted; 1 breaks no rule, so that the others are still checked.
    found.shape.query_heads = heads.value_or(kv_heads.value_or(1));
    found.shape.kv_heads = kv_heads.value_or(1);
    found.shape.head_dim = head_dim.value_or(1);
    if (needs_advice_) problems_.emplace_back(advice);
    found.problems = std::move(problems_);
    return found;
  }

 private:
  /// What one key says.
  struct Statement {
    std::string path;
    std::int64_t count = 0;
  };

  [[nodiscard]] const Json* find(std::string_view key) const {
    const auto found =
        std::find_if(leaves_.begin(), leaves_.end(), [key](const Leaf& leaf) { return leaf.key == key; });
    return found == leaves_.end() ? nullptr : found->value;
  }
  [[nodiscard]] bool is_on(std::string_view key) const {
    const Json* const value = find(key);
    return value != nullptr && !is_off(*value);
  }
  [[nodiscard]] bool is_false(std::string_view key) const {
    const Json* const value = find(key);
    return value != nullptr && value->is_bool() && !value->as_bool();
  }

  void note(const std::string& path, std::string_view problem) {
    problems_.push_back(fmt::format("{}: {}", in_one_line(path), problem));
    needs_advice_ = true;
  }

  void refuse_suspect(const Leaf& leaf) {
    if (is_off(*leaf.value)) return;
    note(leaf.path, "this key is not known; it may say how many heads there are or which keys a query sees");
  }

  void refuse_changes() {
    for (const Leaf& leaf : leaves_) {
      if (model_key(leaf.key) == ModelKey::changes_the_work && !is_off(*leaf.value))
        note(leaf.path, change_of(leaf.key));
    }
    if (is_false("scale_attn_weights")) note("scale_attn_weights", change_of("scale"));
    const std::string_view change = change_of_family(family_);
    if (!change.empty()) note("model_type " + family_, change);
  }

  /// A count, or one a layer, all the same but for layers without attention.
  [[nodiscard]] std::optional<std::int64_t> count_in(const Leaf& leaf) {
    const Json& value = *leaf.value;
    if (value.is_null()) return std::nullopt;
    if (value.is_array()) return count_of_layers(leaf);
    if (!value.is_int()) {
      problems_.push_back(fmt::format("{} must be an integer, found {}", in_one_line(leaf.path), value.description()));
    } else if (auto problem = model_count_problem(in_one_line(leaf.path), value.as_int())) {
      problems_.push_back(std::move(*problem));
    } else {
      return value.as_int();
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::int64_t> count_of_layers(const Leaf& leaf) {
    std::optional<std::int64_t> smallest;
    std::int64_t largest = 0;
    const Json::Array& layers = leaf.value->as_array();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (is_off(layers[i])) continue;
      const auto count = count_in({fmt::format("{}[{}]", leaf.path, i), leaf.key, &layers[i]});
      if (!count) return std::nullopt;
      smallest = std::min(smallest.value_or(*count), *count);
      largest = std::max(largest, *count);
    }
    if (!smallest || *smallest == largest) return smallest;
    note(leaf.path, fmt::format("layers differ, {} to {}: one shape is run at a time", *smallest, largest));
    return std::nullopt;
  }

  [[nodiscard]] std::vector<Statement> statements(ModelKey meaning) {
    std::vector<Statement> stated;
    for (const Leaf& leaf : leaves_) {
      if (model_key(leaf.key) != meaning) continue;
      if (const auto count = count_in(leaf)) stated.push_back({leaf.path, *count});
    }
    return stated;
  }

  /// What all of them say; nothing if there is none, or if they differ, as then noted.
  [[nodiscard]] std::optional<std::int64_t> agreed(const std::vector<Statement>& stated) {
    if (stated.empty()) return std::nullopt;
    const auto other = std::find_if(stated.begin(), stated.end(), [&stated](const Statement& statement) {
      return statement.count != stated.front().count;
    });
    if (other == stated.end()) return stated.front().count;
    note(other->path, fmt::format("says {}, and {} says {}: one shape is run at a time", other->count,
                                  in_one_line(stated.front().path), stated.front().count));
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::int64_t> query_heads() {
    const std::size_t before = problems_.size();
    const auto heads = agreed(statements(ModelKey::query_heads));
    if (!heads && problems_.size() == before) problems_.emplace_back("num_attention_heads is missing");
    return heads;
  }

  [[nodiscard]] std::optional<std::int64_t> stated_kv_heads() { return agreed(statements(ModelKey::kv_heads)); }

  [[nodiscard]] std::optional<std::int64_t> read_kv_heads(std::int64_t heads) {
    const std::size_t before = problems_.size();
    std::vector<Statement> stated = statements(ModelKey::kv_heads);
    add_groups(heads, stated);
    add_flags(heads, stated);
    if (stated.empty() && problems_.size() == before) return heads;
    return agreed(stated);
  }

  void add_groups(std::int64_t heads, std::vector<Statement>& stated) {
    for (const Statement& group : statements(ModelKey::query_heads_a_kv_head)) {
      if (heads % group.count == 0) {
        stated.push_back({group.path, heads / group.count});
      } else {
        note(group.path, fmt::format("{} query heads cannot be in groups of {}", heads, group.count));
      }
    }
    if (is_false("group_query_attention")) {
      stated.erase(std::remove_if(stated.begin(), stated.end(),
                                  [](const Statement& statement) {
                                    return statement.path.find("num_query_groups") != std::string::npos;
                                  }),
                   stated.end());
    } else if (is_on("group_query_attention") && stated.empty()) {
      note("group_query_attention", "there is no num_query_groups");
    }
  }

  /// Flags that mean one KV head, or let another key count.
  void add_flags(std::int64_t heads, std::vector<Statement>& stated) {
    const bool by_default = find("multi_query") == nullptr && shares_one_kv_head_by_default(family_);
    if ((is_on("multi_query") || by_default) && !is_on("new_decoder_architecture")) {
      // Falcon's files also hold a number of KV heads that its code does not read then: all of the query heads.
      stated.erase(std::remove_if(stated.begin(), stated.end(),
                                  [heads](const Statement& statement) { return statement.count == heads; }),
                   stated.end());
      stated.push_back({by_default ? "model_type " + family_ : "multi_query", 1});
    }
    if (is_on("multi_query_attention")) {
      add_group_number(stated);
    } else if (is_on("multi_query_group_num") && find("multi_query_attention") == nullptr) {
      note("multi_query_group_num", "there is no multi_query_attention, which says whether it counts");
    }
    const Json* const type = find("attn_type");
    if (type == nullptr) return;
    if (any_text_has(*type, "multiquery")) stated.push_back({"attn_type", 1});
    if (any_text_has(*type, "grouped") && stated.empty()) note("attn_type", "there is no kv_n_heads");
  }

  void add_group_number(std::vector<Statement>& stated) {
    const Json* const groups = find("multi_query_group_num");
    if (groups == nullptr || groups->is_null()) {
      stated.push_back({"multi_query_attention", 1});
    } else if (const auto count = count_in({"multi_query_group_num", "multi_query_group_num", groups})) {
      stated.push_back({"multi_query_group_num", *count});
    }
  }

  /// As stated, or width / heads: the rule of models that do not say.
  [[nodiscard]] std::optional<std::int64_t> read_head_dim(std::optional<std::int64_t> heads) {
    const std::size_t before = problems_.size();
    const auto stated = agreed(statements(ModelKey::head_dim));
    if (stated || problems_.size() != before) return stated;
    const std::vector<Statement> widths = statements(ModelKey::width);
    const auto width = agreed(widths);
    if (!width && problems_.size() == before) problems_.emplace_back("hidden_size is missing");
    if (!width || !heads) return std::nullopt;
    if (*width % *heads == 0) return *width / *heads;
    problems_.push_back(fmt::format("there is no head_dim, and {} {} is not a multiple of num_attention_heads {}",
                                    in_one_line(widths.front().path), *width, *heads));
    return std::nullopt;
  }

  void refuse_other_sizes_and_scales(std::int64_t head_dim) {
    for (const Leaf& leaf : leaves_) {
      const Json& value = *leaf.value;
      const ModelKey meaning = model_key(leaf.key);
      const bool is_a_scale = meaning == ModelKey::scale || meaning == ModelKey::scale_scalar;
      if ((!is_a_scale && meaning != ModelKey::value_head_dim) || is_off(value)) continue;
      if (!value.is_int() && !value.is_double()) {
        note(leaf.path, fmt::format("must be a number, found {}", value.description()));
        continue;
      }
      const double number = value.as_double();
      const auto size = static_cast<double>(head_dim);
      if (meaning == ModelKey::value_head_dim && number != size) {
        note(leaf.path, fmt::format("values of {} elements beside keys of {} are not modelled", number, head_dim));
      }
      const double scale = meaning == ModelKey::scale ? number : 1.0 / std::sqrt(number);
      constexpr double rounding = 1e-3;  // such numbers are written with a few digits
      if (is_a_scale && !(std::abs(scale * std::sqrt(size) - 1.0) <= rounding)) {
        note(leaf.path, fmt::format("{}, and a head has {} elements", change_of("scale"), head_dim));
      }
    }
  }

  [[nodiscard]] std::optional<AttentionSpan> read_span() {
    std::optional<AttentionSpan> shortest;
    if (no_layer_is_local()) return shortest;
    for (const Leaf& leaf : leaves_) {
      if (model_key(leaf.key) != ModelKey::span || is_off(*leaf.value)) continue;
      if (is_false("use_sliding_window") && leaf.key.find("sliding") != std::string::npos) continue;
      const auto keys = shortest_span(leaf);
      if (keys && (!shortest || *keys < shortest->keys)) shortest = AttentionSpan{in_one_line(leaf.path), *keys};
    }
    return shortest;
  }

  [[nodiscard]] bool no_layer_is_local() const {
    for (const char* key : {"layer_types", "attention_types"}) {
      const Json* const types = find(key);
      if (types == nullptr || types->size() == 0) continue;
      const bool some =
          any_text_has(*types, "sliding") || any_text_has(*types, "chunk") || any_text_has(*types, "local");
      if (!some) return true;
    }
    return false;
  }

  /// Nothing where there is no limit (a negative number).
  [[nodiscard]] std::optional<std::int64_t> shortest_span(const Leaf& leaf) {
    if (leaf.value->is_array()) {
      std::optional<std::int64_t> shortest;
      for (const Json& element : leaf.value->as_array()) {
        const auto keys = is_off(element) ? std::nullopt : shortest_span({leaf.path, leaf.key, &element});
        if (keys) shortest = std::min(shortest.value_or(*keys), *keys);
      }
      return shortest;
    }
    if (!leaf.value->is_int()) {
      note(leaf.path, fmt::format("must be an integer, found {}", leaf.value->description()));
      return std::nullopt;
    }
    return leaf.value->as_int() > 0 ? std::optional(leaf.value->as_int()) : std::nullopt;
  }

  std::vector<Leaf> leaves_;
  std::string family_;
  std::vector<std::string> problems_;
  bool needs_advice_ = false;
};

}  // namespace

std::optional<std::string> model_count_problem(std::string_view what, std::int64_t count) {
  if (count >= 1 && count <= max_count) return std::nullopt;
  return fmt::format("{} is {} (allowed: 1 to {})", what, count, max_count);
}

ConfigShape shape_of_config(const Json& document, const std::string& name) {
  ConfigShape found;
  if (!document.is_object()) {
    found.problems.push_back(fmt::format("expected an object, found {}", document.description()));
    return found;
  }
  const Json& part = language_part(document);
  const std::string inner_family = text_of(part, "model_type");
  ConfigReader reader(part, inner_family.empty() ? text_of(document, "model_type") : inner_family);
  found = reader.read();
  const std::string own_name = text_of(document, "_name_or_path");
  found.shape.name = in_one_line(own_name.empty() ? name : own_name);
  return found;
}

}  // namespace kernwave::platform
