#include "platform/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>

#include "platform/cli/command_line.h"
#include "platform/cli/exit_code.h"
#include "platform/cli/option_effects.h"
#include "platform/config/units.h"
#include "platform/files.h"
#include "platform/report/compare.h"
#include "platform/report/result_check.h"
#include "platform/run/headline.h"
#include "platform/run/interrupt.h"
#include "platform/run/outputs.h"
#include "platform/run/simulate.h"
#include "platform/run/summary.h"
#include "platform/run/what_if_verifier.h"
#include "platform/workload/model_shape.h"

namespace kernwave::platform {

namespace {

constexpr std::size_t predictions_put_to_the_test = 3;

void warn(const Configuration& configuration) {
  for (const std::string& warning : configuration.warnings) fmt::print(stderr, "kernwave: warning: {}\n", warning);
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

int carry_out(const ListCommand& /*list*/, const std::string& /*command*/) {
  fmt::print("Kernels\n");
  for (const KernelDescription& kernel : kernel_catalogue()) {
    fmt::print("  {:<30}{}\n", kernel.name, kernel.description);
  }
  fmt::print("\nModels (--model; or the path of a Hugging Face config.json or of its folder)\n");
  for (const ModelShape& model : shipped_models()) {
    fmt::print("  {:<30}{} query heads, {} KV heads, head_dim {}\n", model.name, model.query_heads, model.kv_heads,
               model.head_dim);
  }
  fmt::print("\nPresets (--config; or the path of a .toml file)\n");
  for (const PresetDescription& preset : presets()) fmt::print("  {:<30}{}\n", preset.name, preset.description);
  fmt::print(
      "\nPolicies (--policy)\n"
      "  blocking                      every operation waits for its completion where it is issued\n"
      "  lazy                          loads, stores and sends do not: a load is awaited where it is first used\n"
      "  stall_on_use                  nothing does: every result is awaited where it is first used\n");
  return good;
}

[[nodiscard]] Json load_json(const std::string& path) { return parse_json(read_file(path), path); }

int carry_out(const CompareCommand& compare, const std::string& /*command*/) {
  if (!compare.report.empty()) check_writable(compare.report);
  const Json a = load_json(compare.a);
  const Json b = load_json(compare.b);
  const ComparedRun of_a{compare.a, a};
  const ComparedRun of_b{compare.b, b};
  const std::string text = comparison_text(of_a, of_b);
  if (!compare.report.empty()) write_file_atomically(compare.report, comparison_html(of_a, of_b));
  fmt::print("{}", text);
  return good;
}

/// "kernwave: " before each line of a message that may have several.
void complain(const std::string& message) {
  std::size_t begin = 0;
  while (begin < message.size()) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    fmt::print(stderr, "kernwave: {}\n", message.substr(begin, end - begin));
    begin = end + 1;
  }
}

int carry_out(const RunCommand& run, const std::string& command) {
  check_outputs(run.outputs);
  const Configuration configuration = load_configuration(run.configuration);
  WorkloadRequest request = run.workload;
  if (!run.model.empty()) request.model = load_model_shape(run.model);
  const auto workload = make_workload(request, configuration.system);
  warn(configuration);
  const RunRequest to_run{configuration,
                          request.kernel,
                          run.policy,
                          run.data,
                          command,
                          run.checks,
                          options_without_effect(run, workload->shape())};
  const bool progress = !run.quiet && ::isatty(STDERR_FILENO) == 1;
  std::unique_ptr<WhatIfVerifier> verifier;
  RunOptions options{run.outputs, true, progress, {}};
  if (run.outputs.verify_what_if) {
    verifier = std::make_unique<WhatIfVerifier>(to_run, *workload);
    options.verify = [&verifier](Json& critical_path) { verifier->verify(critical_path, predictions_put_to_the_test); };
  }
  const RunOutcome outcome = simulate(to_run, *workload, options);
  if (!run.quiet) {
    for (const std::string& line : workload->plan()) fmt::print("plan: {}\n", line);
    fmt::print("{}", summary(outcome.document));
  }
  if (!run.quiet) {
    for (const std::string& note : outcome.notes) complain("note: " + note);
  }
  for (const std::string& warning : outcome.warnings) complain("warning: " + warning);
  for (const std::string& problem : outcome.problems) complain(problem);
  if (outcome.interrupted) {
    complain(fmt::format("interrupted at {} of simulated time{}", time_text(outcome.end.count()),
                         run.outputs.any_file() ? "; outputs hold what happened up to there" : ""));
    return interrupted_exit_code;
  }
  require_right_result(outcome.document);
  return outcome.problems.empty() ? good : simulation_failed;
}

int carry_out(const HeadlineCommand& headline, const std::string& command) {
  run_headline({headline.out, headline.data, command});
  return good;
}

int carry_out(const ConfigCommand& config, const std::string& /*command*/) {
  if (config.keys) {
    fmt::print("{}", keys_as_markdown());
    return good;
  }
  const Configuration configuration = load_configuration(config.configuration);
  warn(configuration);
  fmt::print("{}", to_toml(configuration));
  return good;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  const ParsedCommandLine parsed = parse_command_line(arguments);
  if (!parsed.command) {
    fmt::print(parsed.exit_code == good ? stdout : stderr, "{}", parsed.text);
    return parsed.exit_code;
  }
  const std::string command = quoted_command(arguments);
  try {
    return std::visit([&command](const auto& chosen) { return carry_out(chosen, command); }, *parsed.command);
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

}  // namespace kernwave::platform
