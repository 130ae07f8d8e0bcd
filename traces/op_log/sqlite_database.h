// An SQLite database with errors as exceptions and automatic release.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kernwave::traces {

/// An empty file that is written once, by one thread at a time. Whatever fails throws WriteError.
///
/// No journal is kept: after an error, or a power failure, the file is worthless.
class SqliteDatabase {
 public:
  /// Open for reading and writing; it must outlive the database.
  explicit SqliteDatabase(int descriptor);

  void execute(const std::string& sql);
  /// Also tells of what could not be written until now.
  void close();

 private:
  friend class SqliteStatement;
  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
  };

  void check(int status) const;

  std::unique_ptr<sqlite3, Close> database_;
};

/// A statement with parameters, numbered from 1 on, to be run again and again. Must not outlive its database's close.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteDatabase& database, const std::string& sql);

  void bind(int parameter, std::int64_t value);
  /// The text must stay until the statement has run.
  void bind(int parameter, std::string_view text);
  void bind_null(int parameter);
  void run();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  const SqliteDatabase& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace kernwave::traces
