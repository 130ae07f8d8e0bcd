// Rows of the op log on their way to a file.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/address.h"
#include "models/base/quantity.h"
#include "traces/op_log/work_record.h"

namespace kernwave::traces {

/// One operation, or one part of a composite.
struct OperationEntry {
  OperationId id;
  std::uint32_t work = 0;  ///< number of its work record
  std::uint32_t dependencies = 0;
  std::size_t first_dependency = 0;  ///< in the batch's list
  Picoseconds issued;
  Picoseconds start;
  Picoseconds end;
  /// Of a transfer its first byte's HbmAddress::value(); of a send the picoseconds it waited for a slot; else absent.
  std::int64_t detail = absent;

  static constexpr std::int64_t absent = -1;
};

struct OperationBatch {
  /// Those that appear for the first time; numbers go on from the batch before, beginning with 1.
  std::vector<WorkRecord> new_work;
  /// By end, PE, sequence number and part, over all batches.
  std::vector<OperationEntry> entries;
  /// Sequence numbers.
  std::vector<std::int64_t> dependencies;

  void clear() noexcept {
    new_work.clear();
    entries.clear();
    dependencies.clear();
  }
};

/// Operations in the order in which they were told. `work` of an entry is an index into all the work records so far,
/// from 0 on.
struct ToldOperations {
  OperationBatch batch;
  Picoseconds settled;  ///< no operation that ends before is told any more

  void clear() noexcept { batch.clear(); }
};

}  // namespace kernwave::traces
