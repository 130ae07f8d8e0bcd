// Simulates what a command line of `kernwave run` asks for, and writes the report of it.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "models/protocol/connector.h"
#include "models/system/run.h"
#include "models/system/system.h"
#include "platform/cli/command_line.h"
#include "platform/files.h"
#include "platform/report/activity_document.h"
#include "platform/report/report.h"
#include "platform/run/result_document.h"
#include "platform/workload/model_shape.h"
#include "traces/observer_group.h"

namespace {

using namespace kernwave;            // NOLINT(google-build-using-namespace): a program of one file
using namespace kernwave::platform;  // NOLINT(google-build-using-namespace)

[[nodiscard]] std::string report_of(const RunCommand& run, const std::string& command) {
  const Configuration configuration = load_configuration(run.configuration);
  WorkloadRequest request = run.workload;
  if (!run.model.empty()) request.model = load_model_shape(run.model);
  const auto workload = make_workload(request, configuration.system);

  Connector connector;
  System system("system", configuration.system, run.data, connector);
  if (run.data == DataMode::full) workload->place_data(system);
  traces::ActivitySeries series;
  traces::WindowRecorder recorder;
  traces::PeObserverGroup observers;
  observers.add(series);
  observers.add(recorder);
  system.set_observer(observers.observer());
  system.set_channel_observer(&series);
  workload->launch(system, run.policy);
  if (run_to_end(system.ledger()) != RunEnd::finished) throw std::runtime_error("the kernels have not drained");
  const Json result =
      result_document({configuration, request.kernel, run.policy, run.data, command}, *workload, system, 0);
  return report_html(result, activity_document(series, recorder));
}

}  // namespace

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    const ParsedCommandLine parsed = parse_command_line({arguments.begin() + 1, arguments.end()});
    const std::string report =
        report_of(std::get<RunCommand>(parsed.command.value()),
                  fmt::format("kernwave {}", fmt::join(arguments.begin() + 1, arguments.end(), " ")));
    write_file_atomically(arguments.at(0), report);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
