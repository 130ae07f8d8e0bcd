#include "traces/op_log/op_log.h"

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

}  // namespace kernwave::traces
