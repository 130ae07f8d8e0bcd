#include "platform/config/written_value.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "platform/text/message_text.h"

namespace kernwave::platform {
namespace {

template <typename Number>
std::optional<Number> number_of(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string describe(const WrittenValue& value) {
  struct Description {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("the integer {}", number); }
    std::string operator()(double number) const { return fmt::format("the number {:#}", number); }
    std::string operator()(const std::string& text) const { return fmt::format("the text {}", in_quotes(text)); }
    std::string operator()(Unsupported unsupported) const { return std::string(unsupported.what); }
  };
  return std::visit(Description{}, value);
}

WrittenValue written_value_of(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = number_of<std::int64_t>(text)) return *integer;
  if (const auto number = number_of<double>(text)) return *number;
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() && (text[0] == '"' || text[0] == '\'');
  return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
}

}  // namespace kernwave::platform
