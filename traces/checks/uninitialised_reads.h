// The watch for operations that read unwritten bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/memory/byte_marks.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"

namespace kernwave::traces {

/// Bytes of HBM count as written after a store or a write without time. Bytes of scratch count as written after an
/// operation has written its result there since their tensor was made. The elements outside the valid part of a load
/// count as written (this check does not report poison). Each operation is checked when it is issued: by then the
/// language has waited for the writers of its operands, and messages have ordered the accesses of different PEs. In
/// data mode `none` all of HBM counts as written.
class UninitialisedReads : public PeObserver {
 public:
  /// `system` must outlive the run.
  explicit UninitialisedReads(const System& system);

  void scratch_allocated(PeId pe, const ScratchOperand& tensor) override;
  void submitted(const IssuedOperation& operation) override;
  void was_reset(PeId pe, const std::vector<Neighbour>& neighbours, Picoseconds at) override;

  /// One sentence for each source line that read such bytes, in the order of issue (time, PE): its first operation,
  /// and which bytes.
  [[nodiscard]] std::vector<std::string> findings() const;

 private:
  /// The first operation of a source line that was caught, and what it read.
  struct Finding {
    Picoseconds issued;
    Descriptor operation;
    SourceLocation where;
    std::optional<ScratchOperand> operand;  ///< none: HBM
    HbmAddress address;
    std::int64_t first = 0;  ///< byte of the operand
  };

  [[nodiscard]] ByteMarks& written(PeId pe);
  void check_scratch(const IssuedOperation& operation, const ScratchOperand& operand);
  void check_hbm(const IssuedOperation& operation, const HbmRegion& region);
  /// Whatever order the calls of different PEs come in.
  [[nodiscard]] static bool is_earlier(const Finding& a, const Finding& b);
  void note(const IssuedOperation& operation, const Finding& finding);

  const System& system_;
  std::vector<std::optional<ByteMarks>> scratch_;  // by PE, made when it is first used
  std::map<std::pair<std::string_view, int>, Finding> by_line_;
};

}  // namespace kernwave::traces
