#include "platform/run/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "models/protocol/connector.h"
#include "models/run/run.h"
#include "platform/host/child_process.h"
#include "platform/host/host_watch.h"
#include "platform/host/interrupt.h"
#include "platform/host/progress.h"
#include "platform/host/stack_overflow.h"
#include "platform/parallel.h"
#include "platform/results/result_document.h"
#include "platform/run/hardware_use.h"
#include "platform/run/run_checks.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

constexpr std::string_view failure_key = "simulation_error";

/// What stands behind `message`: each kernel that has not ended, and what it waits for.
[[nodiscard]] std::string with_waits(std::string message, const System& system) {
  for (std::int64_t i = 0; i < system.pe_count(); ++i) {
    const PeCpu& cpu = system.pe(PeId(i)).cpu();
    if (cpu.has_program() && !cpu.drained()) message += "\n  " + cpu.describe_wait();
  }
  return message;
}

[[nodiscard]] std::string deadlock_message(const System& system) {
  return with_waits("deadlock: nothing in flight can complete, and these kernels have not ended:", system);
}

[[nodiscard]] std::string no_progress_message(const System& system) {
  const Picoseconds still = now() - system.ledger().moved_at();
  return with_waits(fmt::format("no progress: for {} of simulated time (run.no_progress_limit = {}) no operation has "
                                "completed or been issued, and these kernels have not ended:",
                                time_text(still.count()), format_quantity(system.config().run.no_progress_limit)),
                    system);
}

[[nodiscard]] std::string failure_message(const RunLedger& ledger) {
  std::vector<RunLedger::Failure> failures = ledger.failures();
  // Those of one instant are recorded in the order in which SystemC runs the kernels.
  std::stable_sort(failures.begin(), failures.end(),
                   [](const RunLedger::Failure& a, const RunLedger::Failure& b) { return a.pe < b.pe; });
  std::string message;
  for (const RunLedger::Failure& failure : failures) {
    message += fmt::format("{}{}: {}", message.empty() ? "" : "\n", failure.pe ? "kernel error" : "error of the model",
                           failure.message);
  }
  return message;
}

/// Empty if it ended well.
[[nodiscard]] std::string bad_end_message(RunEnd end, const System& system) {
  switch (end) {
    case RunEnd::failed:
      return failure_message(system.ledger());
    case RunEnd::deadlocked:
      return deadlock_message(system);
    case RunEnd::no_progress:
      return no_progress_message(system);
    case RunEnd::stopped:
      return with_waits("stopped: a module has called sc_stop, and these kernels have not ended:", system);
    case RunEnd::paused:
      return with_waits("paused: a module has called sc_pause, and these kernels have not ended:", system);
    case RunEnd::finished:
    case RunEnd::interrupted:
      break;
  }
  return {};
}

/// A run that Ctrl-C has ended says what was found, and is not held for a failed one.
void fail_if_bad(RunEnd end, const System& system, const RunChecks& checks, const std::vector<std::string>& problems) {
  const std::string message = bad_end_message(end, system);
  std::vector<std::string> lines;
  if (!message.empty()) lines.push_back(message);
  if (end != RunEnd::interrupted) {
    for (const std::string& error : checks.errors()) {
      const bool said = message.find(error) != std::string::npos;  // a trapped NaN, if it has ended the run
      if (!said) lines.push_back(error);
    }
  }
  if (lines.empty()) return;
  for (const std::string& warning : checks.warnings()) lines.push_back("warning: " + warning);
  lines.insert(lines.end(), problems.begin(), problems.end());
  throw SimulationError(fmt::format("{}", fmt::join(lines, "\n")));
}

[[nodiscard]] traces::RunNote note_of(RunEnd end, const System& system) {
  switch (end) {
    case RunEnd::finished:
      return {true, "", system.ledger().end()};
    case RunEnd::failed:
      return {false, "kernel error", now()};
    case RunEnd::interrupted:
      return {false, "interrupted", now()};
    case RunEnd::no_progress:
      return {false, "no progress", now()};
    case RunEnd::stopped:
      return {false, "stopped", now()};
    case RunEnd::paused:
      return {false, "paused", now()};
    case RunEnd::deadlocked:
      break;
  }
  return {false, "deadlock", now()};
}

