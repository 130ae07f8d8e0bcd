#include "platform/config/key_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

#include "platform/text/message_text.h"
#include "platform/text/units.h"

namespace kernwave::platform {
namespace {

ParseError wrong_type(const Key& key, const WrittenValue& value) {
  return ParseError(fmt::format("expected {}, got {}", key.type.expected, describe(value)));
}

/// `count`, if it is within the limits of the key. `shown` is the value as the user wrote it.
std::int64_t within_limits(const Key& key, std::int64_t count, std::string_view shown) {
  if (count < key.limits.min || count > key.limits.max) throw ParseError(fmt::format("{} is out of range", shown));
  if (key.is_power_of_two && (count & (count - 1)) != 0) throw ParseError(fmt::format("{} is no power of two", shown));
  return count;
}

std::string allowed_range(const Key& key) {
  const std::string first = key.type.print(key, key.limits.min);
  const std::string last = key.type.print(key, key.limits.max);
  std::string range = fmt::format("{} to {}", first, last);
  if (key.is_power_of_two) range = fmt::format("powers of two from {}", range);
  return key.word_for_zero.empty() ? range : fmt::format("{}, or {}", key.word_for_zero, range);
}

std::int64_t read_integer(const Key& key, const WrittenValue& value) {
  const auto* const count = std::get_if<std::int64_t>(&value);
  if (count == nullptr) throw wrong_type(key, value);
  return within_limits(key, *count, std::to_string(*count));
}

std::string print_integer(const Key&, std::int64_t value) { return std::to_string(value); }

template <auto parse>
std::int64_t read_quantity(const Key& key, const WrittenValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) throw wrong_type(key, value);
  if (!key.word_for_zero.empty() && *text == key.word_for_zero) return 0;
  return within_limits(key, to_count(parse(*text)), in_quotes(*text));
}

template <typename Q>
std::string print_quantity(const Key& key, std::int64_t value) {
  return value == 0 && !key.word_for_zero.empty() ? std::string(key.word_for_zero) : format_quantity(Q(value));
}

std::string print_bytes_per_cycle(const Key&, std::int64_t value) { return format_bytes_per_cycle(value); }

/// TOML gives a ratio as a double; the decimal that was written is the nearest one of at most six digits.
std::int64_t read_ratio(const Key& key, const WrittenValue& value) {
  const auto* const integer = std::get_if<std::int64_t>(&value);
  const auto* const number = std::get_if<double>(&value);
  if (integer == nullptr && number == nullptr) throw wrong_type(key, value);
  constexpr double million = 1e6;
  const double ratio = integer != nullptr ? static_cast<double>(*integer) : *number;
  const bool is_in_range = ratio > 0 && ratio <= static_cast<double>(key.limits.max) / million;
  if (!is_in_range) throw ParseError(fmt::format("{} is out of range", ratio));
  const std::int64_t millionths = std::llround(ratio * million);
  constexpr double rounding = 1e-8;
  if (std::abs(ratio * million - static_cast<double>(millionths)) > rounding) {
    throw ParseError(fmt::format("{} has more than six decimals", ratio));
  }
  return within_limits(key, millionths, fmt::format("{}", ratio));
}

std::string print_ratio(const Key&, std::int64_t value) { return format_millionths(value); }

std::int64_t read_boolean(const Key& key, const WrittenValue& value) {
  const auto* const flag = std::get_if<bool>(&value);
  if (flag == nullptr) throw wrong_type(key, value);
  return *flag ? 1 : 0;
}

std::string print_boolean(const Key&, std::int64_t value) { return value != 0 ? "true" : "false"; }

std::string allowed_booleans(const Key&) { return "true, false"; }

std::vector<std::string> names_of(const Choices& choices) {
  std::vector<std::string> names;
  for (const std::string_view choice : choices) {
    if (!choice.empty()) names.emplace_back(choice);
  }
  return names;
}

std::int64_t read_choice(const Key& key, const WrittenValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) throw wrong_type(key, value);
  const std::vector<std::string> names = names_of(key.choices);
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return found - names.begin();
  throw ParseError(fmt::format("{} is not a choice{}", in_quotes(*text), did_you_mean(*text, names)));
}

std::string print_choice(const Key& key, std::int64_t value) {
  return std::string(key.choices.at(static_cast<std::size_t>(value)));
}

std::string allowed_choices(const Key& key) { return fmt::format("{}", fmt::join(names_of(key.choices), ", ")); }

}  // namespace

constexpr KeyType integer_type{"an integer", "an integer", false, &read_integer, &print_integer, &allowed_range};
constexpr KeyType cycles_type{
    "an integer number of cycles", "an integer number of cycles", false, &read_integer, &print_integer, &allowed_range};
constexpr KeyType bandwidth_type{"a bandwidth",
                                 R"(a bandwidth such as "819.2 GB/s")",
                                 true,
                                 &read_quantity<&parse_bandwidth>,
                                 &print_quantity<Bandwidth>,
                                 &allowed_range};
constexpr KeyType bytes_per_cycle_type{"bytes per cycle",
                                       R"(bytes per cycle such as "512 B/cycle")",
                                       true,
                                       &read_quantity<&parse_bytes_per_cycle>,
                                       &print_bytes_per_cycle,
                                       &allowed_range};
constexpr KeyType time_type{
    "a time",      R"(a time such as "20 ns")", true, &read_quantity<&parse_time>, &print_quantity<Picoseconds>,
    &allowed_range};
constexpr KeyType size_type{
    "a size", R"(a size such as "1 MiB")", true, &read_quantity<&parse_size>, &print_quantity<Bytes>, &allowed_range};
constexpr KeyType frequency_type{"a frequency",
                                 R"(a frequency such as "1.3 GHz")",
                                 true,
                                 &read_quantity<&parse_frequency>,
                                 &print_quantity<Frequency>,
                                 &allowed_range};
constexpr KeyType ratio_type{
    "a number of at most six decimals", "a number such as 0.86", false, &read_ratio, &print_ratio, &allowed_range};
constexpr KeyType boolean_type{"true or false", "true or false", false,
                               &read_boolean,   &print_boolean,  &allowed_booleans};
constexpr KeyType choice_type{"a name", "a name", true, &read_choice, &print_choice, &allowed_choices};

}  // namespace kernwave::platform
