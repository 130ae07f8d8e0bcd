#include "traces/activity/window_recorder.h"

#include <algorithm>
#include <tuple>

namespace kernwave::traces {

namespace {

[[nodiscard]] bool before(const OperationRow& a, const OperationRow& b) {
  const auto key = [](const OperationRow& row) {
    return std::make_tuple(row.start.count(), row.descriptor.id.pe.count(), row.descriptor.id.sequence,
                           row.descriptor.id.part);
  };
  return key(a) < key(b);
}

}  // namespace

void WindowRecorder::completed(const CompletedOperation& operation) {
  const bool instant = operation.start == operation.end;
  const bool begun = instant ? operation.start >= window_.from : operation.end > window_.from;
  if (!begun || operation.start >= window_.to) return;
  ++touching_;
  if (window_.limit == 0) {
    complete_to_ = std::min(complete_to_, operation.start);
    return;
  }
  if (rows_.size() == window_.limit && operation.start > rows_.front().start) {  // most of a long run
    complete_to_ = std::min(complete_to_, operation.start);
    return;
  }
  rows_.push_back({operation.descriptor, operation.where, operation.issued, operation.start, operation.end});
  std::push_heap(rows_.begin(), rows_.end(), before);
  if (rows_.size() <= window_.limit) return;
  std::pop_heap(rows_.begin(), rows_.end(), before);
  complete_to_ = std::min(complete_to_, rows_.back().start);
  rows_.pop_back();
}

std::vector<OperationRow> WindowRecorder::rows() const {
  std::vector<OperationRow> sorted = rows_;
  std::sort(sorted.begin(), sorted.end(), before);
  return sorted;
}

}  // namespace kernwave::traces
