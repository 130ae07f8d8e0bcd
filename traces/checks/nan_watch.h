// The watch for the first NaN of a run, at which the run may end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/systemc.h"
#include "models/pe/pe_observer.h"
#include "models/system/system.h"

namespace kernwave::traces {

enum class OnNan : std::uint8_t { note, stop };

/// Looks for operations of the matrix and the vector engine, parts of composites included, whose result holds a NaN
/// although no input does. The first such operation is the one with the smallest (end, PE, sequence, part); after it
/// the watch ends. With `stop` the watch reports a failed kernel to the ledger 1 ps after the operation has completed,
/// so that all operations of that instant are known. A loaded NaN, such as poison, does not count. Needs data mode
/// `full`. Construct during elaboration.
class NanWatch : public PeObserver {
 public:
  /// `system` must outlive the run.
  NanWatch(System& system, OnNan on_nan);

  void service_begins(const Descriptor& operation, Picoseconds at) override;
  void service_ends(const Descriptor& operation, Picoseconds at) override;
  void completed(const CompletedOperation& operation) override;

  /// The finding as a sentence: PE, operation, source line, element. If the run ended in that very instant, there is a
  /// finding although the ledger was not told of a failure.
  [[nodiscard]] std::optional<std::string> finding() const;

 private:
  struct Element {
    std::int64_t row = 0;
    std::int64_t col = 0;
  };
  struct Birth {
    Descriptor operation;
    Element element;
    Picoseconds end;
    std::optional<SourceLocation> where;  ///< known when it has completed
  };
  /// Whether an engine will overwrite an operand that holds a NaN. Engines serve one operation at a time.
  struct Engines {
    bool gemm = false;
    bool math = false;
  };

  [[nodiscard]] bool is_watched(const Descriptor& operation, Picoseconds at) const noexcept;
  [[nodiscard]] std::optional<Element> first_nan(PeId pe, const ScratchOperand& view) const;
  [[nodiscard]] bool& loses_nan(const Descriptor& operation);
  [[nodiscard]] const Birth* first() const noexcept;
  [[nodiscard]] static std::string text(const Birth& birth);

  System& system_;
  OnNan on_nan_;
  std::vector<Engines> engines_;  // by PE
  std::vector<Birth> births_;     // of one instant, but for one
  sc_core::sc_event caught_;
};

}  // namespace kernwave::traces
