// The goldens of one kernel: which figures each of its runs had, as a JSON file that differs line by line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/json/json.h"

namespace kernwave::testing {

/// One number of a run.
struct GoldenFigure {
  std::string group;  ///< "latency_ps", "counts", "bytes", "flops", "issued_bounds_ps", "stall_ps", "critical_path_ps"
  std::string name;   ///< within the group; empty where the group is one number
  std::int64_t value = 0;

  friend bool operator==(const GoldenFigure& a, const GoldenFigure& b) {
    return a.group == b.group && a.name == b.name && a.value == b.value;
  }
};

/// Those of a run that are not 0, group by group.
using GoldenFigures = std::vector<GoldenFigure>;

/// 0 if there is none of that name.
[[nodiscard]] std::int64_t value_of(const GoldenFigures& figures, const std::string& group, const std::string& name);

/// What is recorded of a result document (docs/results.md) with a critical path. Stalls are sums over all PEs.
[[nodiscard]] GoldenFigures figures_of(const platform::Json& result);

struct GoldenEntry {
  std::string policy;
  std::string options;  ///< of the command line, which name the run
  GoldenFigures figures;
};

struct GoldenDocument {
  std::string kernel;
  std::vector<GoldenEntry> entries;  ///< those of a policy in a row

  /// Or nullptr.
  [[nodiscard]] const GoldenEntry* find(const std::string& policy, const std::string& options) const;
};

/// Of a run's figures alone, and back. Throws platform::JsonError for what is no such object.
[[nodiscard]] platform::Json to_json(const GoldenFigures& figures);
[[nodiscard]] GoldenFigures figures_from_json(const platform::Json& json);

/// As it stands in the file.
[[nodiscard]] std::string to_text(const GoldenDocument& document);

[[nodiscard]] std::filesystem::path golden_path(const std::filesystem::path& folder, const std::string& kernel);

/// Throws platform::FileError, and platform::JsonError with the path for a file that holds something else.
[[nodiscard]] GoldenDocument read_golden(const std::filesystem::path& folder, const std::string& kernel);

/// Whole or not at all. Throws platform::FileError.
void write_golden(const std::filesystem::path& folder, const GoldenDocument& document);

}  // namespace kernwave::testing
