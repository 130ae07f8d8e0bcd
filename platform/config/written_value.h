// The value of a key as the user wrote it, before its type is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace kernwave::platform {

/// A value that no key takes: a table, an array, a date. Holds its name for messages.
struct Unsupported {
  std::string_view what;
};

using WrittenValue = std::variant<bool, std::int64_t, double, std::string, Unsupported>;

/// For messages: "the integer 3", "a table".
[[nodiscard]] std::string describe(const WrittenValue& value);

/// The value part of an override. What is neither a number nor a truth value is text, quoted or not.
[[nodiscard]] WrittenValue written_value_of(std::string_view text);

}  // namespace kernwave::platform
