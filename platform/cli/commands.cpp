#include "platform/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>

#include "platform/cli/command_line.h"
#include "platform/cli/exit_code.h"
#include "platform/cli/fifo_readers.h"
#include "platform/cli/option_effects.h"
#include "platform/config/engine_table.h"
#include "platform/config/math_table.h"
#include "platform/files/whole_file.h"
#include "platform/headline/headline.h"
#include "platform/host/interrupt.h"
#include "platform/outputs/output_names.h"
#include "platform/outputs/outputs.h"
#include "platform/report/compare.h"
#include "platform/report/result_check.h"
#include "platform/results/older_names.h"
#include "platform/results/summary.h"
#include "platform/run/simulate.h"
#include "platform/run/what_if_verifier.h"
#include "platform/text/text_stream.h"
#include "platform/text/units.h"
#include "platform/workload/model_shape.h"
#include "traces/files/open_file.h"

namespace kernwave::platform {

namespace {

/// The process ends after its command, and so does what a machine has taken. Under AddressSanitizer it is taken down,
/// so that what is not is found.
#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_machine = false;
#else
constexpr bool keeps_machine = true;
#endif

constexpr std::size_t predictions_put_to_the_test = 3;

void warn(const Configuration& configuration) {
  for (const std::string& note : configuration.notes) complain("warning: " + note);
  for (const std::string& warning : configuration.warnings) complain("warning: " + warning);
}

/// The command as it could be typed again.
[[nodiscard]] std::string quoted_command(const std::vector<std::string>& arguments) {
  std::string text = "kernwave";
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
                                                "UVWXYZ0123456789-_=./,:+") == std::string::npos;
    if (plain) {
      text += " " + argument;
      continue;
    }
    text += " '";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

/// Where text goes beside outputs: to standard error where one of them is standard output.
class Beside {
 public:
  Beside(TextStream& out, const std::vector<std::string>& outputs)
      : out_(std::any_of(outputs.begin(), outputs.end(), is_standard_output) ? errors_ : out) {}
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() = default;

  void print(std::string_view text) noexcept { out_.print(text); }

