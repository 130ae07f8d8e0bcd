// Configuration files: accepted, and then printed as a file that means the same; or refused with placed messages.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "platform/config/configuration.h"
#include "tests/fuzz/expectations.h"
#include "tests/fuzz/fuzz_target.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] std::vector<std::string> overrides_in(std::string_view input) {
  constexpr std::string_view mark = "#--set ";
  std::vector<std::string> overrides;
  for (const std::string_view line : lines_of(input)) {
    if (line.substr(0, mark.size()) == mark) overrides.emplace_back(line.substr(mark.size()));
  }
  return overrides;
}

/// Nothing if it is refused.
[[nodiscard]] std::optional<platform::Configuration> load(const platform::ConfigurationRequest& request) {
  try {
    return platform::load_configuration(request);
  } catch (const platform::ConfigurationError& error) {
    require(!error.problems().empty(), "refused without a problem");
    require(lines_of(error.what()).size() == error.problems().size(), "a problem that is not one line");
    require_message(error.what());
    return std::nullopt;
  }
}

}  // namespace

void fuzz_configuration(std::string_view input) {
  const InputFile file(input, ".toml");
  const auto configuration = load({file.path(), overrides_in(input)});
  if (!configuration) return;
  for (const std::string& warning : configuration->warnings) require_message(warning);
  const std::string printed = to_toml(*configuration);
  const InputFile copy(printed, ".toml");
  const auto again = load({copy.path(), {}});
  require(again && to_toml(*again) == printed,
          fmt::format("printed, it does not load to the same values:\n{}", printed));
}

}  // namespace kernwave::testing
