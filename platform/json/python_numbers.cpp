#include "platform/json/python_numbers.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <string_view>

namespace kernwave::platform {

namespace {

struct NumberName {
  std::string_view name;
  std::string_view zero;  ///< as long as the name, so that positions in messages hold
  double value;
};

constexpr NumberName number_names[] = {
    {"NaN", "0.0", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", "0.000000", std::numeric_limits<double>::infinity()},
    {"-Infinity", "-0.000000", -std::numeric_limits<double>::infinity()},
};

/// The name of a number that makes up a whole token, or nullptr.
[[nodiscard]] const NumberName* number_name(std::string_view token) noexcept {
  const auto* const found = std::find_if(std::begin(number_names), std::end(number_names),
                                         [token](const NumberName& number) { return number.name == token; });
  return found == std::end(number_names) ? nullptr : found;
}

/// Characters of which tokens other than strings and punctuation consist.
[[nodiscard]] bool is_of_a_word(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.' || c == '_';
}

}  // namespace

std::vector<NamedNumber> replace_number_names(std::string& text) {
  std::vector<NamedNumber> named;
  std::size_t numbers = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '"') in_string = false;
      if (text[i] == '\\') ++i;
      continue;
    }
    in_string = text[i] == '"';
    if (!is_of_a_word(text[i])) continue;
    std::size_t end = i;
    while (end < text.size() && is_of_a_word(text[end])) ++end;
    const std::string_view token = std::string_view(text).substr(i, end - i);
    if (const NumberName* const number = number_name(token)) {
      named.push_back({numbers++, number->value});
      text.replace(i, token.size(), number->zero);
    } else if (token.front() == '-' || std::isdigit(static_cast<unsigned char>(token.front())) != 0) {
      ++numbers;
    }
    i = end - 1;
  }
  return named;
}

}  // namespace kernwave::platform
