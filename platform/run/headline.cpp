#include "platform/run/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>

#include "platform/files.h"
#include "platform/run/child_process.h"
#include "platform/run/simulate.h"
#include "platform/run/summary.h"
#include "platform/workload/model_shape.h"

namespace kernwave::platform {

namespace {

constexpr const char* model = "llama-3.1-8b";

[[nodiscard]] WorkloadRequest decode_short() {
  WorkloadRequest request;
  request.kernel = "gqa_attention_decode_short";
  request.model = load_model_shape(model);
  request.s_kv = {8192};
  return request;
}

[[nodiscard]] WorkloadRequest prefill_short() {
  WorkloadRequest request;
  request.kernel = "gqa_attention_prefill_short";
  request.model = load_model_shape(model);
  request.s_kv = {2048};
  request.causal = true;
  return request;
}

struct Machine {
  const char* preset;
  std::vector<std::string> overrides;
  std::vector<tl::Policy> policies;
};

[[nodiscard]] std::vector<Machine> machines() {
  const std::vector<tl::Policy> all = {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use};
  return {{"ahbm", {}, all}, {"ahbm-ws", {}, all}, {"ahbm", {"hbm.efficiency=0.86"}, {tl::Policy::lazy}}};
}

/// All runs of one kernel. The workload, with its reference, is made once: the presets have the same cubes and scratch.
[[nodiscard]] std::vector<Json> run_kernel(const WorkloadRequest& request, const HeadlineRequest& headline) {
  const auto workload = make_workload(request, load_configuration({"ahbm", {}}).system);
  if (headline.data == DataMode::full) workload->prepare_reference();
  std::vector<std::function<std::string()>> runs;
  for (const Machine& machine : machines()) {
    const Configuration configuration = load_configuration({machine.preset, machine.overrides});
    for (const tl::Policy policy : machine.policies) {
      const RunRequest run{configuration, request.kernel, policy, headline.data, headline.command};
      runs.emplace_back([run, &workload] { return to_text(simulate(run, *workload), 0); });
    }
  }
  std::vector<Json> results;
  for (const std::string& text : texts_from_children(runs, std::max(1U, std::thread::hardware_concurrency()))) {
    results.push_back(parse_json(text, "a simulation's process"));
  }
  return results;
}

[[nodiscard]] std::string machine_name(const Json& result) {
  const Json& config = result.at("config");
  const std::string& efficiency = config.at("hbm.efficiency").as_string();
  const std::string name = config.at("preset").as_string();
  return efficiency == "1.0" ? name : name + " @" + efficiency;
}

/// The latency of the blocking run on the same machine, or 0.
[[nodiscard]] std::int64_t blocking_latency(const std::vector<Json>& results, const Json& result) {
  for (const Json& other : results) {
    const bool same = other.at("kernel") == result.at("kernel") && machine_name(other) == machine_name(result);
    if (same && other.at("policy").as_string() == "blocking") return other.at("latency_ps").as_int();
  }
  return 0;
}

[[nodiscard]] std::string error_text(const Json& error) { return error.is_null() ? "-" : relative_error_text(error); }

[[nodiscard]] std::string result_row(const std::vector<Json>& results, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t blocking = blocking_latency(results, result);
  const BindingBound bound = binding_bound(result);
  const double utilisation = 100.0 * static_cast<double>(busy_of(result, "gemm")) /
                             static_cast<double>(std::max<std::int64_t>(1, active_pes(result) * latency));
  const std::string speed_up =
      blocking == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(blocking) / static_cast<double>(latency));
  return fmt::format("  {:<11} {:<13}{:>12}{:>10}  {:<14}{:>8.3f}{:>7}{:>9.1f}{:>7.1f}%{:>9}{:>7.2f}\n",
                     machine_name(result), result.at("policy").as_string(), time_text(latency), speed_up,
                     bound.resource, static_cast<double>(latency) / static_cast<double>(bound.picoseconds),
                     result.at("counts").at("dma_read").as_int(), gigabytes_per_second(result), utilisation,
                     error_text(result.at("error")), result.at("host").at("seconds").as_double());
}

[[nodiscard]] std::string bounds_rows(const Json& result) {
  std::string text;
  for (const char* kind : {"compulsory", "issued"}) {
    text += fmt::format("  {:<11} {:<11}", machine_name(result), kind);
    for (const Json::Member& bound : result.at("bounds_ps").at(kind).as_object()) {
      if (bound.key == "ipcq") continue;
      text += fmt::format("{:>14}", time_text(bound.value.as_int()));
    }
    text += "\n";
  }
  return text;
}

[[nodiscard]] std::string bounds_head(const Json& result) {
  std::string text = fmt::format("  {:<11} {:<11}", "bounds", "");
  for (const Json::Member& bound : result.at("bounds_ps").at("issued").as_object()) {
    if (bound.key != "ipcq") text += fmt::format("{:>14}", bound.key);
  }
  return text + "\n";
}

[[nodiscard]] std::string kernel_table(const std::vector<Json>& results) {
  const Json& first = results.front();
  const Json& shape = first.at("shape");
  std::string text =
      fmt::format("{}: {}, {} query heads on {} KV heads, head_dim {}, s_q {}, s_kv {}, {}{}, tile {}\n",
                  first.at("kernel").as_string(), shape.at("model").as_string(), shape.at("query_heads").as_int(),
                  shape.at("kv_heads").as_int(), shape.at("head_dim").as_int(), to_text(shape.at("s_q"), 0),
                  to_text(shape.at("s_kv"), 0), shape.at("dtype").as_string(),
                  shape.at("causal").as_bool() ? ", causal" : "", shape.at("tile").as_int());
  text += fmt::format("  {:<11} {:<13}{:>12}{:>10}  {:<14}{:>8}{:>7}{:>9}{:>8}{:>9}{:>7}\n", "machine", "policy",
                      "latency", "speed-up", "bound by", "x bound", "reads", "GB/s", "GEMM", "error", "host s");
  for (const Json& result : results) text += result_row(results, result);
  text += "\n" + bounds_head(first);
  for (const Json& result : results) {
    if (result.at("policy").as_string() == "lazy") text += bounds_rows(result);
  }
  return text;
}

}  // namespace

