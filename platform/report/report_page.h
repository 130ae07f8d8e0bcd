// The HTML page that carries a report: assets, words and data in one file.
#pragma once

#include <string>
#include <string_view>

#include "platform/json/json.h"
#include "platform/report/verdict.h"

namespace kernwave::platform {

struct ReportPage {
  std::string title;
  std::string subtitle;
  Verdict verdict;
  std::string findings_title = "Where the time went";
  Json data;  ///< what the page's script draws
};

/// A whole file that loads nothing from elsewhere. Texts and data may hold anything; none of it becomes markup.
[[nodiscard]] std::string to_html(const ReportPage& page);

/// With &, <, > and quotes as entities.
[[nodiscard]] std::string html_escaped(std::string_view text);

}  // namespace kernwave::platform
