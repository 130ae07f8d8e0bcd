// The log of operations, in memory.
#pragma once

#include <string>
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

/// A header line and a line an operation: pe, sequence, part (0: the operation itself, n: the n-th part of a
/// composite), kind, operand shapes, bytes, flops, times in ps. Source lines are left out on request: they alone may
/// differ between compilers.
enum class SourceLines : std::uint8_t { with, without };
[[nodiscard]] std::string to_csv(const std::vector<OperationRow>& rows, SourceLines lines = SourceLines::with);

}  // namespace kernwave::traces