std::string headline_tables(const std::vector<Json>& results) {
  std::string text;
  std::vector<Json> of_kernel;
  for (std::size_t i = 0; i < results.size(); ++i) {
    of_kernel.push_back(results[i]);
    const bool last = i + 1 == results.size() || results[i + 1].at("kernel") != results[i].at("kernel");
    if (!last) continue;
    text += kernel_table(of_kernel) + "\n";
    of_kernel.clear();
  }
  return text +
         "speed-up: over blocking on the same machine. x bound: latency over the largest compulsory bound.\n"
         "error: largest relative error against a float64 reference. Memory: no refresh and no row misses are "
         "modelled;\n"
         "@0.86 is the efficiency that a banked HBM sustains.\n";
}

void run_headline(const HeadlineRequest& request) {
  const std::filesystem::path folder(request.out_folder);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw FileError("make the folder", request.out_folder, problem.message());
  const std::string json_path = (folder / "headline.json").string();
  const std::string text_path = (folder / "headline.txt").string();
  check_writable(json_path);
  check_writable(text_path);

  std::vector<Json> results;
  for (const WorkloadRequest& kernel : {decode_short(), prefill_short()}) {
    for (Json& result : run_kernel(kernel, request)) results.push_back(std::move(result));
  }
  const std::string tables = headline_tables(results);
  fmt::print("{}", tables);
  write_file_atomically(text_path, tables);
  write_file_atomically(json_path, to_text(Json::array(results)) + "\n");
  for (const Json& result : results) require_right_result(result);
}

}  // namespace kernwave::platform
