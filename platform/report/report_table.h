// A table of texts, for the report's page and for terminals.
#pragma once

#include <string>
#include <vector>

#include "platform/json/json.h"

namespace kernwave::platform {

struct ReportTable {
  std::string title;
  std::vector<std::string> head;               ///< of each column; the first one names the rows
  std::vector<std::vector<std::string>> rows;  ///< each as long as the head
  bool of_texts = false;                       ///< columns behind the first hold words rather than numbers
};

[[nodiscard]] Json to_json(const ReportTable& table);

/// Columns as wide as their widest cell, numbers at the right; empty of a table without rows.
[[nodiscard]] std::string to_text(const ReportTable& table);

}  // namespace kernwave::platform
