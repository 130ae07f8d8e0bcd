#include "platform/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <utility>

#include "platform/cli/exit_code.h"
#include "platform/text/message_text.h"
#include "platform/text/units.h"
#include "platform/version.h"

namespace kernwave::platform {

namespace {

const std::map<std::string, tl::Policy> policies = {
    {"blocking", tl::Policy::blocking}, {"lazy", tl::Policy::lazy}, {"stall_on_use", tl::Policy::stall_on_use}};
const std::map<std::string, DataMode> data_modes = {{"full", DataMode::full}, {"none", DataMode::none}};
const std::map<std::string, DType> dtypes = {{"f16", DType::f16}, {"bf16", DType::bf16}, {"f32", DType::f32}};
const std::map<std::string, KvLayout> layouts = {{"hsd", KvLayout::heads_first}, {"shd", KvLayout::tokens_first}};
const std::map<std::string, kernels::Reduction> reductions = {{"chain", kernels::Reduction::chain},
                                                              {"tree", kernels::Reduction::tree}};
const std::map<std::string, kernels::KvSource> kv_sources = {{"load", kernels::KvSource::load},
                                                             {"composite", kernels::KvSource::composite}};
const std::map<std::string, RingSharding> shardings = {{"contiguous", RingSharding::contiguous},
                                                       {"zigzag", RingSharding::zigzag}};

/// "8192", "128K", "8192,4096".
[[nodiscard]] std::vector<std::int64_t> parse_counts(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> counts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    try {
      counts.push_back(parse_count(text.substr(begin, comma - begin)));
    } catch (const ParseError& error) {
      throw CLI::ValidationError(option, error.what());
    }
    begin = comma + 1;
  }
  return counts;
}

void add_counts(CLI::App& app, const std::string& name, std::vector<std::int64_t>& counts, const std::string& help) {
  app.add_option_function<std::string>(
         name, [name, &counts](const std::string& text) { counts = parse_counts(name, text); }, help)
      ->type_name("COUNT[,...]");
}

template <typename Count>
void add_count(CLI::App& app, const std::string& name, Count& count, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [name, &count](const std::string& text) {
           const auto counts = parse_counts(name, text);
           if (counts.size() != 1) throw CLI::ValidationError(name, "takes one number");
           count = static_cast<Count>(counts.front());
         },
         help)
      ->type_name("COUNT");
}

template <typename Value, typename Choice>
void add_choice(CLI::App& app, const std::string& name, Value& value, const std::map<std::string, Choice>& choices,
                const std::string& help) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "" : " | ") + choice.first;
  app.add_option_function<std::string>(
         name,
         [name, names, &value, &choices](const std::string& text) {
           const auto found = choices.find(text);
           if (found == choices.end()) {
             throw CLI::ValidationError(name, fmt::format("{} is not one of {}", in_quotes(text), names));
           }
           value = found->second;
         },
         help)
      ->type_name(names);
}

/// The path of a file or folder, or a name that may be one.
CLI::Option& add_path(CLI::App& app, const std::string& name, std::string& path, const std::string& help) {
  return *app.add_option_function<std::string>(
      name,
      [name, &path](const std::string& text) {
        if (text.empty()) throw CLI::ValidationError(name, "the name is empty");
        path = text;
      },
      help);
}

