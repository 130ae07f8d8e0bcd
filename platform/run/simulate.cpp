#include "platform/run/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

#include "models/protocol/connector.h"
#include "models/system/run.h"
#include "platform/run/child_process.h"
#include "platform/run/host_watch.h"
#include "platform/run/interrupt.h"
#include "platform/run/progress.h"
#include "platform/run/result_document.h"
#include "platform/run/summary.h"

namespace kernwave::platform {

namespace {

constexpr std::string_view failure_key = "simulation_error";

[[nodiscard]] std::string stuck_message(const System& system) {
  std::string message = "deadlock: nothing in flight can complete, and these kernels have not ended:";
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const PeCpu& cpu = system.pe(PeId(i)).cpu();
    if (cpu.has_program() && !cpu.drained()) message += "\n  " + cpu.describe_wait();
  }
  return message;
}

[[nodiscard]] std::string failure_message(const RunLedger& ledger) {
  std::vector<RunLedger::Failure> failures = ledger.failures();
  // Those of one instant are recorded in the order in which SystemC runs the kernels.
  std::stable_sort(failures.begin(), failures.end(),
                   [](const RunLedger::Failure& a, const RunLedger::Failure& b) { return a.pe < b.pe; });
  std::string message;
  for (const RunLedger::Failure& failure : failures) {
    message += fmt::format("{}kernel error: {}", message.empty() ? "" : "\n", failure.message);
  }
  return message;
}

[[noreturn]] void fail(RunEnd end, const System& system, const std::vector<std::string>& problems) {
  std::string message = end == RunEnd::stuck ? stuck_message(system) : failure_message(system.ledger());
  for (const std::string& problem : problems) message += "\n" + problem;
  throw SimulationError(message);
}

[[nodiscard]] traces::RunNote note_of(RunEnd end, const System& system) {
  switch (end) {
    case RunEnd::finished:
      return {true, "", system.ledger().end()};
    case RunEnd::failed:
      return {false, "kernel error", now()};
    case RunEnd::interrupted:
      return {false, "interrupted", now()};
    case RunEnd::stuck:
      break;
  }
  return {false, "deadlock", now()};
}

struct TimedRun {
  RunEnd end;
  double seconds;  ///< of the host's time
};

[[nodiscard]] TimedRun run_watched(System& system, const Workload& workload, const InterruptCatcher* interrupts,
                                   bool progress) {
  HostWatch::Report report;
  if (progress) {
    report = [&system, work = workload.compulsory()](double seconds) {
      return progress_text(progress_of(system, work, seconds));
    };
  }
  const HostWatch watch(system.ledger(), interrupts, report);
  const auto begin = std::chrono::steady_clock::now();
  const RunEnd end = run_to_end(system.ledger());
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - begin;
  // The last words of receivers to senders.
  if (end == RunEnd::finished) sc_core::sc_start(to_sc_time(system.config().pe.ipcq.hop));
  return {end, host.count()};
}

}  // namespace

RunOutcome simulate(const RunRequest& request, const Workload& workload, const RunOptions& options) {
  Connector connector;
  System system("system", request.configuration.system, request.data, connector);
  if (request.data == DataMode::full) workload.place_data(system);
  workload.launch(system, request.policy);
  std::optional<InterruptCatcher> interrupts;  // until the traces are in their places
  if (options.interruptible) interrupts.emplace();
  RunOutputs outputs(options.outputs, system);
  outputs.attach();

  const TimedRun run = run_watched(system, workload, interrupts ? &*interrupts : nullptr, options.progress);
  const traces::RunNote note = note_of(run.end, system);
  outputs.finish_traces(note);
  if (run.end == RunEnd::failed || run.end == RunEnd::stuck) fail(run.end, system, outputs.problems());
  const bool after_the_end = interrupts && interrupts->caught() && note.complete;
  interrupts.reset();
  if (after_the_end) (void)std::raise(SIGINT);  // as if it came now

  RunOutcome outcome{result_document(request, workload, system, note, run.seconds), !note.complete, note.end, {}};
  outputs.complete(outcome.document);
  Json& path = outcome.document["critical_path"];
  if (options.verify && !path.is_null()) options.verify(path);
  outputs.write_documents(outcome.document);
  outcome.problems = outputs.problems();
  return outcome;
}

Json simulate(const RunRequest& request, const Workload& workload) {
  return simulate(request, workload, RunOptions{}).document;
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
