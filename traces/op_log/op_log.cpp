#include "traces/op_log/op_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kernwave::traces {

void OpLog::completed(const CompletedOperation& operation) {
  rows_.push_back({operation.descriptor, operation.where, operation.issued, operation.start, operation.end});
}

std::vector<OperationRow> OpLog::rows() const {
  std::vector<OperationRow> sorted = rows_;
  const auto key = [](const OperationRow& row) {
    return std::make_tuple(row.end.count(), row.descriptor.id.pe.count(), row.descriptor.id.sequence,
                           row.descriptor.id.part);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&key](const OperationRow& a, const OperationRow& b) { return key(a) < key(b); });
  return sorted;
}

std::string to_csv(const std::vector<OperationRow>& rows, SourceLines lines) {
  const bool with_lines = lines == SourceLines::with;
  std::string text = "pe,sequence,part,category,name,description,bytes,flops,issued_ps,start_ps,end_ps";
  text += with_lines ? ",file,line\n" : "\n";
  for (const OperationRow& row : rows) {
    const Descriptor& descriptor = row.descriptor;
    text += fmt::format("{},{},{},{},{},\"{}\",{},{},{},{},{}", descriptor.id.pe.count(), descriptor.id.sequence,
                        descriptor.id.part, category_of(descriptor), name_of(descriptor), describe(descriptor),
                        transferred_bytes(descriptor).count(), flops_of(descriptor), row.issued.count(),
                        row.start.count(), row.end.count());
    text += with_lines ? fmt::format(",{},{}\n", row.where.file, row.where.line) : "\n";
  }
  return text;
}

}  // namespace kernwave::traces