void add_configuration(CLI::App& app, ConfigurationRequest& request) {
  add_path(app, "--config", request.source, "Preset (kernwave list), or a .toml file that builds on one")
      .type_name("PRESET|FILE")
      ->default_str(request.source);
  app.add_option("--set", request.overrides, "Override one key, for instance pe.gemm.rows=128; may be repeated")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option& add_time(CLI::App& app, const std::string& name, std::function<void(Picoseconds)> take,
                      const std::string& help) {
  return *app.add_option_function<std::string>(
                 name,
                 [name, take = std::move(take)](const std::string& text) {
                   try {
                     take(parse_time(text));
                   } catch (const ParseError& error) {
                     throw CLI::ValidationError(name, error.what());
                   }
                 },
                 help)
              ->type_name("TIME");
}

void add_outputs(CLI::App& app, OutputRequest& outputs) {
  const auto add_file = [&app](const std::string& name, std::string& path, const std::string& help) {
    return add_path(app, name, path, help).type_name("FILE");
  };
  add_file("--json", outputs.json, "Write the result document to this file");
  CLI::Option* vcd = add_file("--vcd", outputs.vcd, "Write waveforms of the run: .vcd");
  app.add_option("--vcd-scope", outputs.vcd_scope, "Only signals whose name fits (default *)")
      ->type_name("GLOB")
      ->needs(vcd);
  add_time(
      app, "--vcd-from", [&outputs](Picoseconds time) { outputs.vcd_from = time; },
      "Waveforms from this time on, for instance \"10 us\"")
      .needs(vcd);
  add_time(
      app, "--vcd-to", [&outputs](Picoseconds time) { outputs.vcd_to = time; }, "Waveforms up to this time")
      .needs(vcd);
  add_file("--timeline", outputs.timeline, "Write a timeline for Perfetto; compressed if the name ends with .gz");
  add_file("--op-log", outputs.op_log, "Write a row for each operation: .sqlite, .db or .csv");
  app.add_flag("--critical-path", outputs.critical_path, "Find what every picosecond of the latency was spent on");
  app.add_flag("--verify-what-if", outputs.verify_what_if,
               "Simulate the predictions of the critical path (implies --critical-path)");
  CLI::Option* report = add_file("--report", outputs.report, "Write a report in HTML to this file");
  add_time(
      app, "--report-from", [&outputs](Picoseconds time) { outputs.report_from = time; },
      "The report shows single operations from this time on")
      .needs(report);
  add_time(
      app, "--report-to", [&outputs](Picoseconds time) { outputs.report_to = time; },
      "The report shows single operations up to this time")
      .needs(report);
}

void add_checks(CLI::App& app, CheckRequest& checks) {
  app.add_flag("--strict", checks.strict, "Warnings are errors; look for races without data too");
  app.add_flag("--trap-nan", checks.trap_nan, "End the run at its first NaN");
}

/// Two flags of their own: CLI11 answers "--flag=word" with exceptions of the standard library where one flag negates
/// another or is counted.
[[nodiscard]] std::function<void()> add_causal(CLI::App& app, std::optional<bool>& causal) {
  CLI::Option* const yes = app.add_flag("--causal", "Causal mask, bottom-right aligned (default: prefill only)");
  CLI::Option* const no = app.add_flag("--no-causal", "Every query sees every key (default: decode only)");
  no->excludes(yes);
  return [yes, no, &causal] {
    if (*yes) causal = yes->as<bool>();
    if (*no) causal = !no->as<bool>();
  };
}

[[nodiscard]] std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) names.push_back(option->get_name());
  }
  return names;
}

/// Throws CLI::ValidationError.
void check_run(const RunCommand& run) {
  if (run.checks.trap_nan && run.data == DataMode::none) {
    throw CLI::ValidationError("--trap-nan", "needs --data full: data mode none computes no numbers");
  }
}

void add_run(CLI::App& app, RunCommand& run, std::optional<Command>& command) {
  CLI::App& sub = *app.add_subcommand("run", "Simulate one kernel and print what it took and why");
  WorkloadRequest& workload = run.workload;
  sub.add_option("KERNEL", workload.kernel, "A kernel that `kernwave list` shows")->required();
  add_path(sub, "--model", run.model, "Attention shape: a model's name, or the path of a config.json or of its folder")
      .type_name("NAME|FILE");
  add_count(sub, "--batch", workload.batch, "Sequences (default 1)");
  add_counts(sub, "--s-q", workload.s_q, "Queries of each sequence (default: 1 for decode, --s-kv for prefill)");
  add_counts(sub, "--s-kv", workload.s_kv, "Keys of each sequence: one count, or one for each sequence");
  const std::function<void()> take_causal = add_causal(sub, workload.causal);
  add_choice(sub, "--kv-layout", workload.kv_layout, layouts, "K and V as [H, S, D] (default) or [S, H, D]");
  add_choice(sub, "--dtype", workload.dtype, dtypes, "Storage type (default f16)");
  add_count(sub, "--tile", workload.tile,
            "Keys of one step (default: 512 decode, 128 prefill, less if scratch is short)");
  add_choice(sub, "--kv", workload.kv, kv_sources,
             "K and V by loads and dots (default), or by composites that stream them");
  sub.add_flag("--lse", workload.lse, "Also store ln(sum(exp(scores))) of every row, and check it");
  add_count(sub, "--ranks", workload.ranks, "long kernels: cubes that share a sequence (default: all)");
  add_choice(sub, "--reduce", workload.reduction, reductions, "decode_long: how partial results meet (default chain)");
  add_choice(sub, "--sharding", workload.sharding, shardings,
             "prefill_long: which tokens each cube holds (default contiguous)");
  sub.add_flag("--bidirectional", workload.bidirectional, "prefill_long: tiles travel both ways around the ring");
  add_count(sub, "--m", workload.m, "gemm: rows of A and C");
  add_count(sub, "--n", workload.n, "gemm: columns of B and C");
  add_count(sub, "--k", workload.k, "gemm: columns of A, rows of B");
  sub.add_option("--pe-kind", workload.pe_kind, "Run on the PEs of this kind alone (pe.kind.NAME; default: on all)")
      ->type_name("NAME");
  add_choice(sub, "--policy", run.policy, policies, "When the program waits (default lazy)");
  add_choice(sub, "--data", run.data, data_modes, "Compute and check results (full, default), or time alone (none)");
  add_count(sub, "--seed", workload.seed, "Seed of the random inputs (default 1)");
  add_configuration(sub, run.configuration);
  add_checks(sub, run.checks);
  add_outputs(sub, run.outputs);
  sub.add_flag("--quiet", run.quiet, "Print nothing but errors");
  sub.callback([&run, &command, &sub, take_causal] {
    take_causal();
    run.given = given_options(sub);
    run.outputs.critical_path = run.outputs.critical_path || run.outputs.verify_what_if;
    check_run(run);
    command = run;
  });
}

