// The log of operations, kept in memory.
#pragma once

#include <vector>

#include "models/pe/pe_observer.h"

namespace kernwave::traces {

/// One operation of a run.
struct OperationRow {
  Descriptor descriptor;
  SourceLocation where;
  Picoseconds issued;
  Picoseconds start;
  Picoseconds end;
};

/// Collects the operations of any number of PEs.
class OpLog : public PeObserver {
 public:
  [[nodiscard]] bool takes_ends_ahead() const override { return true; }
  void completed(const CompletedOperation& operation) override;

  /// By end, PE, sequence number and part: an order that depends on nothing but the run.
  [[nodiscard]] std::vector<OperationRow> rows() const;

 private:
  std::vector<OperationRow> rows_;
};

}  // namespace kernwave::traces
