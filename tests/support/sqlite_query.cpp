#include "tests/support/sqlite_query.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>

namespace kernwave::testing {

namespace {

using Rows = std::vector<std::vector<std::string>>;

int add_row(void* rows, int count, char** values, char** /*names*/) {
  std::vector<std::string> row;
  for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "" : values[i]);
  static_cast<Rows*>(rows)->push_back(row);
  return 0;
}

}  // namespace

Rows query(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> closing(database, sqlite3_close);
  EXPECT_EQ(opened, SQLITE_OK) << path;
  Rows rows;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), add_row, &rows, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database) << " in " << sql;
  return rows;
}

std::string query_text(const std::string& path, const std::string& sql) {
  std::string text;
  for (const auto& row : query(path, sql)) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + row[i];
    text += '\n';
  }
  return text;
}

}  // namespace kernwave::testing
