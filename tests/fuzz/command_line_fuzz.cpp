// Command lines: parsed, and checked as far as that goes without a simulation.
#include <string>
#include <variant>
#include <vector>

#include "platform/cli/command_line.h"
#include "platform/files/whole_file.h"
#include "platform/workload/model_shape.h"
#include "tests/fuzz/expectations.h"
#include "tests/fuzz/fuzz_target.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] std::vector<std::string> arguments_in(std::string_view input) {
  std::vector<std::string> arguments;
  if (input.empty()) return arguments;
  // A zero byte would end an argument.
  for (const std::string_view line : lines_of(input)) arguments.emplace_back(line.substr(0, line.find('\0')));
  return arguments;
}

/// What `kernwave run` does before it simulates.
void prepare(const platform::RunCommand& run) {
  platform::check_outputs(run.outputs);
  const platform::Configuration configuration = platform::load_configuration(run.configuration);
  platform::WorkloadRequest request = run.workload;
  if (!run.model.empty()) request.model = platform::load_model_shape(run.model);
  const auto workload = platform::make_workload(request, configuration.system);
  for (const std::string& line : workload->plan()) require_message(line);
  (void)workload->shape();
}

void prepare(const platform::ConfigCommand& config) { (void)platform::load_configuration(config.configuration); }

template <typename Other>
void prepare(const Other& /*without anything to check*/) {}

template <typename Action>
void expect_nothing_but_messages(Action action) {
  try {
    action();
  } catch (const platform::ConfigurationError& error) {
    require_message(error.what());
  } catch (const platform::WorkloadError& error) {
    require_message(error.what());
  } catch (const platform::ModelShapeError& error) {
    require_message(error.what());
  } catch (const platform::OutputError& error) {
    require_message(error.what());
  } catch (const platform::FileError& error) {
    require_message(error.what());
  }
}

}  // namespace

void fuzz_command_line(std::string_view input) {
  const platform::ParsedCommandLine parsed = platform::parse_command_line(arguments_in(input));
  if (parsed.command) {
    std::visit([](const auto& command) { expect_nothing_but_messages([&command] { prepare(command); }); },
               *parsed.command);
    return;
  }
  constexpr int usage_error = 2;
  require(parsed.exit_code == 0 || parsed.exit_code == usage_error, "an exit code that is not documented");
  require(!parsed.text.empty() && parsed.text.back() == '\n', "a text that does not end its line");
  if (parsed.exit_code == 0) return;
  const std::string_view message = std::string_view(parsed.text).substr(0, parsed.text.size() - 1);
  require_message(message);
  for (const std::string_view line : lines_of(message)) {
    require(line.rfind("kernwave: ", 0) == 0, "a line of a message that does not begin as documented");
  }
}

}  // namespace kernwave::testing
