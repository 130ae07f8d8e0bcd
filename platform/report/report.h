// The report of one run, as a page for a browser.
#pragma once

#include <string>

#include "platform/json/json.h"

namespace kernwave::platform {

/// One HTML file of a result document and of what `activity_document` made of the same run; null if nothing was
/// observed. Throws ReportError if `result` is no result document.
[[nodiscard]] std::string report_html(const Json& result, const Json& activity);

}  // namespace kernwave::platform
