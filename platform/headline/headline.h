// The runs of `kernwave headline`, and their tables.
#pragma once

#include <string>
#include <vector>

#include "models/config/system_config.h"
#include "platform/json/json.h"
#include "platform/text/text_stream.h"

namespace kernwave::platform {

struct HeadlineRequest {
  std::string out_folder;  ///< made if it does not exist
  DataMode data = DataMode::full;
  std::string command;
};

/// Runs the attention of Llama-3.1-8B and 70B with all four kernels on the presets ahbm and ahbm-ws (docs/results.md
/// lists the runs). Prints the tables to `out`, and writes headline.txt and headline.json (all result documents) into
/// the folder. Throws SimulationError, FileError, OutputError.
void run_headline(const HeadlineRequest& request, TextStream& out);

/// The tables of a list of result documents.
[[nodiscard]] std::string headline_tables(const std::vector<Json>& results);

}  // namespace kernwave::platform
