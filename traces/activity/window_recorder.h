// A recorder of the operations of one interval of a run, for the report's timeline.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/pe/pe_observer.h"
#include "traces/op_log/op_log.h"

namespace kernwave::traces {

/// The window: operations in service at some time in [from, to) are kept.
struct RecordedWindow {
  Picoseconds from;
  Picoseconds to{std::numeric_limits<std::int64_t>::max()};
  std::size_t limit = 4000;  ///< of those, the first that start
};

/// Keeps the operations of a window, and never more than its limit: by start, PE, sequence number and part, an order
/// that depends on nothing but the run.
class WindowRecorder : public PeObserver {
 public:
  explicit WindowRecorder(const RecordedWindow& window = {}) : window_(window) {}

  void completed(const CompletedOperation& operation) override;

  [[nodiscard]] const RecordedWindow& window() const noexcept { return window_; }
  /// Operations of the window, those that were not kept included.
  [[nodiscard]] std::int64_t touching() const noexcept { return touching_; }
  /// The instant up to which the rows are complete: the start of the first operation that was not kept, or the end of
  /// the window.
  [[nodiscard]] Picoseconds complete_to() const noexcept { return complete_to_; }
  /// In the order above.
  [[nodiscard]] std::vector<OperationRow> rows() const;

 private:
  RecordedWindow window_;
  std::int64_t touching_ = 0;
  Picoseconds complete_to_ = window_.to;
  std::vector<OperationRow> rows_;  // a heap; the last of the order is its front
};

}  // namespace kernwave::traces
