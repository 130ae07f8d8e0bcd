// The order of an op log's rows: sorts operations that end ahead of simulated time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "traces/op_log/operation_batch.h"

namespace kernwave::traces {

/// Operations are told in causal order and ahead of simulated time; rows are in order of end, PE, sequence number and
/// part, an order that depends on nothing but the run. Work records are numbered in the order of the rows that need
/// them. Keeps the rows that a later call could still precede: as many as programs are ahead of simulated time.
class OperationOrder {
 public:
  /// `write` gets rows in order, in batches whose bounds follow from the rows alone.
  using Write = std::function<void(const OperationBatch&)>;

  explicit OperationOrder(Write write) : write_(std::move(write)) {}

  /// Takes over what has been told, and writes what ends before `told.settled`.
  void take(ToldOperations& told);
  /// Writes the rows that are left. Operations that `take` has not released never happened.
  void finish();

 private:
  struct Key {
    std::int64_t end;
    std::size_t index;
  };

  void hold(ToldOperations& told);
  void release(OperationEntry entry);
  [[nodiscard]] std::uint32_t number_of_work(std::uint32_t index);
  void hand_over();

  Write write_;
  std::vector<WorkRecord> work_;        // by index
  std::vector<std::uint32_t> numbers_;  // of work records by index; 0: no row needs it yet
  std::uint32_t last_number_ = 0;
  std::vector<OperationEntry> held_;
  std::vector<std::int64_t> held_dependencies_;
  std::vector<OperationEntry> later_;  // of those that are held, what stays
  std::vector<std::int64_t> later_dependencies_;
  std::vector<Key> due_;  // the others
  Picoseconds last_end_;
  OperationBatch ordered_;
};

}  // namespace kernwave::traces
