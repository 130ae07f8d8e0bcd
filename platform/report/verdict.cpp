#include "platform/report/verdict.h"
#include "models/protocol/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "platform/results/quotient.h"
#include "platform/results/result_figures.h"
#include "platform/text/units.h"

namespace kernwave::platform {

namespace {

constexpr double close_to_bound = 1.1;   // a kernel within this multiple is as good as done
constexpr double far_from_bound = 2.0;   // beyond it, no resource explains the latency
constexpr double worth_telling = 0.05;   // shares of time below it are left out
constexpr double worth_changing = 0.10;  // a stall below it is not where to begin

struct ResourceWords {
  std::string_view resource;
  std::string_view words;
  std::string_view remedy;  ///< when the kernel is as fast as the resource
};
constexpr std::array<ResourceWords, 9> resource_words = {{
    {"hbm_read", "reading from HBM",
     "read fewer bytes (a smaller storage type, blocks that reuse more), spread the data over more cubes, or give the "
     "memory more bandwidth (hbm.bandwidth, hbm.efficiency)"},
    {"hbm_write", "writing to HBM",
     "write fewer bytes, spread them over more cubes, or give the memory more bandwidth (hbm.bandwidth)"},
    {"dma_read", "the read channel of the DMA ports",
     "share the loads among more PEs, or widen the port (pe.dma.bandwidth)"},
    {"dma_write", "the write channel of the DMA ports",
     "share the stores among more PEs, or widen the port (pe.dma.bandwidth)"},
    {"gemm_ideal", "the matrix engines", "use more PEs, or larger matrix engines (pe.gemm.rows, pe.gemm.cols)"},
    {"gemm_dataflow", "the matrix engines",
     "use more PEs, larger matrix engines (pe.gemm.rows, pe.gemm.cols), or products whose shape fills them better"},
    {"math", "the MATH engines", "use more PEs, or wider vectors (pe.math.lanes)"},
    {"ipcq", "the links between PEs", "send fewer bytes, or widen the links (ipcq.bandwidth)"},
    {"issue", "issuing operations", "issue fewer, larger operations"},
}};

[[nodiscard]] const ResourceWords* find_words(std::string_view resource) {
  const auto* const found = std::find_if(resource_words.begin(), resource_words.end(),
                                         [resource](const ResourceWords& entry) { return entry.resource == resource; });
  return found == resource_words.end() ? nullptr : found;
}

struct CauseWords {
  std::string_view cause;
  std::string_view words;
  std::string_view remedy;
};
constexpr std::array<CauseWords, 12> cause_words = {{
    {"issue", "issuing operations",
     "Issuing takes a large part of the time: use fewer, larger operations (larger tiles, composites)."},
    {"load", "waiting for loads",
     "Programs wait for loads: issue them earlier, with more buffers, or use tiles small enough that the first one "
     "arrives soon."},
    {"compute", "waiting for products and MATH",
     "Programs wait for products and MATH: work on independent rows or tiles in turn, so that the two engines "
     "overlap."},
    {"store", "waiting for stores",
     "Programs wait for stores: let other work follow them before their buffer is reused."},
    {"composite", "waiting for composites",
     "Programs wait for composites: start the next one before the result of this one is used, or prefetch deeper "
     "(pe.scheduler.prefetch_depth)."},
    {"receive", "waiting for messages",
     "Programs wait for messages of their neighbours: send earlier, in smaller pieces, or over faster links "
     "(ipcq.bandwidth, ipcq.hop_latency)."},
    {"credit", "waiting for room at the receiver",
     "Senders wait for room: allow more messages under way (ipcq.window) or more slots (ipcq.depth)."},
    {"queue", "waiting for the scheduler's queue",
     "The scheduler's queue is full: a deeper one (pe.scheduler.queue_depth) lets programs run ahead."},
    {"scratch", "waiting for scratch still in use",
     "Programs wait for scratch that is still in use: more buffers, or smaller tiles that leave room for them."},
    {"memory_order", "waiting for earlier accesses to the same bytes of HBM",
     "Accesses to the same bytes of HBM follow each other: keep the value in scratch between them."},
    {"drain", "draining the last operations",
     "The drain is a large share: nothing else goes on while the last results are stored. A longer run hides it."},
    {"idle", "being done while other PEs still ran",
     "PEs end at different times: share the work more evenly, or begin with the longest part."},
}};

struct CauseShare {
  const CauseWords* cause = nullptr;
  double share = 0.0;  ///< of the latency, as an average over the PEs that worked
};

/// Largest first; of equal ones the order above.
[[nodiscard]] std::vector<CauseShare> cause_shares(const Json& result) {
  const std::int64_t time = result.at("latency_ps").as_int() * active_pes(result);
  std::vector<CauseShare> shares;
  shares.reserve(cause_words.size());
  for (const CauseWords& cause : cause_words) {
    shares.push_back({&cause, quotient(stalled_for(result, cause.cause), time)});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const CauseShare& a, const CauseShare& b) { return a.share > b.share; });
  return shares;
}

[[nodiscard]] double busy_share(const Json& result, std::string_view engine) {
  return quotient(busy_of(result, engine), result.at("latency_ps").as_int() * active_pes(result));
}

[[nodiscard]] double multiple_of_bound(const Json& result) {
  return quotient(result.at("latency_ps").as_int(), binding_bound(result).picoseconds);
}

/// Attention that decodes reads K and V and little else.
[[nodiscard]] std::string bound_in_words(const Json& result, const std::string& resource) {
  const bool decodes = result.at("kernel").as_string().find("attention_decode") != std::string::npos;
  return decodes && resource == "hbm_read" ? "reading K and V from HBM" : resource_in_words(resource);
}

[[nodiscard]] std::string headline_of(const Json& result) {
  const std::string latency = time_text(result.at("latency_ps").as_int());
  const BindingBound bound = binding_bound(result);
  if (!is_complete(result)) return fmt::format("Stopped after {} of simulated time.", latency);
  if (bound.picoseconds == 0) return fmt::format("Latency is {}; no lower bound of the work applies.", latency);
  const std::string words = bound_in_words(result, bound.resource);
  const double multiple = multiple_of_bound(result);
  if (multiple > far_from_bound) {
    return fmt::format("Not bound by any one resource: latency {} is {:.3f} x the largest bound, {} by {}.", latency,
                       multiple, time_text(bound.picoseconds), words);
  }
  return fmt::format("Bound by {}: latency {} is {:.3f} x that bound, {}.", words, latency, multiple,
                     time_text(bound.picoseconds));
}

[[nodiscard]] std::string where_time_went(const Json& result) {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t told = 0;
  for (const CauseShare& share : cause_shares(result)) {
    if (told == most || share.share < worth_telling) break;
    text += fmt::format("{}{:.1f} % {}", told == 0 ? "" : ", ", 100.0 * share.share, share.cause->words);
    ++told;
  }
  return text.empty() ? "" : fmt::format("Time of the programs that worked: {}.", text);
}

[[nodiscard]] std::string busiest_engine(const Json& result) {
  std::string_view busiest;
  for (const Json::Member& engine : result.at("busy_ps").as_object().front().value.as_object()) {
    if (engine.key == name_of(Engine::ipcq)) continue;  // a link, not an engine, is what its messages keep
    if (busiest.empty() || busy_share(result, engine.key) > busy_share(result, busiest)) busiest = engine.key;
  }
  const auto* const row = std::find_if(engine_rows.begin(), engine_rows.end(),
                                       [busiest](const EngineRow& one) { return one.name == busiest; });
  return fmt::format("The busiest engine of a PE is the {}: {:.1f} % of the time.",
                     row == engine_rows.end() ? busiest : row->words, 100.0 * busy_share(result, busiest));
}

/// Of the resource that the kernel uses most, how much more it uses than it must.
[[nodiscard]] std::string work_beyond_need(const Json& result) {
  const Json& issued = result.at("bounds_ps").at("issued");
  const Json& compulsory = result.at("bounds_ps").at("compulsory");
  std::string_view resource;
  std::int64_t most = 0;
  for (const Json::Member& member : issued.as_object()) {
    const bool counts = member.key != "gemm_ideal" && compulsory.at(member.key).as_int() > 0;
    if (counts && member.value.as_int() > most) {
      resource = member.key;
      most = member.value.as_int();
    }
  }
  if (most == 0 || quotient(most, result.at("latency_ps").as_int()) < 0.5) return {};
  const double excess = quotient(most, compulsory.at(resource).as_int());
  if (excess < 1.0 + worth_telling) return {};
  return fmt::format("For {} the kernel issues {:.2f} x the work that cannot be avoided: {} instead of {}.",
                     resource_in_words(resource), excess, time_text(most), time_text(compulsory.at(resource).as_int()));
}

[[nodiscard]] std::vector<std::string> findings_of(const Json& result) {
  std::vector<std::string> findings;
  const std::int64_t worked = active_pes(result);
  const auto pes = static_cast<std::int64_t>(result.at("busy_ps").size());
  for (const std::string& finding : {where_time_went(result), busiest_engine(result), work_beyond_need(result)}) {
    if (!finding.empty()) findings.push_back(finding);
  }
  if (worked < pes) findings.push_back(fmt::format("{} of {} PEs worked.", worked, pes));
  return findings;
}

/// What the kernel itself could gain, and what lies beyond.
[[nodiscard]] std::string gain_and_limit(const Json& result) {
  const BindingBound bound = binding_bound(result);
  if (bound.picoseconds == 0) return {};
  const double multiple = multiple_of_bound(result);
  const double gain = 100.0 * (1.0 - 1.0 / multiple);
  const ResourceWords* words = find_words(bound.resource);
  if (multiple > close_to_bound || words == nullptr) {
    return fmt::format("A better kernel could save up to {:.1f} % of the latency on this machine.", gain);
  }
  return fmt::format("A better kernel could save {:.1f} % at most; beyond that, {}.", gain, words->remedy);
}

[[nodiscard]] std::string remedy_of_stalls(const Json& result) {
  if (multiple_of_bound(result) <= close_to_bound && binding_bound(result).picoseconds > 0) return {};
  const CauseShare largest = cause_shares(result).front();
  if (largest.share < worth_changing) return {};
  const double engines = busy_share(result, name_of(Engine::gemm)) + busy_share(result, name_of(Engine::math));
  if (largest.cause->cause == "compute" && engines > 0.8) {
    return fmt::format(
        "GEMM ({:.1f} %) and MATH ({:.1f} %) follow one another more than they overlap: work on independent rows or "
        "tiles in turn.",
        100.0 * busy_share(result, name_of(Engine::gemm)), 100.0 * busy_share(result, name_of(Engine::math)));
  }
  if (largest.cause->cause == "load" && busy_share(result, name_of(Engine::dma_read)) > 0.9) {
    return "Programs wait for loads although the DMA read channel is almost always busy: load less, or from more PEs.";
  }
  return std::string(largest.cause->remedy);
}

[[nodiscard]] std::string remedy_of_policy(const Json& result) {
  const std::string& policy = result.at("policy").as_string();
  if (policy == "blocking") {
    return "Policy blocking waits for every operation where it is issued; try --policy lazy or stall_on_use.";
  }
  const CauseShare largest = cause_shares(result).front();
  const bool waits_early = policy == "lazy" && largest.cause->cause == "compute" && largest.share >= worth_changing;
  return waits_early ? "Policy lazy waits for each computation where it is issued; try --policy stall_on_use." : "";
}

[[nodiscard]] std::string use_of_idle_pes(const Json& result) {
  const auto pes = static_cast<std::int64_t>(result.at("busy_ps").size());
  const std::int64_t idle = pes - active_pes(result);
  if (2 * idle < pes) return {};
  return fmt::format(
      "{} of {} PEs had no work: a larger batch, or a kernel that shares one problem among more PEs, uses them.", idle,
      pes);
}

[[nodiscard]] std::vector<std::string> warnings_of(const Json& result) {
  std::vector<std::string> warnings;
  if (!is_complete(result)) {
    const Json* reason = result.find("reason");
    warnings.push_back(fmt::format("This run is incomplete: {}. All numbers stop there.",
                                   reason != nullptr && reason->is_string() ? reason->as_string() : "it was stopped"));
  }
  const Json* error = result.find("error");
  if (error != nullptr && error->is_object() && !error->at("within_tolerance").as_bool()) {
    warnings.emplace_back("The numerical result is wrong: its error is more than its arithmetic can explain.");
  }
  return warnings;
}

}  // namespace

std::string resource_in_words(std::string_view resource) {
  const ResourceWords* words = find_words(resource);
  return std::string(words == nullptr ? resource : words->words);
}

Verdict verdict(const Json& result) {
  Verdict verdict{warnings_of(result), headline_of(result), findings_of(result), {}};
  if (!is_complete(result)) return verdict;  // advice would be about an accident
  for (const std::string& advice :
       {gain_and_limit(result), remedy_of_policy(result), remedy_of_stalls(result), use_of_idle_pes(result)}) {
    if (!advice.empty()) verdict.advice.push_back(advice);
  }
  return verdict;
}

}  // namespace kernwave::platform
