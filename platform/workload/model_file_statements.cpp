#include "platform/workload/model_file_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

constexpr std::array<std::string_view, 6> language_parts = {"text_config",       "llm_config", "language_config",
                                                            "text_model_config", "llm_cfg",    "thinker_config"};

/// The member that describes the language part of a multimodal model.
[[nodiscard]] const Json::Member* language_part(const Json& object) {
  const Json::Object& members = object.as_object();
  const auto is_language = [](const Json::Member& member) {
    const bool has_name = std::find(language_parts.begin(), language_parts.end(), member.key) != language_parts.end();
    return has_name && member.value.is_object();
  };
  const auto found = std::find_if(members.begin(), members.end(), is_language);
  return found == members.end() ? nullptr : &*found;
}

[[nodiscard]] bool is_set(const Json& object, std::string_view key) {
  const Json* const value = object.find(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

[[nodiscard]] bool has_no_attention(const Json& block) {
  return is_set(block, "no_op") || is_set(block, "replace_with_linear");
}

/// A long key would make a message unreadable.
[[nodiscard]] std::string shown(std::string_view key) {
  constexpr std::size_t max_length = 80;
  return in_one_line(key.substr(0, max_length)) + (key.size() > max_length ? "..." : "");
}

[[nodiscard]] bool is_zero(const Json& value) { return value.is_int() && value.as_int() == 0; }

}  // namespace

ModelFileStatements::ModelFileStatements(const Json& document) { take_object(document, "", false); }

void ModelFileStatements::take_object(const Json& object, const std::string& place, bool is_of_a_layer) {
  if (has_no_attention(object)) return;
  const Json::Member* const language = language_part(object);
  for (const Json::Member& member : object.as_object()) {
    const bool is_other_part = language != nullptr && &member != language && member.value.is_object();
    if (!is_other_part) take_member(member, place, is_of_a_layer);
  }
}

void ModelFileStatements::take_member(const Json::Member& member, const std::string& place, bool is_of_a_layer) {
  const ModelFileKey key = model_file_key(member.key);
  if (key.role == ModelFileKeyRole::unrelated || member.value.is_null()) return;
  const std::string inner = place.empty() ? shown(member.key) : fmt::format("{}.{}", place, shown(member.key));
  if (member.value.is_object()) {
    take_object(member.value, inner, is_of_a_layer);
    // Whoever asks for this key must be told that there is no number in it.
    if (key.role != ModelFileKeyRole::unknown && member.value.size() > 0) {
      statements_.push_back({inner, key, &member.value, is_of_a_layer});
    }
  } else if (member.value.is_array() && key.role != ModelFileKeyRole::layer_types) {
    take_list(member.value, key, inner);
  } else if (key.role != ModelFileKeyRole::unknown) {
    statements_.push_back({inner, key, &member.value, is_of_a_layer});
  }
}

void ModelFileStatements::take_list(const Json& list, const ModelFileKey& key, const std::string& place) {
  const Json* first = nullptr;
  bool differs = false;
  bool has_objects = false;
  const Json::Array& elements = list.as_array();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Json& element = elements[i];
    if (element.is_object()) {
      has_objects = true;
      take_object(element, fmt::format("{}[{}]", place, i), true);
      continue;
    }
    if (key.role == ModelFileKeyRole::unknown || element.is_null() || is_zero(element) || differs) continue;
    if (first != nullptr && *first == element) continue;
    differs = first != nullptr;
    first = &element;
    statements_.push_back({fmt::format("{}[{}]", place, i), key, &element, true});
  }
  // A list without a value is no value either.
  const bool is_empty = first == nullptr && !has_objects;
  if (is_empty && key.role != ModelFileKeyRole::unknown) statements_.push_back({place, key, &list, false});
}

std::vector<const Statement*> ModelFileStatements::of(ModelFileKeyRole role) const {
  std::vector<const Statement*> found;
  for (const Statement& statement : statements_) {
    const bool is_on = statement.key.counts_only_if.empty() || !is_false(statement.key.counts_only_if);
    if (statement.key.role == role && is_on) found.push_back(&statement);
  }
  return found;
}

const Statement* ModelFileStatements::find(std::string_view name) const {
  const auto found = std::find_if(statements_.begin(), statements_.end(),
                                  [name](const Statement& statement) { return statement.key.name == name; });
  return found == statements_.end() ? nullptr : &*found;
}

bool ModelFileStatements::is_true(std::string_view name) const {
  const Statement* const statement = find(name);
  return statement != nullptr && statement->value->is_bool() && statement->value->as_bool();
}

bool ModelFileStatements::is_false(std::string_view name) const {
  const Statement* const statement = find(name);
  return statement != nullptr && statement->value->is_bool() && !statement->value->as_bool();
}

}  // namespace kernwave::platform
