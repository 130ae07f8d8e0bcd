#include "platform/headline/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>

#include "platform/files/whole_file.h"
#include "platform/host/child_process.h"
#include "platform/host/interrupt.h"
#include "platform/outputs/output_names.h"
#include "platform/results/recorded_machine.h"
#include "platform/results/result_figures.h"
#include "platform/results/summary.h"
#include "platform/run/simulate.h"
#include "platform/text/units.h"
#include "platform/workload/model_shape.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

namespace {

using tl::Policy;

constexpr std::int64_t k_tokens = 1024;

[[nodiscard]] WorkloadRequest attention(const char* kernel, const char* model, std::int64_t s_kv) {
  WorkloadRequest request;
  request.kernel = kernel;
  request.model = load_model_shape(model);
  request.s_kv = {s_kv};
  return request;
}

[[nodiscard]] WorkloadRequest prefill_chunk(const char* model) {
  WorkloadRequest request = attention("gqa_attention_prefill_long", model, 128 * k_tokens);
  request.s_q = {512};
  return request;
}

[[nodiscard]] WorkloadRequest whole_prefill(const char* model, RingSharding sharding) {
  WorkloadRequest request = attention("gqa_attention_prefill_long", model, 8 * k_tokens);
  request.sharding = sharding;
  return request;
}

/// One run of a workload.
struct Trial {
  const char* preset = "ahbm";
  Policy policy = Policy::lazy;
  DataMode data = DataMode::none;
  std::vector<std::string> overrides;
  kernels::KvSource kv = kernels::KvSource::load;
};

[[nodiscard]] Trial by_composites(const char* preset) {
  return {preset, Policy::lazy, DataMode::none, {}, kernels::KvSource::composite};
}

/// Runs of one workload, a table of their own.
struct Section {
  WorkloadRequest request;
  std::vector<Trial> trials;
};

constexpr std::array<Policy, 3> all_policies = {Policy::blocking, Policy::lazy, Policy::stall_on_use};

[[nodiscard]] std::vector<Trial> under_each_policy(const char* preset, DataMode data) {
  std::vector<Trial> trials;
  trials.reserve(all_policies.size());
  for (const Policy policy : all_policies) trials.push_back({preset, policy, data, {}, kernels::KvSource::load});
  return trials;
}

/// Both presets under every policy, and the efficiency that a banked memory sustains.
[[nodiscard]] std::vector<Trial> on_each_machine(DataMode data) {
  std::vector<Trial> trials = under_each_policy("ahbm", data);
  for (const Trial& trial : under_each_policy("ahbm-ws", data)) trials.push_back(trial);
  trials.push_back({"ahbm", Policy::lazy, data, {"hbm.efficiency=0.86"}, kernels::KvSource::load});
  trials.push_back(by_composites("ahbm"));
  trials.push_back(by_composites("ahbm-ws"));
  return trials;
}

/// A result of 128K keys takes most of its time to check: one of them is, since none depends on the policy.
[[nodiscard]] std::vector<Trial> checked_once(DataMode data) {
  std::vector<Trial> trials = under_each_policy("ahbm", DataMode::none);
  trials[1].data = data;
  trials.push_back({"ahbm-ws", Policy::lazy, DataMode::none, {}, kernels::KvSource::load});
  trials.push_back(by_composites("ahbm"));
  trials.push_back(by_composites("ahbm-ws"));
  return trials;
}

[[nodiscard]] std::vector<Section> sections(DataMode data) {
  const char* small = "llama-3.1-8b";
  const char* large = "llama-3.1-70b";
  std::vector<Trial> unchecked = under_each_policy("ahbm", DataMode::none);
  unchecked.push_back({"ahbm-ws", Policy::stall_on_use, DataMode::none, {}, kernels::KvSource::load});
  unchecked.push_back(by_composites("ahbm"));
  return {
      {attention("gqa_attention_decode_short", small, 8 * k_tokens), on_each_machine(data)},
      {attention("gqa_attention_decode_short", large, 8 * k_tokens), under_each_policy("ahbm", data)},
      {attention("gqa_attention_decode_long", small, 128 * k_tokens), checked_once(data)},
      {attention("gqa_attention_decode_long", large, 128 * k_tokens), checked_once(data)},
      {attention("gqa_attention_prefill_short", small, 2 * k_tokens), on_each_machine(data)},
      {attention("gqa_attention_prefill_short", small, 8 * k_tokens), unchecked},
      {attention("gqa_attention_prefill_short", large, 8 * k_tokens), unchecked},
      {prefill_chunk(small), unchecked},
      {prefill_chunk(large), unchecked},
      {whole_prefill(small, RingSharding::contiguous), unchecked},
      {whole_prefill(small, RingSharding::zigzag), unchecked},
  };
}

/// All runs of a section. A workload, with its reference, is made once: the presets have the same cubes and scratch.
[[nodiscard]] std::vector<Json> run_section(const Section& section, const std::string& command) {
  const SystemConfig machine = load_configuration({"ahbm", {}}).system;
  const auto workload = make_workload(section.request, machine);
  WorkloadRequest request = section.request;
  request.kv = kernels::KvSource::composite;
  const auto composites = make_workload(request, machine);
  const bool checks = std::any_of(section.trials.begin(), section.trials.end(),
                                  [](const Trial& trial) { return trial.data == DataMode::full; });
  if (checks) workload->prepare_reference();
  std::vector<std::function<std::string()>> runs;
  for (const Trial& trial : section.trials) {
    const RunRequest run{load_configuration({trial.preset, trial.overrides}), section.request.kernel, trial.policy,
                         trial.data, command};
    const Workload& chosen = trial.kv == kernels::KvSource::load ? *workload : *composites;
    runs.emplace_back([run, &chosen] { return to_text(simulate(run, chosen), 0); });
  }
  std::vector<Json> results;
  for (const std::string& text : texts_from_children(runs, std::max(1U, std::thread::hardware_concurrency()))) {
    results.push_back(parse_json(text, "a simulation's process"));
  }
  return results;
}

[[nodiscard]] std::int64_t latency_of(const WorkloadRequest& request) {
  const Configuration configuration = load_configuration({"ahbm", {}});
  const auto workload = make_workload(request, configuration.system);
  const RunRequest run{configuration, request.kernel, Policy::lazy, DataMode::none, ""};
  return simulate_isolated(run, *workload).at("latency_ps").as_int();
}

/// What the reduction adds to a decode that is split over eight cubes, and from which length on the split pays.
[[nodiscard]] std::string notes_on_decode() {
  const char* model = "llama-3.1-8b";
  const WorkloadRequest split = attention("gqa_attention_decode_long", model, 128 * k_tokens);
  WorkloadRequest share = attention("gqa_attention_decode_long", model, 16 * k_tokens);
  share.ranks = 1;
  const std::int64_t whole = latency_of(split);
  const std::int64_t chain = whole - latency_of(share);
  const auto split_pays = [model](std::int64_t s_kv) {
    return latency_of(attention("gqa_attention_decode_long", model, s_kv)) <
           latency_of(attention("gqa_attention_decode_short", model, s_kv));
  };
  std::int64_t loses = 1;
  std::int64_t wins = 8 * k_tokens;
  while (wins - loses > 1) {
    const std::int64_t middle = (loses + wins) / 2;
    (split_pays(middle) ? wins : loses) = middle;
  }
  return fmt::format(
      "{}, ahbm, lazy: of decode_long's {} at 128K keys the chain of eight cubes takes {}, {:.1f} %: the rest is what "
      "one cube takes for its 16K.\ndecode_long overtakes decode_short at {} keys.\n",
      model, time_text(whole), time_text(chain), 100.0 * static_cast<double>(chain) / static_cast<double>(whole), wins);
}

[[nodiscard]] std::string machine_name(const Json& result) {
  const Json& config = result.at("config");
  const std::string& efficiency = config.at("hbm.efficiency").as_string();
  const std::string name = config.at("preset").as_string();
  const bool as_shipped = recorded_machine(result).hbm.efficiency == SystemConfig().hbm.efficiency;
  return as_shipped ? name : name + " @" + efficiency;
}

[[nodiscard]] std::string policy_name(const Json& result) {
  const std::string& policy = result.at("policy").as_string();
  return result.at("shape").at("kv").as_string() == "composite" ? policy + ", comp." : policy;
}

/// The same table: everything agrees but the machine, the policy and how K and V come to the engines.
[[nodiscard]] bool of_one_workload(const Json& a, const Json& b) {
  if (a.at("kernel") != b.at("kernel")) return false;
  for (const Json::Member& member : a.at("shape").as_object()) {
    const bool may_differ = member.key == "kv" || member.key == "kv_buffers";
    if (!may_differ && b.at("shape").at(member.key) != member.value) return false;
  }
  return true;
}

/// The latency of the blocking run on the same machine, or 0.
[[nodiscard]] std::int64_t blocking_latency(const std::vector<Json>& results, const Json& result) {
  for (const Json& other : results) {
    const bool same = of_one_workload(other, result) && machine_name(other) == machine_name(result);
    if (same && other.at("policy").as_string() == "blocking") return other.at("latency_ps").as_int();
  }
  return 0;
}

[[nodiscard]] std::string error_text(const Json& error) { return error.is_null() ? "-" : relative_error_text(error); }

/// "east 19%": of each direction that carried messages, how long its busiest link was busy.
[[nodiscard]] std::string links_text(const Json& result) {
  std::string text;
  for (const Json::Member& direction : result.at("links").as_object()) {
    if (direction.value.at("messages").as_int() == 0) continue;
    const double share = static_cast<double>(direction.value.at("busiest_ps").as_int()) /
                         static_cast<double>(result.at("latency_ps").as_int());
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", direction.key, 100.0 * share);
  }
  return text.empty() ? "-" : text;
}

constexpr const char* row_head = "  {:<11} {:<13}{:>11}{:>10}  {:<14}{:>8}{:>8}{:>8}{:>9}{:>8}{:>10}{:>11}{:>9}{:>8}\n";

[[nodiscard]] std::string result_row(const std::vector<Json>& results, const Json& result) {
  const std::int64_t latency = result.at("latency_ps").as_int();
  const std::int64_t blocking = blocking_latency(results, result);
  const BindingBound bound = binding_bound(result);
  const double utilisation = 100.0 * static_cast<double>(busy_of(result, name_of(Engine::gemm))) /
                             static_cast<double>(std::max<std::int64_t>(1, active_pes(result) * latency));
  const std::string speed_up =
      blocking == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(blocking) / static_cast<double>(latency));
  const Json& counts = result.at("counts");
  return fmt::format(
      row_head, machine_name(result), policy_name(result), time_text(latency), speed_up, bound.resource,
      fmt::format("{:.3f}", static_cast<double>(latency) / static_cast<double>(bound.picoseconds)),
      counts.at(row_of(Engine::dma_read).counted).as_int(), counts.at(row_of(Engine::ipcq).counted).as_int(),
      fmt::format("{:.1f}", gigabytes_per_second(result)), fmt::format("{:.1f}%", utilisation),
      fmt::format("{} KiB", result.at("scratch").at("peak_bytes").as_int() / k_tokens), links_text(result),
      error_text(result.at("error")), fmt::format("{:.2f}", result.at("host").at("seconds").as_double()));
}

