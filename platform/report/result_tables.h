// The numbers of one result, as tables.
#pragma once

#include <vector>

#include "platform/json/json.h"
#include "platform/report/report_table.h"

namespace kernwave::platform {

/// Latency and bounds, engines, where the time went, work, channels, links; then shape and configuration.
[[nodiscard]] std::vector<ReportTable> result_tables(const Json& result);

/// A value of `shape` or `config` on one line; long lists are cut.
[[nodiscard]] std::string value_text(const Json& value);

}  // namespace kernwave::platform