/// What the user asked for without effect, once the run has shown what it needed.
[[nodiscard]] std::vector<std::string> notes_of(const RunRequest& request, const HardwareUse& use) {
  std::vector<std::string> notes = request.notes;
  for (std::string& text : keys_without_effect(request.configuration, use)) notes.push_back(std::move(text));
  return notes;
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
  system.ledger().set_watched(true);  // in the last words below too
  const auto begin = std::chrono::steady_clock::now();
  const RunEnd end = run_to_end(system.ledger());
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - begin;
  // The last words of receivers to senders, of those that were received in the last instant too.
  constexpr Picoseconds instant(1);
  if (end == RunEnd::finished) sc_core::sc_start(to_sc_time(system.config().pe.ipcq.hop_latency + instant));
  return {end, host.count()};
}

}  // namespace

namespace {

/// What the host's memory is asked for.
enum class HostMemory : std::uint8_t { machine, data, run, result };

[[nodiscard]] std::string stacks_text(const SystemConfig& system) {
  const std::int64_t pes = system.cubes * system.pes_per_cube;
  return fmt::format(
      "{} stacks of {}, one for each PE's kernel: lower run.kernel_stack, system.cubes or "
      "system.pes_per_cube",
      pes, format_quantity(system.pe.kernel_stack));
}

[[nodiscard]] std::string memory_text(HostMemory use, const RunRequest& request) {
  const SystemConfig& system = request.configuration.system;
  const char* without_data = request.data == DataMode::full ? "; --data none keeps no data" : "";
  switch (use) {
    case HostMemory::machine:
      return fmt::format(
          "a machine of {} cubes of {} PEs with {} of scratch each: lower pe.scratch.capacity, "
          "system.cubes or system.pes_per_cube",
          system.cubes, system.pes_per_cube, format_quantity(system.pe.scratch.capacity));
    case HostMemory::data:
      return fmt::format("the data of {}: take fewer or shorter sequences, or smaller matrices{}", request.kernel,
                         without_data);
    case HostMemory::run:
      return fmt::format(
          "the run, {} of simulated time after its start: leave out --op-log, --timeline, --vcd, "
          "--critical-path or --report, or make the work smaller{}",
          time_text(now().count()), without_data);
    case HostMemory::result:
      break;
  }
  return fmt::format("the results of {}: make the work smaller{}", request.kernel, without_data);
}

/// A System and nothing else.
class PlainMachine : public Machine {
 public:
  PlainMachine(const SystemConfig& config, DataMode data) : system_("system", config, data, connector_) {}
  [[nodiscard]] System& system() override { return system_; }

 private:
  Connector connector_;
  System system_;
};

[[nodiscard]] std::unique_ptr<Machine> build(const RunRequest& request) {
  const SystemConfig& config = request.configuration.system;
  if (!request.build) return std::make_unique<PlainMachine>(config, request.data);
  std::unique_ptr<Machine> machine = request.build(config, request.data);
  if (machine == nullptr) throw SimulationError("the builder has built no machine");
  const System& system = machine->system();
  if (system.pe_count() != config.cubes * config.pes_per_cube || system.data_mode() != request.data) {
    throw SimulationError(
        fmt::format("the builder has built {} PEs with data {}, where {} PEs with data {} are asked for",
                    system.pe_count(), system.data_mode() == DataMode::full ? "full" : "none",
                    config.cubes * config.pes_per_cube, request.data == DataMode::full ? "full" : "none"));
  }
  return machine;
}

/// What becomes of a machine after its run.
struct MachineEnd {
  bool keeps = false;

  void operator()(Machine* machine) const {
    if (!keeps) delete machine;  // NOLINT(cppcoreguidelines-owning-memory): it is the deleter of a unique_ptr
  }
};

/// Computes a workload's reference on a thread of its own until it is asked for or not needed. A host of one core does
/// that afterwards.
class ReferenceBesideRun {
 public:
  explicit ReferenceBesideRun(const Workload& workload) {
    if (host_cores() == 1) return;
    thread_ = helper_thread([this, &workload] {
      try {
        workload.prepare_reference_beside_run(cancelled_);
      } catch (const std::exception&) {
        return;  // `verify` meets it again, where it can be told
      }
    });
  }
  ReferenceBesideRun(const ReferenceBesideRun&) = delete;
  ReferenceBesideRun& operator=(const ReferenceBesideRun&) = delete;
  ~ReferenceBesideRun() {
    cancelled_ = true;
    finish();
  }

