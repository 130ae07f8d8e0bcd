// A key of the configuration: its name, the type and the limits of its values, the member of SystemConfig that it sets.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/quantity.h"
#include "models/config/system_config.h"
#include "platform/config/written_value.h"

namespace kernwave::platform {

// Every member of SystemConfig is an integer at heart (a count, a Quantity, an enumerator, a truth value): keys handle
// them all as one.

template <typename T>
[[nodiscard]] constexpr std::int64_t to_count(T value) noexcept {
  return static_cast<std::int64_t>(value);
}

template <typename Unit>
[[nodiscard]] constexpr std::int64_t to_count(Quantity<Unit> quantity) noexcept {
  return quantity.count();
}

struct Member {
  std::int64_t (*get)(const SystemConfig&);
  void (*set)(SystemConfig&, std::int64_t);
};

struct Key;

/// The type of a key's values: reads and prints them.
struct KeyType {
  std::string_view name;                                  ///< "a bandwidth"
  std::string_view expected;                              ///< with an example; shown for a value of the wrong type
  bool is_text;                                           ///< written in quotes
  std::int64_t (*read)(const Key&, const WrittenValue&);  ///< throws ParseError
  std::string (*print)(const Key&, std::int64_t value);   ///< without quotes
  std::string (*allowed)(const Key&);
};

/// In the base unit of the key's type, both included.
struct Limits {
  std::int64_t min;
  std::int64_t max;
};

constexpr Limits between(std::int64_t min, std::int64_t max) noexcept { return Limits{min, max}; }

/// Names in the order of the enumerators; empty at the end.
using Choices = std::array<std::string_view, 3>;

struct Key {
  std::string_view path;
  const KeyType& type;
  Limits limits;
  Member member;
  std::string_view description;
  Choices choices{};
  bool is_power_of_two = false;
  std::string_view word_for_zero{};  ///< allowed besides the limits, stands for 0
};

}  // namespace kernwave::platform
