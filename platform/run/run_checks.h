// The checks of a run while it goes on: races, unwritten bytes, NaNs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/system/system.h"
#include "platform/request/run_request.h"
#include "traces/checks/nan_watch.h"
#include "traces/checks/race_detector.h"
#include "traces/checks/uninitialised_reads.h"

namespace kernwave::platform {

/// With data, checks a run for races, for reads of unwritten bytes, and for its first NaN; findings are warnings, or
/// errors with `strict`. Without data, only races are checked, and only with `strict`.
class RunChecks {
 public:
  /// During elaboration. `system` must outlive this.
  RunChecks(const CheckRequest& request, System& system);

  /// The observers of the checks; add them to the system after all others.
  [[nodiscard]] std::vector<PeObserver*> observers() const;

  // After the run.
  /// A sentence each.
  [[nodiscard]] std::vector<std::string> errors() const;
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  [[nodiscard]] std::vector<std::string> findings() const;

  CheckRequest request_;
  std::unique_ptr<traces::RaceDetector> races_;
  std::unique_ptr<traces::UninitialisedReads> reads_;
  std::unique_ptr<traces::NanWatch> nan_watch_;
};

}  // namespace kernwave::platform
