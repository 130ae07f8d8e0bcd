#include "platform/report/report_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernwave::platform {

namespace {

[[nodiscard]] Json array_of(const std::vector<std::string>& texts) {
  return Json::array(Json::Array(texts.begin(), texts.end()));
}

[[nodiscard]] std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                                  bool of_texts) {
  std::string line = fmt::format("{:<{}}", cells[0], widths[0]);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    line += of_texts ? fmt::format("  {:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Json to_json(const ReportTable& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) rows.push_back(array_of(row));
  return Json::object(
      {{"title", table.title}, {"head", array_of(table.head)}, {"rows", rows}, {"of_texts", table.of_texts}});
}

std::string to_text(const ReportTable& table) {
  constexpr std::size_t first_column = 22;  // so that tables below each other line up
  constexpr std::size_t other_columns = 14;
  if (table.rows.empty()) return {};
  std::vector<std::string> head = table.head;
  head[0] = table.title;
  std::vector<std::size_t> widths(head.size(), table.of_texts ? 0 : other_columns);
  widths[0] = first_column;
  const auto widen = [&widths](const std::vector<std::string>& cells, std::size_t indent) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], cells[i].size() + (i == 0 ? indent : 0));
    }
  };
  widen(head, 0);
  for (const auto& row : table.rows) widen(row, 2);
  std::string text = line_of(head, widths, table.of_texts);
  for (std::vector<std::string> row : table.rows) {
    row[0] = "  " + row[0];
    text += line_of(row, widths, table.of_texts);
  }
  return text + "\n";
}

}  // namespace kernwave::platform
