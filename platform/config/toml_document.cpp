#include "platform/config/toml_document.h"

#include <fmt/format.h>

// toml++ asserts, or with NDEBUG lets the compiler assume, that a name begins after "[". That is for the author of the
// text to say, and the library goes on to check it.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kernwave::platform {
namespace {

/// The TOML library recurses over nested keys without a limit of its own; on lines of this length it cannot go deep.
constexpr std::size_t max_line_length = 1'000;

/// The number of the first line that is longer than max_line_length, or 0.
int overlong_line(std::string_view text) noexcept {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (length > max_line_length) return line;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return 0;
}

int line_of(const toml::source_region& source) noexcept { return static_cast<int>(source.begin.line); }

WrittenValue value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return node.ref<std::string>();
    case toml::node_type::integer:
      return node.ref<std::int64_t>();
    case toml::node_type::floating_point:
      return node.ref<double>();
    case toml::node_type::boolean:
      return node.ref<bool>();
    case toml::node_type::table:
      return Unsupported{"a table"};
    case toml::node_type::array:
      return Unsupported{"an array"};
    default:
      return Unsupported{"a date or time"};
  }
}

TomlNode node_of(const toml::node& node, int line) {
  TomlNode result;
  result.kind = TomlNode::Kind::value;
  result.line = line;
  result.value = value_of(node);
  if (const toml::table* table = node.as_table()) {
    result.kind = TomlNode::Kind::table;
    for (const auto& [name, member] : *table) {
      result.members.emplace_back(std::string(name.str()), node_of(member, line_of(name.source())));
    }
  }
  if (const toml::array* array = node.as_array()) {
    result.kind = TomlNode::Kind::array;
    for (const toml::node& element : *array) result.elements.push_back(node_of(element, line_of(element.source())));
  }
  return result;
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(members.begin(), members.end(), [name](const auto& member) { return member.first == name; });
  return found == members.end() ? nullptr : &found->second;
}

TomlNode parse_toml(std::string_view text) {
  if (const int line = overlong_line(text); line != 0) {
    throw TomlError(line, fmt::format("the line is longer than {} bytes", max_line_length));
  }
  try {
    return node_of(toml::parse(text), 0);
  } catch (const toml::parse_error& error) {
    throw TomlError(line_of(error.source()), fmt::format("not TOML: {}", error.description()));
  }
}

}  // namespace kernwave::platform
