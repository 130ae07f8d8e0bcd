// The critical path as part of a result document, and as text for users.
#pragma once

#include <string>

#include "platform/json/json.h"
#include "platform/results/what_if.h"
#include "traces/critical_path/critical_path.h"

namespace kernwave::platform {

/// The value of the key `critical_path` (docs/results.md). Actual latencies of the what-if are null until `set_actual`.
[[nodiscard]] Json critical_path_document(const traces::PathSummary& path);

/// The predictions of a document, the largest gain first.
[[nodiscard]] std::vector<Prediction> predictions_of(const Json& critical_path);
/// Records the latency of a run with that resource twice as fast.
void set_actual(Json& critical_path, Faster resource, Picoseconds latency);

/// Tables by cause, by line and of the what-if. Lines that take less than a thousandth of the path together are one.
[[nodiscard]] std::string critical_path_text(const Json& critical_path);

}  // namespace kernwave::platform
