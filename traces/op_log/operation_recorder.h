// Makes rows of the op log out of what PEs tell, in an order that depends on nothing but the run.
#pragma once

#include <cstdint>
#include <vector>

#include "models/pe/pe_observer.h"
#include "traces/files/background_writer.h"
#include "traces/op_log/operation_batch.h"
#include "traces/op_log/work_table.h"

namespace kernwave::traces {

/// Hands batches of rows to a writer. Rows of one instant are held back until it has passed, and sorted.
class OperationRecorder : public PeObserver {
 public:
  explicit OperationRecorder(BackgroundWriter<OperationBatch>& writer) : writer_(writer) {}

  void depends(PeId pe, Completion on) override;
  void submitted(const IssuedOperation& operation) override;
  void completed(const CompletedOperation& operation) override;

  /// No operation will follow: hands on what is left.
  void finish();

 private:
  using Sequences = std::vector<std::int64_t>;

  /// Whom the operations of one PE depend on.
  struct OnePe {
    std::vector<std::uint32_t> next;   // generations, of the operation to be submitted next
    std::vector<Sequences> in_flight;  // by slot of the completion; slots are few and used again
  };

  [[nodiscard]] OnePe& of(PeId pe);
  void note_dependencies(const CompletedOperation& operation, OperationEntry& entry);
  /// Moves what is held back to the batch.
  void release();
  [[nodiscard]] std::uint32_t number_of_work(std::uint32_t index);

  BackgroundWriter<OperationBatch>& writer_;
  std::vector<OnePe> pes_;
  WorkTable work_;
  std::vector<std::uint32_t> numbers_;  // of work records by index; 0: not written yet
  std::uint32_t last_number_ = 0;
  std::vector<OperationEntry> held_;  // `work` is an index, `first_dependency` counts from the list below
  Sequences held_dependencies_;
  Picoseconds held_end_;
  OperationBatch batch_;
};

}  // namespace kernwave::traces
