// The op log and the critical path as CSV files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/pe/pe_observer.h"
#include "traces/files/output.h"
#include "traces/path_segment.h"

namespace kernwave::traces {

/// Writes every operation of a run, while it runs, on a thread of its own: a header line, then the rows and columns of
/// the view `operations` (see SqliteOpLog) in the same order; NULL is an empty field. Lines end in a line feed; a field
/// with a comma, a quote or a line break in it is quoted as RFC 4180 says.
///
/// The log of an incomplete run has one more line: "# incomplete: " and the reason. This line is an error for a reader
/// without support for comments, so that the log is not mistaken for that of a complete run.
class CsvOpLog {
 public:
  /// Throws WriteError if the file cannot be made.
  explicit CsvOpLog(const std::string& path);
  /// Without `close` there is no file.
  ~CsvOpLog();

  /// Of the file, as it was asked for.
  [[nodiscard]] const std::string& path() const noexcept;
  /// What to tell of the run.
  [[nodiscard]] PeObserver& observer() noexcept;
  /// Something could not be written, and nothing will be any more; `close` says what.
  [[nodiscard]] bool failed() const noexcept;

  /// Completes the file and gives it its name. Throws WriteError for anything that could not be written since the
  /// beginning; an older file is then as it was.
  void close(const RunNote& note);

 private:
  class File;
  std::unique_ptr<File> file_;
};

/// A header line and a line a segment: the columns of the view `critical_path` (see SqliteOpLog). Throws WriteError.
void write_path_csv(const std::string& path, const std::vector<PathSegment>& segments);

}  // namespace kernwave::traces
