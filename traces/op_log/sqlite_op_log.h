// The op log as an SQLite file.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/pe/pe_observer.h"
#include "traces/files/output.h"
#include "traces/path_segment.h"

namespace kernwave::traces {

/// Keys and values of the table `run`.
using RunFacts = std::vector<std::pair<std::string, std::string>>;

/// Writes every operation of a run, while it runs, on a thread of its own. Memory stays the same however long it is.
///
/// What a file holds:
/// - `operations`: a row an operation and a row a part of a composite, in order of end, PE, sequence and part. `id` is
///   "pe3.17", operation 17 of PE 3, or "pe3.17.2", its second part, whose `parent` is "pe3.17"; `pe`, `sequence` and
///   `part` are the same in numbers, and have an index. `engine`, `category`, `kind`, `label`, `shape`, `dtype`,
///   `bytes`, `flops`, `file`, `line` tell what it is. `cube` and `offset` are where a transfer begins in HBM.
///   `issue_ps`, `start_ps`, `end_ps`; `queue_ps` from issue to start, of a receive the way to its engine alone.
///   `waited_ps`: how long a send waited for a slot before it was issued. `dependencies`: sequence numbers, of the same
///   PE, of the operations whose results it reads, with spaces between; NULL: none.
/// - `critical_path`: see `write_path`.
/// - `run`: `schema` (the version of all this, 1), `complete` (1: every kernel has drained; 0: one has not, and
/// `reason`
///   says why), `end_ps`, and the caller's facts.
///
/// The first two are views; the tables behind them may change with the version.
class SqliteOpLog {
 public:
  /// Throws WriteError if the file cannot be made, or is no regular file.
  explicit SqliteOpLog(const std::string& path);
  /// Without `close` there is no file.
  ~SqliteOpLog();

  /// Of the file, as it was asked for.
  [[nodiscard]] const std::string& path() const noexcept;
  /// What to tell of the run.
  [[nodiscard]] PeObserver& observer() noexcept;
  /// Something could not be written, and nothing will be any more; `close` says what.
  [[nodiscard]] bool failed() const noexcept;

  /// At most once, before `close`: `position` (from 1), `start_ps`, `end_ps`, `cause`, the operation (`operation`, as
  /// the id in `operations`; `pe`, `sequence`, `part`), `file`, `line`. Throws WriteError.
  void write_path(const std::vector<PathSegment>& path);
  /// Completes the file and gives it its name. Throws WriteError for anything that could not be written since the
  /// beginning; an older file is then as it was.
  void close(const RunNote& note, const RunFacts& facts = {});

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace kernwave::traces
