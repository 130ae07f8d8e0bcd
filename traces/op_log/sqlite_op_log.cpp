#include "traces/op_log/sqlite_op_log.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <tuple>

#include "traces/files/background_writer.h"
#include "traces/files/pending_file.h"
#include "traces/op_log/append_text.h"
#include "traces/op_log/operation_order.h"
#include "traces/op_log/operation_recorder.h"
#include "traces/op_log/sqlite_database.h"
#include "traces/op_log/sqlite_schema.h"

namespace kernwave::traces {

namespace {

constexpr int schema_version = 1;
constexpr int columns = 9;
/// Rows that one statement inserts: most of a statement's cost is its start and end.
constexpr int rows_at_once = 32;

[[nodiscard]] std::string insert_rows(int rows) {
  std::string sql =
      "INSERT INTO operation_row (pe, sequence, part, work, end_ps, service_ps, queue_ps, detail, dependencies) "
      "VALUES ";
  for (int row = 0; row < rows; ++row) sql += row == 0 ? "(?,?,?,?,?,?,?,?,?)" : ",(?,?,?,?,?,?,?,?,?)";
  return sql;
}

/// Source lines of a path, each written once.
class Places {
 public:
  explicit Places(const SqliteDatabase& database) : insert_(database, "INSERT INTO place VALUES (?,?,?)") {}

  [[nodiscard]] std::int64_t number_of(SourceLocation where) {
    const auto next = static_cast<std::int64_t>(numbers_.size() + 1);
    const auto [place, is_new] = numbers_.emplace(std::make_pair(std::string_view(where.file), where.line), next);
    if (is_new) {
      insert_.bind(1, next);
      insert_.bind(2, std::string_view(where.file));
      insert_.bind(3, where.line);
      insert_.run();
    }
    return place->second;
  }

 private:
  SqliteStatement insert_;
  std::map<std::pair<std::string_view, int>, std::int64_t> numbers_;
};

}  // namespace

class SqliteOpLog::File {
 public:
  explicit File(const std::string& path)
      : pending_(path, PendingFile::Kind::regular), database_(pending_.descriptor()) {
    database_.execute(sqlite_schema);
    statements_ = std::make_unique<Statements>(database_);
  }

  [[nodiscard]] const std::string& path() const noexcept { return pending_.path(); }
  [[nodiscard]] OperationRecorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] bool failed() const noexcept { return writer_.failed(); }

  void write_path(const std::vector<PathSegment>& path);
  void close(const RunNote& note, const RunFacts& facts);

 private:
  struct Statements {
    explicit Statements(const SqliteDatabase& database)
        : work(database, "INSERT INTO work VALUES (NULL,?,?,?,?,?,?,?,?,?,?)"),
          rows(database, insert_rows(rows_at_once)),
          row(database, insert_rows(1)) {}

    SqliteStatement work;
    SqliteStatement rows;
    SqliteStatement row;
  };

  void finish_rows(Picoseconds end);
  void write(const OperationBatch& batch);
  void write_work(const WorkRecord& work);
  void bind_row(SqliteStatement& statement, int row, const OperationBatch& batch, const OperationEntry& entry);
  void write_run(const RunNote& note, const RunFacts& facts);

  PendingFile pending_;
  SqliteDatabase database_;
  std::unique_ptr<Statements> statements_;
  std::vector<fmt::memory_buffer> texts_ = std::vector<fmt::memory_buffer>(rows_at_once);
  OperationOrder order_{[this](const OperationBatch& batch) { write(batch); }};
  BackgroundWriter<ToldOperations> writer_{[this](ToldOperations& told) { order_.take(told); }};
  OperationRecorder recorder_{writer_};
  bool has_all_rows_ = false;
};

void SqliteOpLog::File::write(const OperationBatch& batch) {
  database_.execute("BEGIN");
  for (const WorkRecord& work : batch.new_work) write_work(work);
  std::size_t done = 0;
  while (done < batch.entries.size()) {
    const bool many = batch.entries.size() - done >= rows_at_once;
    SqliteStatement& statement = many ? statements_->rows : statements_->row;
    for (int row = 0; row < (many ? rows_at_once : 1); ++row) bind_row(statement, row, batch, batch.entries[done++]);
    statement.run();
  }
  database_.execute("COMMIT");
}

