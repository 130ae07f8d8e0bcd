// A TOML text as plain data, with the line of each value.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/config/written_value.h"

namespace kernwave::platform {

/// A text that is not TOML. what() says why.
class TomlError : public std::runtime_error {
 public:
  TomlError(int line, const std::string& message) : std::runtime_error(message), line_(line) {}
  [[nodiscard]] int line() const noexcept { return line_; }

 private:
  int line_;
};

/// A value, a table or an array.
struct TomlNode {
  enum class Kind : std::uint8_t { value, table, array };

  Kind kind = Kind::table;
  int line = 0;                                           ///< 1 based; of its name, if it has one
  WrittenValue value = Unsupported{"a table"};            ///< of a table or an array: what no key takes
  std::vector<std::pair<std::string, TomlNode>> members;  ///< of a table, sorted by name
  std::vector<TomlNode> elements;                         ///< of an array

  /// The member of that name, or nullptr.
  [[nodiscard]] const TomlNode* find(std::string_view name) const noexcept;
};

/// The table that the text is. Lines are at most 1,000 bytes long. Throws TomlError.
[[nodiscard]] TomlNode parse_toml(std::string_view text);

}  // namespace kernwave::platform
