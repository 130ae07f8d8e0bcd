// JSON as text: reading and writing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "platform/json/json.h"
#include "platform/json/python_numbers.h"
#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

// ---- reading ----------------------------------------------------------------------------------------------------

/// "source:line:column: message" for the byte at `offset`.
JsonError error_at(std::string_view source_name, std::string_view text, std::size_t offset, std::string_view message) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return JsonError(fmt::format("{}:{}:{}: {}", in_one_line(source_name), line, column, in_one_line(message)));
}

/// Refuses text that nests too deeply, before anything recurses over it.
void check_depth(std::string_view text, std::string_view source_name) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_json_depth) {
        throw error_at(source_name, text, i, fmt::format("nested more than {} levels deep", max_json_depth));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

/// Receives the events of the parser and builds the document. The names are those that the parser calls.
class Builder {
 public:
  Builder(std::string_view text, std::string_view source_name, std::vector<NamedNumber> named_numbers) noexcept
      : text_(text), source_name_(source_name), named_numbers_(std::move(named_numbers)) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add_number(value); }
  bool number_unsigned(std::uint64_t value) {
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value <= max ? add_number(value) : add_number(static_cast<double>(value));
  }
  bool number_float(double value, const std::string& /*text*/) { return add_number(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }  // JSON text has none

  bool start_object(std::size_t /*size*/) { return open(); }
  bool start_array(std::size_t /*size*/) { return open(); }
  bool key(std::string& value) {
    open_.back().key = std::move(value);
    return true;
  }
  bool end_object() {
    Json::Object members = std::move(open_.back().members);
    open_.pop_back();
    return add(Json::object_of(std::move(members)));
  }
  bool end_array() {
    Json::Object members = std::move(open_.back().members);
    open_.pop_back();
    Json::Array elements;
    elements.reserve(members.size());
    for (Json::Member& member : members) elements.push_back(std::move(member.value));
    return add(Json::array(std::move(elements)));
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) {
    // The parser names its own codes and positions first: "[json.exception...] parse error at line 1, column 2: ...".
    std::string_view message = error.what();
    for (const std::string_view separator : {"] ", "column ", ": "}) {
      const std::size_t found = message.find(separator);
      if (found != std::string_view::npos) message.remove_prefix(found + separator.size());
    }
    constexpr std::size_t max_length = 300;  // it quotes what was read last, which can be long
    throw error_at(source_name_, text_, position == 0 ? 0 : position - 1, message.substr(0, max_length));
  }

  [[nodiscard]] Json take() { return std::move(document_); }

 private:
  /// An array or object whose end has not been read. Elements of an array have empty keys.
  struct Open {
    std::string key;
    Json::Object members;
  };

  bool open() {
    open_.emplace_back();
    return true;
  }

  bool add(Json value) {
    if (open_.empty()) {
      document_ = std::move(value);
    } else {
      open_.back().members.push_back({std::exchange(open_.back().key, {}), std::move(value)});
    }
    return true;
  }

  template <typename T>
  bool add_number(T value) {
    const std::size_t index = numbers_++;
    const bool is_named = next_named_ < named_numbers_.size() && named_numbers_[next_named_].index == index;
    return is_named ? add(named_numbers_[next_named_++].value) : add(value);
  }

  std::string_view text_;
  std::string_view source_name_;
  std::vector<NamedNumber> named_numbers_;
  std::size_t next_named_ = 0;
  std::size_t numbers_ = 0;
  std::vector<Open> open_;
  Json document_;
};

[[nodiscard]] Json parse(std::string_view text, std::string_view source_name, std::vector<NamedNumber> named_numbers) {
  check_depth(text, source_name);
  Builder builder(text, source_name, std::move(named_numbers));
  // Errors leave by exception, out of Builder::parse_error.
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

// ---- writing ----------------------------------------------------------------------------------------------------

std::string escaped(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Writes nested values; scalars are left to the library, which knows about shortest doubles and escapes.
class Writer {
 public:
  explicit Writer(int indent) noexcept : indent_(static_cast<std::size_t>(std::max(indent, 0))) {}

  void write(const Json& json) {
    if (json.is_object()) {
      write_all(json.as_object(), '{', '}', [this](const Json::Member& member) {
        text_ += escaped(member.key);
        text_ += indent_ > 0 ? ": " : ":";
        write(member.value);
      });
    } else if (json.is_array()) {
      write_all(json.as_array(), '[', ']', [this](const Json& element) { write(element); });
    } else {
      text_ += scalar(json);
    }
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <typename Items, typename WriteItem>
  void write_all(const Items& items, char begin, char end, WriteItem write_item) {
    text_ += begin;
    ++depth_;
    bool is_first = true;
    for (const auto& item : items) {
      if (!is_first) text_ += ',';
      is_first = false;
      break_line();
      write_item(item);
    }
    --depth_;
    if (!items.empty()) break_line();
    text_ += end;
  }

  void break_line() {
    if (indent_ == 0) return;
    text_ += '\n';
    text_.append(indent_ * depth_, ' ');
  }

  static std::string scalar(const Json& json) {
    if (json.is_bool()) return json.as_bool() ? "true" : "false";
    if (json.is_int()) return std::to_string(json.as_int());
    if (json.is_double() && std::isfinite(json.as_double())) return nlohmann::json(json.as_double()).dump();
    return json.is_string() ? escaped(json.as_string()) : "null";
  }

  std::size_t indent_;
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view source_name) { return parse(text, source_name, {}); }

Json parse_python_json(std::string_view text, std::string_view source_name) {
  std::string replaced(text);
  std::vector<NamedNumber> named_numbers = replace_number_names(replaced);
  return parse(replaced, source_name, std::move(named_numbers));
}

std::string to_text(const Json& json, int indent) {
  Writer writer(indent);
  writer.write(json);
  return writer.take();
}

}  // namespace kernwave::platform
