#include "traces/op_log/sqlite_database.h"

#include <system_error>

#include "traces/files/output.h"
#include "traces/op_log/sqlite_descriptor.h"

namespace kernwave::traces {

SqliteDatabase::SqliteDatabase(int descriptor) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(sqlite_name_of(descriptor).c_str(), &opened,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sqlite_descriptor_access());
  database_.reset(opened);
  check(status);
  // Large pages and one writer: a row then costs least.
  execute(
      "PRAGMA page_size = 16384;"
      "PRAGMA journal_mode = OFF;"
      "PRAGMA synchronous = OFF;"
      "PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA encoding = 'UTF-8'");
}

void SqliteDatabase::check(int status) const {
  if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW) return;
  if (database_ == nullptr) throw WriteError(sqlite3_errstr(status));
  std::string reason = sqlite3_errmsg(database_.get());
  const int system_error = sqlite3_system_errno(database_.get());
  if (system_error != 0) reason += ": " + std::generic_category().message(system_error);
  throw WriteError(reason);
}

void SqliteDatabase::execute(const std::string& sql) {
  check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

void SqliteDatabase::close() { check(sqlite3_close(database_.release())); }

SqliteStatement::SqliteStatement(const SqliteDatabase& database, const std::string& sql) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  const int status =
      sqlite3_prepare_v3(database.database_.get(), sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  statement_.reset(prepared);
  database.check(status);
}

void SqliteStatement::bind(int parameter, std::int64_t value) {
  database_.check(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void SqliteStatement::bind(int parameter, std::string_view text) {
  // A null pointer would be NULL, not the empty text.
  const char* data = text.empty() ? "" : text.data();
  database_.check(sqlite3_bind_text(statement_.get(), parameter, data, static_cast<int>(text.size()), SQLITE_STATIC));
}

void SqliteStatement::bind_null(int parameter) { database_.check(sqlite3_bind_null(statement_.get(), parameter)); }

void SqliteStatement::run() {
  const int status = sqlite3_step(statement_.get());
  sqlite3_reset(statement_.get());
  database_.check(status);
}

}  // namespace kernwave::traces
