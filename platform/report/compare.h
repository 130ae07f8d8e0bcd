// The comparison of two runs.
#pragma once

#include <string>

#include "platform/json/json.h"

namespace kernwave::platform {

/// A result document and what to call it: its path.
struct ComparedRun {
  std::string name;
  const Json& result;
};

/// Latency, bounds, engines, where the time went, work, and what differs in shape and configuration, for terminals.
/// Throws ReportError, with the name of the run, for what is no result document of this version's schema.
[[nodiscard]] std::string comparison_text(const ComparedRun& a, const ComparedRun& b);

/// The same as a page, with both runs in each chart.
[[nodiscard]] std::string comparison_html(const ComparedRun& a, const ComparedRun& b);

}  // namespace kernwave::platform