 private:
  TextStream errors_{stderr};
  TextStream& out_;
};

/// A command line as it is carried out.
struct Invocation {
  std::string command;  ///< as it could be typed again
  TextStream& out;      ///< standard output
  const MachineBuilder& build;

  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) const {
    out.print(fmt::format(format, std::forward<Values>(values)...));
  }
};

int carry_out(const ListCommand& list, const Invocation& invocation) {
  if (list.engines) invocation.print("{}", engines_as_markdown());
  if (list.operations) invocation.print("{}", operations_as_markdown());
  if (list.engines || list.operations) return good;
  invocation.print("Kernels\n");
  for (const KernelDescription& kernel : kernel_catalogue()) {
    invocation.print("  {:<30}{}\n", kernel.name, kernel.description);
  }
  invocation.print("\nModels (--model; or the path of a Hugging Face config.json or of its folder)\n");
  for (const ModelShape& model : shipped_models()) {
    invocation.print("  {:<30}{} query heads, {} KV heads, head_dim {}\n", model.name, model.query_heads,
                     model.kv_heads, model.head_dim);
  }
  invocation.print("\nPresets (--config; or the path of a .toml file)\n");
  for (const PresetDescription& preset : presets()) invocation.print("  {:<30}{}\n", preset.name, preset.description);
  invocation.print(
      "\nPolicies (--policy)\n"
      "  blocking                      every operation waits for its completion where it is issued\n"
      "  lazy                          loads, stores and sends do not wait there: a load is awaited at its first use\n"
      "  stall_on_use                  no operation waits at issue: every result is awaited at its first use\n");
  return good;
}

/// A result document, maybe of an earlier version.
[[nodiscard]] Json load_result(const std::string& path) {
  return with_current_names(parse_json(read_file(path), path));
}

int carry_out(const CompareCommand& compare, const Invocation& invocation) {
  std::vector<NamedFile> outputs;
  if (!compare.report.empty()) outputs.push_back({"--report", compare.report});
  check_names(outputs, {{"A", compare.a}, {"B", compare.b}});
  const Json a = load_result(compare.a);
  const Json b = load_result(compare.b);
  const ComparedRun of_a{compare.a, a};
  const ComparedRun of_b{compare.b, b};
  const std::string text = comparison_text(of_a, of_b);
  if (!compare.report.empty()) {
    const auto readers = wait_for_readers({compare.report});
    write_file_atomically(compare.report, comparison_html(of_a, of_b));
  }
  Beside(invocation.out, {compare.report}).print(text);
  return good;
}

/// What the command reads; a model and a preset that have only a name are no files.
[[nodiscard]] std::vector<NamedFile> inputs_of(const RunCommand& run) {
  std::vector<NamedFile> inputs{{"--config", run.configuration.source}};
  if (!run.model.empty()) {
    inputs.push_back({"--model", run.model});
    inputs.push_back({"--model", (std::filesystem::path(run.model) / "config.json").string()});
  }
  return inputs;
}

int carry_out(const RunCommand& run, const Invocation& invocation) {
  check_outputs(run.outputs, inputs_of(run));
  const Configuration configuration = load_configuration(run.configuration);
  WorkloadRequest request = run.workload;
  if (!run.model.empty()) request.model = load_model_shape(run.model);
  const auto workload = make_workload(request, configuration.system);
  warn(configuration);
  const RunRequest to_run{
      configuration,      request.kernel, run.policy,       run.data,
      invocation.command, run.checks,     invocation.build, options_without_effect(run, workload->shape())};
  const bool progress = !run.quiet && ::isatty(STDERR_FILENO) == 1;
  std::unique_ptr<WhatIfVerifier> verifier;
  RunOptions options{run.outputs, true, progress, keeps_machine, {}};
  if (run.outputs.verify_what_if) {
    verifier = std::make_unique<WhatIfVerifier>(to_run, *workload);
    options.verify = [&verifier](Json& critical_path) { verifier->verify(critical_path, predictions_put_to_the_test); };
  }
  const auto readers = wait_for_readers(paths_of(run.outputs));
  const RunOutcome outcome = simulate(to_run, *workload, options);
  if (!run.quiet) {
    Beside text(invocation.out, paths_of(run.outputs));
    for (const std::string& line : workload->plan()) text.print(fmt::format("plan: {}\n", line));
    text.print(summary(outcome.document));
  }
  if (!run.quiet) {
    for (const std::string& note : outcome.notes) complain("note: " + note);
  }
  for (const std::string& warning : outcome.warnings) complain("warning: " + warning);
  for (const std::string& problem : outcome.problems) complain(problem);
  if (outcome.interrupted_by != 0) {
    complain(fmt::format("{} at {} of simulated time{}", interruption_text(outcome.interrupted_by),
                         time_text(outcome.end.count()),
                         run.outputs.any_file() ? "; outputs hold what happened up to there" : ""));
    return exit_code_of_signal(outcome.interrupted_by);
  }
  require_right_result(outcome.document);
  return outcome.problems.empty() ? good : simulation_failed;
}

int carry_out(const HeadlineCommand& headline, const Invocation& invocation) {
  run_headline({headline.out, headline.data, invocation.command}, invocation.out);
  return good;
}

int carry_out(const ConfigCommand& config, const Invocation& invocation) {
  if (config.keys) {
    invocation.print("{}", keys_as_markdown());
    return good;
  }
  const Configuration configuration = load_configuration(config.configuration);
  warn(configuration);
  invocation.print("{}", to_toml(configuration));
  return good;
}

/// Everything but the end of standard output.
[[nodiscard]] int carry_out(const std::vector<std::string>& arguments, TextStream& out, const MachineBuilder& build) {
  const ParsedCommandLine parsed = parse_command_line(arguments);
  if (!parsed.command) {
    TextStream errors(stderr);
    (parsed.exit_code == good ? out : errors).print(parsed.text);
    return parsed.exit_code;
  }
  const Invocation invocation{quoted_command(arguments), out, build};
  try {
    return std::visit([&invocation](const auto& chosen) { return carry_out(chosen, invocation); }, *parsed.command);
  } catch (const SimulationError& error) {
    complain(error.what());
    return simulation_failed;
  } catch (const ConfigurationError& error) {
    complain(error.what());
  } catch (const WorkloadError& error) {
    complain(error.what());
  } catch (const ModelShapeError& error) {
    complain(error.what());
  } catch (const OutputError& error) {
    complain(error.what());
  } catch (const FileError& error) {
    complain(error.what());
  } catch (const JsonError& error) {
    complain(error.what());
  } catch (const ReportError& error) {
    complain(error.what());
  } catch (const std::bad_alloc&) {
    complain("the host has no memory left: make the work or the machine smaller, or leave its data out (--data none)");
    return simulation_failed;
  } catch (const std::exception& error) {  // a fault of ours, or of the machine
    complain(error.what());
    return simulation_failed;
  }
  return usage_error;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const MachineBuilder& build) {
  keep_standard_descriptors();
  TextStream out(stdout);
  const int code = carry_out(arguments, out, build);
  const int error = out.finish();
  if (error == 0) return code;
  complain("cannot write standard output: " + traces::reason_of(error));
  return code == good ? simulation_failed : code;
}

}  // namespace kernwave::platform
