// The report of one run, as a page for a browser.
#pragma once

#include <string>

#include "platform/json/json.h"

namespace kernwave::platform {

/// One HTML file made from a result document and the `activity_document` of the same run (null if the run was not
/// observed). Throws ReportError if `result` is no result document.
[[nodiscard]] std::string report_html(const Json& result, const Json& activity);

}  // namespace kernwave::platform
