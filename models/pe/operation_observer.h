// Who wants to know of every operation of a PE.
#pragma once

#include "models/base/address.h"
#include "models/base/quantity.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// An operation, or a part of a composite (`descriptor.id.part` > 0), that has completed.
struct CompletedOperation {
  const Descriptor& descriptor;
  SourceLocation where;
  Picoseconds issued;  ///< its issue cost is paid and it is presented to the scheduler; of a part: its dispatch began
  Picoseconds start;   ///< its engine takes it in service
  Picoseconds end;
};

class OperationObserver {
 public:
  OperationObserver() = default;
  OperationObserver(const OperationObserver&) = delete;
  OperationObserver& operator=(const OperationObserver&) = delete;
  virtual ~OperationObserver() = default;

  /// Called in order of completion; operations of different PEs that complete in one instant come in any order.
  virtual void completed(const CompletedOperation& operation) = 0;
};

}  // namespace kernwave
