// Keys that name a file of measured times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/config/system_config.h"
#include "models/timing/timing_table.h"
#include "platform/config/configuration.h"

namespace kernwave::platform {

/// A key whose value is the path of a table (docs/timing.md, "Measured times"), relative to the folder of the file that
/// names the table; empty: none.
struct TimingKey {
  std::string_view path;
  TimingSubject subject;
  std::string_view description;
  const std::string& (*name)(const SystemConfig& system);         ///< of the timing there; empty: none
  void (*apply)(const TimingTable& table, SystemConfig& system);  ///< throws std::invalid_argument
};

/// In the order of the tables that they are in; each is the last key of its table.
[[nodiscard]] const std::vector<TimingKey>& timing_keys();

/// The key of that path, or nullptr.
[[nodiscard]] const TimingKey* find_timing_key(std::string_view path) noexcept;

/// Reads a table of that subject. Mistakes in the file are appended to `problems`.
[[nodiscard]] TimingTable read_timing_table(const std::string& path, TimingSubject subject,
                                            std::vector<Problem>& problems);

}  // namespace kernwave::platform