[[nodiscard]] std::string bounds_rows(const Json& result) {
  std::string text;
  for (const char* kind : {"compulsory", "issued"}) {
    text += fmt::format("  {:<11} {:<11}", machine_name(result), kind);
    for (const Json::Member& bound : result.at("bounds_ps").at(kind).as_object()) {
      text += fmt::format("{:>14}", time_text(bound.value.as_int()));
    }
    text += "\n";
  }
  return text;
}

[[nodiscard]] std::string bounds_head(const Json& result) {
  std::string text = fmt::format("  {:<11} {:<11}", "bounds", "");
  for (const Json::Member& bound : result.at("bounds_ps").at("issued").as_object()) {
    text += fmt::format("{:>14}", bound.key);
  }
  return text + "\n";
}

[[nodiscard]] std::string kernel_table(const std::vector<Json>& results) {
  const Json& first = results.front();
  const Json& shape = first.at("shape");
  std::string text =
      fmt::format("{}: {}, {} query heads on {} KV heads, head_dim {}, s_q {}, s_kv {}, {}{}, tile {}",
                  first.at("kernel").as_string(), shape.at("model").as_string(), shape.at("query_heads").as_int(),
                  shape.at("kv_heads").as_int(), shape.at("head_dim").as_int(), to_text(shape.at("s_q"), 0),
                  to_text(shape.at("s_kv"), 0), shape.at("dtype").as_string(),
                  shape.at("causal").as_bool() ? ", causal" : "", shape.at("tile").as_int());
  if (const Json* ranks = shape.find("ranks")) text += fmt::format(", {} ranks", ranks->as_int());
  if (const Json* reduce = shape.find("reduce")) text += ", " + reduce->as_string();
  if (const Json* sharding = shape.find("sharding")) {
    const std::int64_t passes = shape.at("ring_passes").as_int();
    text += fmt::format(", {}, {} ring pass{}", sharding->as_string(), passes, passes == 1 ? "" : "es");
  }
  text += "\n" + fmt::format(row_head, "machine", "policy", "latency", "speed-up", "bound by", "x bound", "reads",
                             "copies", "GB/s", "GEMM", "scratch", "links", "error", "host s");
  for (const Json& result : results) text += result_row(results, result);
  text += "\n" + bounds_head(first);
  for (const Json& result : results) {
    if (policy_name(result) == "lazy") text += bounds_rows(result);
  }
  return text;
}

}  // namespace

