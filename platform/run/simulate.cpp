#include "platform/run/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "models/protocol/connector.h"
#include "models/system/run.h"
#include "platform/run/child_process.h"
#include "platform/run/result_document.h"
#include "platform/run/summary.h"

namespace kernwave::platform {

namespace {

constexpr std::string_view failure_key = "simulation_error";

[[noreturn]] void fail_stuck(const System& system) {
  std::string message = "deadlock: nothing in flight can complete, and these kernels have not ended:";
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const PeCpu& cpu = system.pe(PeId(i)).cpu();
    if (cpu.has_program() && !cpu.drained()) message += "\n  " + cpu.describe_wait();
  }
  throw SimulationError(message);
}

[[noreturn]] void fail_kernels(const RunLedger& ledger) {
  std::vector<RunLedger::Failure> failures = ledger.failures();
  // Those of one instant are recorded in the order in which SystemC runs the kernels.
  std::stable_sort(failures.begin(), failures.end(),
                   [](const RunLedger::Failure& a, const RunLedger::Failure& b) { return a.pe < b.pe; });
  std::string message;
  for (const RunLedger::Failure& failure : failures) {
    message += fmt::format("{}kernel error: {}", message.empty() ? "" : "\n", failure.message);
  }
  throw SimulationError(message);
}

}  // namespace

Json simulate(const RunRequest& request, const Workload& workload) {
  Connector connector;
  System system("system", request.configuration.system, request.data, connector);
  if (request.data == DataMode::full) workload.place_data(system);
  workload.launch(system, request.policy);

  const auto begin = std::chrono::steady_clock::now();
  const RunEnd end = run_to_end(system.ledger());
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - begin;
  if (end == RunEnd::failed) fail_kernels(system.ledger());
  if (end == RunEnd::stuck) fail_stuck(system);
  sc_core::sc_start(to_sc_time(request.configuration.system.pe.ipcq.hop));  // the last words of receivers to senders
  return result_document(request, workload, system, host.count());
}

Json simulate_isolated(const RunRequest& request, const Workload& workload) {
  const std::string text = text_from_child([&] {
    try {
      return to_text(simulate(request, workload), 0);
    } catch (const SimulationError& error) {
      return to_text(Json::object({{failure_key, error.what()}}), 0);
    }
  });
  Json result = parse_json(text, "the simulation's process");
  if (const Json* failure = result.find(failure_key)) throw SimulationError(failure->as_string());
  return result;
}

void require_right_result(const Json& result) {
  const Json& error = result.at("error");
  if (error.is_null()) return;
  if (error.at("within_tolerance").as_bool()) return;
  throw SimulationError(
      fmt::format("the result is wrong: its relative error against the float64 reference is {}, "
                  "the tolerance {:.1e}",
                  relative_error_text(error), error.at("tolerance").as_double()));
}

}  // namespace kernwave::platform
