// The result of a run as one JSON document.
#pragma once

#include "models/system/system.h"
#include "platform/json/json.h"
#include "platform/request/run_request.h"
#include "platform/workload/workload.h"
#include "traces/files/output.h"

namespace kernwave::platform {

/// The version of the document's keys; raised when one changes its meaning.
inline constexpr int result_schema = 1;

/// The document of a run that has finished or was interrupted; the result of an interrupted run is not verified.
/// `host_seconds` is the host time of the simulation.
[[nodiscard]] Json result_document(const RunRequest& request, const Workload& workload, const System& system,
                                   const traces::RunNote& note, double host_seconds);

}  // namespace kernwave::platform
