// The comparison of two runs.
#pragma once

#include <string>

#include "platform/json/json.h"

namespace kernwave::platform {

/// A result document and its name, which is its path.
struct ComparedRun {
  std::string name;
  const Json& result;
};

/// Latency, bounds, engines, time by cause, work, and the differences in shape and configuration, as text for
/// terminals. Throws ReportError, with the name of the run, for a document that is no result document of this version's
/// schema.
[[nodiscard]] std::string comparison_text(const ComparedRun& a, const ComparedRun& b);

/// The same as a page, with both runs in each chart.
[[nodiscard]] std::string comparison_html(const ComparedRun& a, const ComparedRun& b);

}  // namespace kernwave::platform
