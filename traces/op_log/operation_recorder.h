// The observer that makes entries of the op log from the events of PEs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/systemc.h"
#include "models/pe/pe_observer.h"
#include "traces/files/background_writer.h"
#include "traces/op_log/operation_batch.h"
#include "traces/op_log/work_table.h"

namespace kernwave::traces {

/// Hands operations to a writer's thread in the order in which they are told; `OperationOrder` makes rows of them.
class OperationRecorder : public PeObserver {
 public:
  explicit OperationRecorder(BackgroundWriter<ToldOperations>& writer) : writer_(writer) {}

  [[nodiscard]] bool takes_ends_ahead() const override { return true; }

  void depends(PeId pe, Completion on) override;
  void wait_ends(const ProgramWait& wait, Picoseconds to) override;
  void submitted(const IssuedOperation& operation) override;
  void completed(const CompletedOperation& operation) override;

  /// Hands on the remaining operations at the end of the run. Operations after `end`, told ahead of time, never
  /// happened.
  void finish(Picoseconds end);

 private:
  using Sequences = std::vector<std::int64_t>;

  /// The data of an operation before it completes.
  struct InFlight {
    Sequences dependencies;
    Picoseconds waited;  ///< of a send, for a credit
  };
  struct OnePe {
    std::vector<std::uint32_t> next;  // generations that the operation to be submitted next depends on
    Picoseconds waited;               // for a credit, by the operation to be submitted next
    std::vector<InFlight> in_flight;  // by slot of the completion; slots are few and used again
  };

  [[nodiscard]] OnePe& of(PeId pe) {
    const auto index = static_cast<std::size_t>(pe.count());
    if (index >= pes_.size()) pes_.resize(index + 1);
    return pes_[index];
  }
  void take_in_flight(const CompletedOperation& operation, OperationEntry& entry);
  void hand_over(Picoseconds settled);

  SimulatedTime now;
  BackgroundWriter<ToldOperations>& writer_;
  std::vector<OnePe> pes_;
  WorkTable work_;
  std::uint32_t known_work_ = 0;  // records that the writer has, or will have with the next batch
  ToldOperations told_;
};

}  // namespace kernwave::traces
