// What a query of an SQLite file gives.
#pragma once

#include <string>
#include <vector>

namespace kernwave::testing {

/// Rows of fields; NULL is the empty text. An error fails the test.
[[nodiscard]] std::vector<std::vector<std::string>> query(const std::string& path, const std::string& sql);

/// The same with commas between fields and a line feed behind each row.
[[nodiscard]] std::string query_text(const std::string& path, const std::string& sql);

}  // namespace kernwave::testing