void SqliteOpLog::File::write_work(const WorkRecord& work) {
  SqliteStatement& insert = statements_->work;
  int column = 0;
  for (const std::string_view text : {work.engine, work.category, work.kind, std::string_view(work.label),
                                      std::string_view(work.shape), std::string_view(work.dtype)}) {
    insert.bind(++column, text);
  }
  insert.bind(++column, work.bytes.count());
  insert.bind(++column, work.flops);
  insert.bind(++column, std::string_view(work.file));
  insert.bind(++column, work.line);
  insert.run();
}

void SqliteOpLog::File::bind_row(SqliteStatement& statement, int row, const OperationBatch& batch,
                                 const OperationEntry& entry) {
  int column = row * columns;
  for (const std::int64_t value :
       {entry.id.pe.count(), entry.id.sequence, std::int64_t{entry.id.part}, std::int64_t{entry.work},
        entry.end.count(), (entry.end - entry.start).count(), (entry.start - entry.issued).count()}) {
    statement.bind(++column, value);
  }
  ++column;
  entry.detail == OperationEntry::absent ? statement.bind_null(column) : statement.bind(column, entry.detail);
  ++column;
  if (entry.dependencies == 0) return statement.bind_null(column);
  fmt::memory_buffer& text = texts_[static_cast<std::size_t>(row)];
  text.clear();
  append_dependencies(text, batch, entry);
  statement.bind(column, std::string_view(text.data(), text.size()));
}

void SqliteOpLog::File::write_path(const std::vector<PathSegment>& path) {
  finish_rows(last_instant({}));  // a path is known of a complete run alone
  database_.execute("BEGIN");
  Places places(database_);
  SqliteStatement insert(database_, "INSERT INTO path_row VALUES (NULL,?,?,?,?,?,?,?)");
  for (const PathSegment& segment : path) {
    const std::int64_t place = places.number_of(segment.where);
    int column = 0;
    insert.bind(++column, segment.start.count());
    insert.bind(++column, segment.end.count());
    insert.bind(++column, name_of(segment.cause));
    for (const std::int64_t value :
         {segment.operation.pe.count(), segment.operation.sequence, std::int64_t{segment.operation.part}, place}) {
      insert.bind(++column, value);
    }
    insert.run();
  }
  database_.execute("COMMIT");
}

void SqliteOpLog::File::finish_rows(Picoseconds end) {
  if (has_all_rows_) return;
  has_all_rows_ = true;
  recorder_.finish(end);
  writer_.finish();
  order_.finish();
}

void SqliteOpLog::File::close(const RunNote& note, const RunFacts& facts) {
  finish_rows(last_instant(note));
  write_run(note, facts);
  database_.execute(sqlite_indices);
  statements_.reset();
  database_.close();
  pending_.commit();
}

void SqliteOpLog::File::write_run(const RunNote& note, const RunFacts& facts) {
  database_.execute("BEGIN");
  {
    SqliteStatement insert(database_, "INSERT INTO run VALUES (?,?)");
    const auto write_number = [&insert](std::string_view key, std::int64_t value) {
      insert.bind(1, key);
      insert.bind(2, value);
      insert.run();
    };
    const auto write_text = [&insert](std::string_view key, std::string_view value) {
      insert.bind(1, key);
      insert.bind(2, value);
      insert.run();
    };
    write_number("schema", schema_version);
    write_number("complete", note.complete ? 1 : 0);
    write_text("reason", note.reason);
    write_number("end_ps", note.end.count());
    for (const auto& [key, value] : facts) write_text(key, value);
  }
  database_.execute("COMMIT");
}

SqliteOpLog::SqliteOpLog(const std::string& path) : file_(std::make_unique<File>(path)) {}
SqliteOpLog::~SqliteOpLog() = default;

const std::string& SqliteOpLog::path() const noexcept { return file_->path(); }
PeObserver& SqliteOpLog::observer() noexcept { return file_->recorder(); }
bool SqliteOpLog::failed() const noexcept { return file_->failed(); }
void SqliteOpLog::write_path(const std::vector<PathSegment>& path) { file_->write_path(path); }
void SqliteOpLog::close(const RunNote& note, const RunFacts& facts) { file_->close(note, facts); }

}  // namespace kernwave::traces
