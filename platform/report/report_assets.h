// The files that every report carries, embedded by the build.
#pragma once

#include <string_view>

namespace kernwave::platform {

struct ReportAssets {
  std::string_view page;  ///< with the names of the others as {{style}}, {{library}}, ...
  std::string_view style;
  std::string_view library;  ///< Apache ECharts
  std::string_view charts;
  std::string_view timeline;
  std::string_view tables;
  std::string_view assembly;  ///< what puts the page together; behind all others
};

[[nodiscard]] const ReportAssets& report_assets() noexcept;

}  // namespace kernwave::platform
