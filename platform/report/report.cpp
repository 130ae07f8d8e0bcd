#include "platform/report/report.h"

#include <fmt/format.h>

#include "platform/report/report_page.h"
#include "platform/report/result_check.h"
#include "platform/report/result_tables.h"
#include "platform/report/roofline.h"

namespace kernwave::platform {

std::string report_html(const Json& result, const Json& activity) {
  require_result_document(result, "the report's document");
  const std::string kernel = result.at("kernel").as_string();
  Json tables = Json::array();
  for (const ReportTable& table : result_tables(result)) {
    if (!table.rows.empty()) tables.push_back(to_json(table));
  }
  ReportPage page;
  page.title = kernel;
  page.subtitle = fmt::format("{}  (policy {}, data {}, preset {}; kernwave {}, {})", result.at("command").as_string(),
                              result.at("policy").as_string(), result.at("data").as_string(),
                              result.at("config").at("preset").as_string(), result.at("version").as_string(),
                              result.at("revision").as_string());
  page.verdict = verdict(result);
  page.data = Json::object({{"names", Json::array({Json(kernel)})},
                            {"results", Json::array({result})},
                            {"rooflines", Json::array({to_json(roofline(result))})},
                            {"activity", activity},
                            {"tables", tables}});
  return to_html(page);
}

}  // namespace kernwave::platform
