#include "traces/op_log/operation_recorder.h"

#include <algorithm>
#include <utility>

namespace kernwave::traces {

namespace {

/// Few enough to stay in a processor's cache until the thread has them.
constexpr std::size_t batch_operations = 2048;

[[nodiscard]] bool sends(const Descriptor& descriptor) noexcept {
  const auto* ipcq = std::get_if<IpcqDescriptor>(&descriptor.work);
  return ipcq != nullptr && ipcq->action == IpcqAction::send;
}

}  // namespace

void OperationRecorder::depends(PeId pe, Completion on) {
  if (on.generation == 0 || writer_.failed()) return;
  std::vector<std::uint32_t>& next = of(pe).next;
  if (std::find(next.begin(), next.end(), on.generation) == next.end()) next.push_back(on.generation);
}

void OperationRecorder::wait_ends(const ProgramWait& wait, Picoseconds to) {
  if (wait.cause == TimeCause::credit) of(wait.pe).waited += to - wait.from;
}

void OperationRecorder::submitted(const IssuedOperation& operation) {
  OnePe& pe = of(operation.descriptor.id.pe);
  if (pe.next.empty() && !sends(operation.descriptor)) return;
  if (operation.completion.slot >= pe.in_flight.size()) pe.in_flight.resize(operation.completion.slot + 1);
  InFlight& in_flight = pe.in_flight[operation.completion.slot];
  in_flight.waited = std::exchange(pe.waited, Picoseconds(0));
  for (const std::uint32_t generation : pe.next) {
    // Generations are sequence numbers modulo 2^32; how far back one lies is known all the same.
    const std::uint32_t distance = operation.completion.generation - generation;
    in_flight.dependencies.push_back(operation.descriptor.id.sequence - distance);
  }
  pe.next.clear();
}

void OperationRecorder::completed(const CompletedOperation& operation) {
  if (writer_.failed()) return;
  OperationEntry& entry = told_.batch.entries.emplace_back();
  entry.id = operation.descriptor.id;
  entry.work = work_.index_of(operation.descriptor, operation.where);
  if (entry.work == known_work_) {
    told_.batch.new_work.push_back(work_.record(entry.work));
    ++known_work_;
  }
  entry.issued = operation.issued;
  entry.start = operation.start;
  entry.end = operation.end;
  if (const auto* dma = std::get_if<DmaDescriptor>(&operation.descriptor.work)) {
    entry.detail = static_cast<std::int64_t>(dma->region.base.value());
  }
  if (entry.id.part == 0) take_in_flight(operation, entry);
  if (told_.batch.entries.size() >= batch_operations) hand_over(now());
}

void OperationRecorder::take_in_flight(const CompletedOperation& operation, OperationEntry& entry) {
  OnePe& pe = of(entry.id.pe);
  if (operation.completion.slot >= pe.in_flight.size()) return;
  InFlight& in_flight = pe.in_flight[operation.completion.slot];
  if (sends(operation.descriptor)) entry.detail = in_flight.waited.count();
  Sequences& dependencies = in_flight.dependencies;
  Sequences& all = told_.batch.dependencies;
  entry.first_dependency = all.size();
  entry.dependencies = static_cast<std::uint32_t>(dependencies.size());
  all.insert(all.end(), dependencies.begin(), dependencies.end());
  dependencies.clear();
}

void OperationRecorder::hand_over(Picoseconds settled) {
  told_.settled = settled;
  writer_.exchange(told_);
}

void OperationRecorder::finish(Picoseconds end) { hand_over(end + Picoseconds(1)); }

}  // namespace kernwave::traces