void add_list(CLI::App& app, ListCommand& list, std::optional<Command>& command) {
  CLI::App& sub = *app.add_subcommand("list", "Show kernels, models, presets and policies");
  sub.add_flag("--engines", list.engines, "Print the table of a PE's engines instead");
  sub.add_flag("--operations", list.operations, "Print the table of all MATH operations instead");
  sub.callback([&list, &command] { command = list; });
}

void add_headline(CLI::App& app, HeadlineCommand& headline, std::optional<Command>& command) {
  CLI::App& sub =
      *app.add_subcommand("headline", "Attention of Llama-3.1-8B and 70B under every policy, on both presets");
  add_path(sub, "--out", headline.out, "Folder for the results").type_name("FOLDER")->default_str(headline.out);
  add_choice(sub, "--data", headline.data, data_modes,
             "Compute and check results (full, default), or time alone (none)");
  sub.callback([&headline, &command] { command = headline; });
}

void add_config(CLI::App& app, ConfigCommand& config, std::optional<Command>& command) {
  CLI::App& sub = *app.add_subcommand("config", "Print a configuration with every key resolved");
  add_configuration(sub, config.configuration);
  sub.add_flag("--keys", config.keys, "Print the table of all keys instead");
  sub.callback([&config, &command] { command = config; });
}

void add_compare(CLI::App& app, CompareCommand& compare, std::optional<Command>& command) {
  CLI::App& sub = *app.add_subcommand("compare", "Two results side by side: what differs, and where the time went");
  add_path(sub, "A", compare.a, "Result document (kernwave run --json)").type_name("FILE")->required();
  add_path(sub, "B", compare.b, "Another one").type_name("FILE")->required();
  add_path(sub, "--report", compare.report, "Write the comparison as a page for a browser to this file")
      .type_name("FILE");
  sub.callback([&compare, &command] { command = compare; });
}

[[nodiscard]] bool is_word(const std::string& argument) { return !argument.empty() && argument[0] != '-'; }

/// What is wrong with a first word that names no command: CLI11 would only say that a command is missing.
[[nodiscard]] std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].substr(0, 1) == "-") return {};
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == arguments[0]) return {};
    names.push_back(sub->get_name());
  }
  return fmt::format("there is no command {}{} (commands: {})", in_quotes(arguments[0]),
                     did_you_mean(arguments[0], names), fmt::join(names, ", "));
}

/// `command`: the subcommand that was meant, or empty.
[[nodiscard]] ParsedCommandLine refused(const std::string& message, const std::string& command) {
  return {std::nullopt,
          fmt::format("kernwave: {}\nkernwave: try `kernwave {}--help`\n", in_one_line(message),
                      command.empty() ? "" : command + " "),
          usage_error};
}

}  // namespace

ParsedCommandLine parse_command_line(const std::vector<std::string>& arguments) {
  ParsedCommandLine parsed;
  ListCommand list;
  RunCommand run;
  HeadlineCommand headline;
  ConfigCommand config;
  CompareCommand compare;
  CLI::App app("Transaction-level performance model of a near-memory AI accelerator", "kernwave");
  app.set_version_flag("--version", fmt::format("kernwave {} ({})", version(), source_revision()));
  app.require_subcommand(1);
  add_list(app, list, parsed.command);
  add_run(app, run, parsed.command);
  add_headline(app, headline, parsed.command);
  add_config(app, config, parsed.command);
  add_compare(app, compare, parsed.command);
  if (const std::string problem = unknown_command(app, arguments); !problem.empty()) return refused(problem, "");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::Success& wanted) {
    std::ostringstream text;
    app.exit(wanted, text, text);
    return {std::nullopt, text.str(), 0};
  } catch (const CLI::ParseError& error) {
    const bool of_a_command = !arguments.empty() && is_word(arguments[0]);
    return refused(error.what(), of_a_command ? arguments[0] : "");
  }
  return parsed;
}

}  // namespace kernwave::platform
