// The table of all keys of the configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/key.h"

namespace kernwave::platform {

/// The slowest bandwidth with which every product of the model stays inside its integers.
constexpr std::int64_t min_bytes_per_second = 1'000'000;

/// In the order in which documentation and to_toml() show them; the keys of one table are contiguous.
[[nodiscard]] const std::vector<Key>& all_keys();

/// The part of a dotted path before its last dot: the table that the key is in.
[[nodiscard]] std::string_view table_of(std::string_view path) noexcept;

/// Whether the path leads on from a table; every path does from the empty one.
[[nodiscard]] bool is_below(std::string_view path, std::string_view table) noexcept;

[[nodiscard]] bool is_table(std::string_view path) noexcept;

/// Of a key in the table of keys.
[[nodiscard]] std::optional<std::size_t> index_of(std::string_view path) noexcept;

[[nodiscard]] std::vector<std::string> key_paths();
[[nodiscard]] std::vector<std::string> table_paths();

/// The names directly below a table, keys and tables.
[[nodiscard]] std::vector<std::string> names_below(std::string_view table);

}  // namespace kernwave::platform