std::string headline_tables(const std::vector<Json>& results) {
  std::string text;
  std::vector<Json> of_workload;
  for (std::size_t i = 0; i < results.size(); ++i) {
    of_workload.push_back(results[i]);
    const bool last = i + 1 == results.size() || !of_one_workload(results[i], results[i + 1]);
    if (!last) continue;
    text += kernel_table(of_workload) + "\n";
    of_workload.clear();
  }
  return text +
         "speed-up: over blocking on the same machine. x bound: latency over the largest compulsory bound.\n"
         "reads, copies: loads from HBM, messages between PEs. links: how long the busiest link of a direction was "
         "busy.\n"
         "comp.: the products are composites, which never wait at issue and stream K and V from HBM.\n"
         "error: largest relative error against a float64 reference; -: not computed. Memory: no refresh and no row "
         "misses\nare modelled; @0.86 is the efficiency that a banked HBM sustains.\n";
}

void run_headline(const HeadlineRequest& request, TextStream& out) {
  const std::filesystem::path folder(request.out_folder);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw FileError("make the folder", request.out_folder, problem.message());
  const std::string json_path = (folder / "headline.json").string();
  const std::string text_path = (folder / "headline.txt").string();
  check_names({{"headline.json", json_path}, {"headline.txt", text_path}}, {});

  const InterruptExits interrupts;
  std::vector<Json> results;
  for (const Section& section : sections(request.data)) {
    const std::vector<Json> some = run_section(section, request.command);
    out.print(kernel_table(some) + "\n");
    out.flush();
    results.insert(results.end(), some.begin(), some.end());
  }
  const std::string notes = notes_on_decode();
  const std::string tables = headline_tables(results) + notes;
  out.print(tables.substr(tables.find("speed-up: over")));
  {
    const InterruptsHeld until_both_are_written;
    write_file_atomically(text_path, tables);
    write_file_atomically(json_path, to_text(Json::array(results)) + "\n");
  }
  for (const Json& result : results) require_right_result(result);
}

}  // namespace kernwave::platform