  void finish() {
    if (thread_) thread_->join();
    thread_.reset();
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::optional<std::thread> thread_;
};

/// `use` says at any time what the host's memory is asked for.
[[nodiscard]] RunOutcome simulate_watching_memory(const RunRequest& request, const Workload& workload,
                                                  const RunOptions& options, HostMemory& use) {
  const StackOverflowReport stack_overflows(request.configuration.system.pe.kernel_stack);
  const std::unique_ptr<Machine, MachineEnd> machine(build(request).release(), MachineEnd{options.keeps_machine});
  System& system = machine->system();
  use = HostMemory::data;
  std::optional<ReferenceBesideRun> reference;
  if (request.data == DataMode::full) {
    workload.place_data(system);
    reference.emplace(workload);
  }
  use = HostMemory::run;
  workload.launch(system, request.policy);
  const BrokenPipesAreErrors broken_pipes;
  RunOutputs outputs(options.outputs, system);
  HardwareUse hardware_use(system.config().pes_per_cube);
  if (!request.configuration.given.empty()) outputs.observe(hardware_use);
  std::optional<InterruptCatcher> interrupts;  // until the outputs of an interrupted run are in their places
  if (options.interruptible) interrupts.emplace();
  const RunChecks checks(request.checks, system);
  for (PeObserver* observer : checks.observers()) outputs.observe(*observer);
  outputs.attach();

  const TimedRun run = run_watched(system, workload, interrupts ? &*interrupts : nullptr, options.progress);
  use = HostMemory::result;
  const traces::RunNote note = note_of(run.end, system);
  if (!note.complete) reference.reset();
  outputs.finish_traces(note);
  fail_if_bad(run.end, system, checks, outputs.problems());
  const int signal = interrupts ? interrupts->caught() : 0;
  if (note.complete) {
    interrupts.reset();
    if (signal != 0) (void)std::raise(signal);  // as if it came now
  }

  if (reference) reference->finish();
  RunOutcome outcome{result_document(request, workload, system, note, run.seconds),
                     note.complete ? 0 : signal,
                     note.end,
                     {},
                     checks.warnings(),
                     {}};
  if (outcome.interrupted_by != 0) {
    for (std::string& error : checks.errors()) outcome.warnings.push_back(std::move(error));
  }
  for (const std::string& warning : outcome.warnings) outcome.document["warnings"].push_back(warning);
  if (note.complete) outcome.notes = notes_of(request, hardware_use);
  for (const std::string& text : outcome.notes) outcome.document["notes"].push_back(text);
  outputs.complete(outcome.document);
  Json& path = outcome.document["critical_path"];
  if (options.verify && !path.is_null()) options.verify(path);
  outputs.write_documents(outcome.document);
  outcome.problems = outputs.problems();
  return outcome;
}

}  // namespace

RunOutcome simulate(const RunRequest& request, const Workload& workload, const RunOptions& options) {
  HostMemory use = HostMemory::machine;
  try {
    return simulate_watching_memory(request, workload, options, use);
  } catch (const std::bad_alloc&) {
    throw SimulationError("the host has no memory left for " + memory_text(use, request));
  } catch (const sc_core::sc_report& report) {
    const bool of_a_stack = std::string_view(report.get_msg_type()) == "stack setup failed";
    if (!of_a_stack) throw;
    throw SimulationError("the host has no memory left for " + stacks_text(request.configuration.system));
  }
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
  const std::int64_t others = error.at("wrong_elements").as_int() - 1;
  const Json& first = error.at("first_wrong");
  throw SimulationError(fmt::format(
      "the result is wrong: {} is {} in place of {}{}", first.at("where").as_string(), first.at("output").as_string(),
      first.at("expected").as_string(),
      others == 0 ? "" : fmt::format(", and {} more {} wrong", others, others == 1 ? "element is" : "elements are")));
}

}  // namespace kernwave::platform
