#include "traces/op_log/csv_op_log.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "traces/files/background_writer.h"
#include "traces/op_log/append_text.h"
#include "traces/op_log/csv_file.h"
#include "traces/op_log/operation_order.h"
#include "traces/op_log/operation_recorder.h"

namespace kernwave::traces {

namespace {

/// "pe3.17" or "pe3.17.2".
void append_id(fmt::memory_buffer& text, const OperationId& id, bool with_part) {
  append(text, "pe");
  append(text, id.pe.count());
  append(text, ".");
  append(text, id.sequence);
  if (!with_part || id.part == 0) return;
  append(text, ".");
  append(text, id.part);
}

void append_numbers(fmt::memory_buffer& text, std::initializer_list<std::int64_t> numbers) {
  for (const std::int64_t number : numbers) {
    append(text, ",");
    append(text, number);
  }
}

}  // namespace

class CsvOpLog::File {
 public:
  explicit File(const std::string& path) : file_(path) {
    append(
        file_.text(),
        "id,parent,pe,sequence,part,engine,category,kind,label,shape,dtype,bytes,flops,cube,offset,issue_ps,start_ps,"
        "end_ps,queue_ps,waited_ps,dependencies,file,line\n");
  }

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] OperationRecorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] bool failed() const noexcept { return writer_.failed(); }

  void close(const RunNote& note);

 private:
  /// What the rows of one work record have in common, as it stands in them.
  struct WorkText {
    explicit WorkText(const WorkRecord& work);

    std::string middle;
    std::string tail;
    bool transfers;
    bool sends;
  };

  void write(const OperationBatch& batch);
  void write_row(const OperationBatch& batch, const OperationEntry& entry);

  CsvFile file_;
  std::vector<WorkText> work_;
  OperationOrder order_{[this](const OperationBatch& batch) { write(batch); }};
  BackgroundWriter<ToldOperations> writer_{[this](ToldOperations& told) { order_.take(told); }};
  OperationRecorder recorder_{writer_};
};

CsvOpLog::File::WorkText::WorkText(const WorkRecord& work)
    : middle(fmt::format(",{},{},{},{},{},{},{},{}", work.engine, work.category, work.kind, csv_field(work.label),
                         csv_field(work.shape), csv_field(work.dtype), work.bytes.count(), work.flops)),
      tail(fmt::format(",{},{}\n", csv_field(work.file), work.line)),
      transfers(work.category == "memory"),
      sends(work.category == "comm") {}

void CsvOpLog::File::write(const OperationBatch& batch) {
  for (const WorkRecord& work : batch.new_work) work_.emplace_back(work);
  for (const OperationEntry& entry : batch.entries) {
    write_row(batch, entry);
    file_.write_if_large();
  }
}

void CsvOpLog::File::write_row(const OperationBatch& batch, const OperationEntry& entry) {
  const WorkText& work = work_[entry.work - 1];
  fmt::memory_buffer& text = file_.text();
  append_id(text, entry.id, true);
  append(text, ",");
  if (entry.id.part > 0) append_id(text, entry.id, false);
  append_numbers(text, {entry.id.pe.count(), entry.id.sequence, entry.id.part});
  append(text, work.middle);
  if (work.transfers) {
    const HbmAddress address(static_cast<std::uint64_t>(entry.detail));
    append_numbers(text, {address.cube().count(), address.offset().count()});
  } else {
    append(text, ",,");
  }
  append_numbers(text,
                 {entry.issued.count(), entry.start.count(), entry.end.count(), (entry.start - entry.issued).count()});
  append(text, ",");
  if (work.sends && entry.detail != OperationEntry::absent) append(text, entry.detail);
  append(text, ",");
  append_dependencies(text, batch, entry);
  append(text, work.tail);
}

void CsvOpLog::File::close(const RunNote& note) {
  recorder_.finish(last_instant(note));
  writer_.finish();
  order_.finish();
  if (!note.complete) {
    std::string reason = note.reason;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    append(file_.text(), "# incomplete: " + reason + "\n");
  }
  file_.close();
}

CsvOpLog::CsvOpLog(const std::string& path) : file_(std::make_unique<File>(path)) {}
CsvOpLog::~CsvOpLog() = default;

const std::string& CsvOpLog::path() const noexcept { return file_->path(); }
PeObserver& CsvOpLog::observer() noexcept { return file_->recorder(); }
bool CsvOpLog::failed() const noexcept { return file_->failed(); }
void CsvOpLog::close(const RunNote& note) { file_->close(note); }

void write_path_csv(const std::string& path, const std::vector<PathSegment>& segments) {
  CsvFile file(path);
  fmt::memory_buffer& text = file.text();
  append(text, "position,start_ps,end_ps,cause,operation,pe,sequence,part,file,line\n");
  std::int64_t position = 0;
  for (const PathSegment& segment : segments) {
    append(text, ++position);
    append_numbers(text, {segment.start.count(), segment.end.count()});
    append(text, ",");
    append(text, name_of(segment.cause));
    append(text, ",");
    append_id(text, segment.operation, true);
    append_numbers(text, {segment.operation.pe.count(), segment.operation.sequence, segment.operation.part});
    append(text, ",");
    append(text, csv_field(segment.where.file));
    append_numbers(text, {segment.where.line});
    append(text, "\n");
    file.write_if_large();
  }
  file.close();
}

}  // namespace kernwave::traces
