#include "platform/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

JsonError unexpected(std::string_view expected, const Json& json) {
  return JsonError(fmt::format("expected {}, found {}", expected, json.description()));
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::nullptr_t) noexcept {}

Json::Json(std::string text) : value_(std::move(text)) {}

Json::Json(std::string_view text) : value_(std::string(text)) {}

Json::Json(const char* text) : value_(std::string(text)) {}

Json Json::array() { return array(Array{}); }

Json Json::array(Array elements) {
  Json json;
  json.value_ = std::move(elements);
  return json;
}

Json Json::object() { return object_of({}); }

Json Json::object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json json;
  json.value_ = Object{};
  for (const auto& [key, value] : members) json[key] = value;
  return json;
}

/// In linear time: objects of strangers may be large.
Json Json::object_of(Object members) {
  Object unique;
  unique.reserve(members.size());  // the keys in `places` are views into it
  std::unordered_map<std::string_view, std::size_t> places;
  for (Member& member : members) {
    const auto place = places.find(member.key);
    if (place != places.end()) {
      unique[place->second].value = std::move(member.value);
      continue;
    }
    unique.push_back(std::move(member));
    places.emplace(unique.back().key, unique.size() - 1);
  }
  Json json;
  json.value_ = std::move(unique);
  return json;
}

std::int64_t Json::checked(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw JsonError(fmt::format("{} does not fit into a signed 64-bit integer", value));
  }
  return static_cast<std::int64_t>(value);
}

std::string Json::description() const {
  struct Description {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return fmt::format("the integer {}", value); }
    std::string operator()(double value) const { return fmt::format("the number {:#}", value); }
    std::string operator()(const std::string& value) const { return fmt::format("the text {}", in_quotes(value)); }
    std::string operator()(const Array&) const { return "an array"; }
    std::string operator()(const Object&) const { return "an object"; }
  };
  return std::visit(Description{}, value_);
}

bool Json::as_bool() const {
  const auto* const value = std::get_if<bool>(&value_);
  if (value == nullptr) throw unexpected("true or false", *this);
  return *value;
}

std::int64_t Json::as_int() const {
  const auto* const value = std::get_if<std::int64_t>(&value_);
  if (value == nullptr) throw unexpected("an integer", *this);
  return *value;
}

double Json::as_double() const {
  if (is_int()) return static_cast<double>(as_int());
  const auto* const value = std::get_if<double>(&value_);
  if (value == nullptr) throw unexpected("a number", *this);
  return *value;
}

const std::string& Json::as_string() const {
  const auto* const value = std::get_if<std::string>(&value_);
  if (value == nullptr) throw unexpected("a text", *this);
  return *value;
}

const Json::Array& Json::as_array() const {
  const auto* const value = std::get_if<Array>(&value_);
  if (value == nullptr) throw unexpected("an array", *this);
  return *value;
}

const Json::Object& Json::as_object() const {
  const auto* const value = std::get_if<Object>(&value_);
  if (value == nullptr) throw unexpected("an object", *this);
  return *value;
}

const Json* Json::find(std::string_view key) const {
  const Object& members = as_object();
  const auto found =
      std::find_if(members.begin(), members.end(), [key](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* const value = find(key)) return *value;
  throw JsonError(fmt::format("there is no member {}", in_quotes(key)));
}

const Json& Json::at(std::size_t index) const {
  const Array& elements = as_array();
  if (index < elements.size()) return elements[index];
  throw JsonError(fmt::format("there is no element {} in an array of {}", index, elements.size()));
}

std::size_t Json::size() const noexcept {
  if (const auto* const elements = std::get_if<Array>(&value_)) return elements->size();
  if (const auto* const members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) throw unexpected("an object", *this);
  const auto found =
      std::find_if(members->begin(), members->end(), [key](const Member& member) { return member.key == key; });
  if (found != members->end()) return found->value;
  members->push_back({std::string(key), Json()});
  return members->back().value;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array{};
  auto* const elements = std::get_if<Array>(&value_);
  if (elements == nullptr) throw unexpected("an array", *this);
  elements->push_back(std::move(element));
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

}  // namespace kernwave::platform
