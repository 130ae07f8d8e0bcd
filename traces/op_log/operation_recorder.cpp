#include "traces/op_log/operation_recorder.h"

#include <algorithm>
#include <tuple>

namespace kernwave::traces {

namespace {

constexpr std::size_t batch_rows = 8192;

[[nodiscard]] bool is_before(const OperationEntry& a, const OperationEntry& b) noexcept {
  const auto key = [](const OperationEntry& entry) {
    return std::make_tuple(entry.end.count(), entry.id.pe.count(), entry.id.sequence, entry.id.part);
  };
  return key(a) < key(b);
}

[[nodiscard]] std::int64_t detail_of(const Descriptor& descriptor) noexcept {
  if (const auto* dma = std::get_if<DmaDescriptor>(&descriptor.work)) {
    return static_cast<std::int64_t>(dma->region.base.value());
  }
  const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work);
  const bool sends = ipcq != nullptr && ipcq->action == IpcqAction::send;
  return sends ? ipcq->waited.count() : OperationEntry::absent;
}

}  // namespace

OperationRecorder::OnePe& OperationRecorder::of(PeId pe) {
  const auto index = static_cast<std::size_t>(pe.count());
  if (index >= pes_.size()) pes_.resize(index + 1);
  return pes_[index];
}

void OperationRecorder::depends(PeId pe, Completion on) {
  if (on.generation == 0 || writer_.failed()) return;
  std::vector<std::uint32_t>& next = of(pe).next;
  if (std::find(next.begin(), next.end(), on.generation) == next.end()) next.push_back(on.generation);
}

void OperationRecorder::submitted(const IssuedOperation& operation) {
  OnePe& pe = of(operation.descriptor.id.pe);
  if (pe.next.empty()) return;
  if (operation.completion.slot >= pe.in_flight.size()) pe.in_flight.resize(operation.completion.slot + 1);
  Sequences& dependencies = pe.in_flight[operation.completion.slot];
  for (const std::uint32_t generation : pe.next) {
    // Generations are sequence numbers modulo 2^32; how far back one lies is known all the same.
    const std::uint32_t distance = operation.completion.generation - generation;
    dependencies.push_back(operation.descriptor.id.sequence - distance);
  }
  pe.next.clear();
}

void OperationRecorder::completed(const CompletedOperation& operation) {
  if (writer_.failed()) return;
  if (operation.end > held_end_) {
    release();
    held_end_ = operation.end;
  }
  OperationEntry entry;
  entry.id = operation.descriptor.id;
  entry.work = work_.index_of(operation.descriptor, operation.where);
  entry.issued = operation.issued;
  entry.start = operation.start;
  entry.end = operation.end;
  entry.detail = detail_of(operation.descriptor);
  if (entry.id.part == 0) note_dependencies(operation, entry);
  held_.push_back(entry);
}

void OperationRecorder::note_dependencies(const CompletedOperation& operation, OperationEntry& entry) {
  OnePe& pe = of(entry.id.pe);
  if (operation.completion.slot >= pe.in_flight.size()) return;
  Sequences& dependencies = pe.in_flight[operation.completion.slot];
  entry.first_dependency = held_dependencies_.size();
  entry.dependencies = static_cast<std::uint32_t>(dependencies.size());
  held_dependencies_.insert(held_dependencies_.end(), dependencies.begin(), dependencies.end());
  dependencies.clear();
}

void OperationRecorder::release() {
  if (held_.size() > 1) std::sort(held_.begin(), held_.end(), is_before);
  for (OperationEntry& entry : held_) {
    const auto first = held_dependencies_.begin() + static_cast<std::ptrdiff_t>(entry.first_dependency);
    entry.first_dependency = batch_.dependencies.size();
    batch_.dependencies.insert(batch_.dependencies.end(), first, first + entry.dependencies);
    entry.work = number_of_work(entry.work);
    batch_.entries.push_back(entry);
  }
  held_.clear();
  held_dependencies_.clear();
  if (batch_.entries.size() >= batch_rows) writer_.exchange(batch_);
}

std::uint32_t OperationRecorder::number_of_work(std::uint32_t index) {
  if (index >= numbers_.size()) numbers_.resize(index + 1, 0);
  std::uint32_t& number = numbers_[index];
  if (number == 0) {
    number = ++last_number_;
    batch_.new_work.push_back(work_.record(index));
  }
  return number;
}

void OperationRecorder::finish() {
  release();
  if (!batch_.entries.empty()) writer_.exchange(batch_);
}

}  // namespace kernwave::traces
