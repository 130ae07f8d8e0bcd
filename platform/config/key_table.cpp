#include "platform/config/key_table.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "platform/config/key_types.h"

namespace kernwave::platform {
namespace {

// ---- the members of SystemConfig

/// The member at the end of a path of pointers to members, from SystemConfig on.
template <auto... path>
struct MemberAt {
  static std::int64_t get(const SystemConfig& system) { return to_count((system.*....*path)); }

  static void set(SystemConfig& system, std::int64_t count) {
    auto& member = (system.*....*path);
    member = static_cast<std::decay_t<decltype(member)>>(count);
  }
};

template <auto... path>
constexpr Member system_member{&MemberAt<path...>::get, &MemberAt<path...>::set};

template <auto... path>
constexpr Member pe_member = system_member<&SystemConfig::pe, path...>;
template <auto member>
constexpr Member issue_member = pe_member<&PeConfig::issue, member>;
template <auto member>
constexpr Member scheduler_member = pe_member<&PeConfig::scheduler, member>;
template <auto member>
constexpr Member gemm_member = pe_member<&PeConfig::gemm, member>;
template <auto... path>
constexpr Member math_member = pe_member<&PeConfig::math, path...>;
template <auto member>
constexpr Member math_cycles_member = math_member<&MathConfig::cycles, member>;
template <auto member>
constexpr Member scratch_member = pe_member<&PeConfig::scratch, member>;
template <auto member>
constexpr Member dma_member = pe_member<&PeConfig::dma, member>;
template <auto member>
constexpr Member ipcq_member = pe_member<&PeConfig::ipcq, member>;
template <auto member>
constexpr Member hbm_member = system_member<&SystemConfig::hbm, member>;
template <auto member>
constexpr Member interconnect_member = system_member<&SystemConfig::interconnect, member>;

// ---- limits and names

constexpr std::int64_t ps_per_us = 1'000'000;
constexpr std::int64_t ps_per_ms = 1'000'000'000;
constexpr std::int64_t ps_per_s = 1'000'000'000'000;
constexpr std::int64_t kib = std::int64_t{1} << 10;
constexpr std::int64_t gib = std::int64_t{1} << 30;

// The limits keep every product of the model inside its integers: the slowest stream of the largest memory (1 TiB at
// 1 MB/s) lasts 1.1e18 ps. Modules that choose among inputs need a latency of at least 1 ps, hence the minima of
// pe.scheduler.dispatch_latency, hbm.latency and interconnect.hop_latency.
constexpr Limits bandwidth_limits{min_bytes_per_second, 1'000'000'000'000'000};
constexpr Limits queue_limits{1, 65'536};
constexpr Limits array_limits{1, 65'536};
constexpr Limits cost_limits{0, 1'000'000};
constexpr Limits cycle_limits{1, 1'000'000};
constexpr Limits no_limits{0, 0};
constexpr Choices no_choices{};
constexpr Choices dataflow_names{"ideal", "weight_stationary", "output_stationary"};
constexpr Choices fold_names{"serial", "overlapped"};
constexpr Choices topology_names{"ring", "line", "mesh"};

}  // namespace

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys{
      Key{"system.cubes", integer_type, between(1, 1'024), system_member<&SystemConfig::cubes>, "HBM cubes"},
      Key{"system.pes_per_cube", integer_type, between(1, 256), system_member<&SystemConfig::pes_per_cube>,
          "processing elements on the base die of each cube"},
      Key{"pe.clock", frequency_type, between(1'000'000, 100'000'000'000), pe_member<&PeConfig::clock>,
          "clock of every PE; cycles are of this clock"},
      Key{"pe.issue.load", cycles_type, cost_limits, issue_member<&IssueCosts::load>,
          "what the CPU of a PE spends to issue a load"},
      Key{"pe.issue.store", cycles_type, cost_limits, issue_member<&IssueCosts::store>,
          "what the CPU of a PE spends to issue a store"},
      Key{"pe.issue.dot", cycles_type, cost_limits, issue_member<&IssueCosts::dot>,
          "what the CPU of a PE spends to issue a matrix product"},
      Key{"pe.issue.math", cycles_type, cost_limits, issue_member<&IssueCosts::math>,
          "what the CPU of a PE spends to issue an elementwise operation or a reduction"},
      Key{"pe.issue.composite", cycles_type, cost_limits, issue_member<&IssueCosts::composite>,
          "what the CPU of a PE spends to issue a composite"},
      Key{"pe.issue.send", cycles_type, cost_limits, issue_member<&IssueCosts::send>,
          "what the CPU of a PE spends to issue a send"},
      Key{"pe.issue.receive", cycles_type, cost_limits, issue_member<&IssueCosts::receive>,
          "what the CPU of a PE spends to issue a receive"},
      Key{"pe.scheduler.queue_depth", integer_type, queue_limits, scheduler_member<&SchedulerConfig::queue_depth>,
          "commands accepted and not yet dispatched to an engine"},
      Key{"pe.scheduler.dispatch_latency", cycles_type, cycle_limits,
          scheduler_member<&SchedulerConfig::dispatch_latency>,
          "from accepting a command to presenting it to its engine"},
      Key{"pe.scheduler.prefetch_depth", integer_type, between(1, 64),
          scheduler_member<&SchedulerConfig::prefetch_depth>, "tiles of HBM that a composite's staging area holds"},
      Key{"pe.gemm.rows", integer_type, array_limits, gemm_member<&GemmConfig::rows>, "rows of multiply-accumulators"},
      Key{"pe.gemm.cols", integer_type, array_limits, gemm_member<&GemmConfig::cols>,
          "columns of multiply-accumulators"},
      Key{"pe.gemm.dataflow", choice_type, no_limits, gemm_member<&GemmConfig::dataflow>,
          "what fill and drain of the array cost; ideal: nothing", dataflow_names},
      Key{"pe.gemm.folds", choice_type, no_limits, gemm_member<&GemmConfig::folds>,
          "whether weights of the next fold load, or results of the last one drain, while a fold streams", fold_names},
      Key{"pe.gemm.f32_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::f32_cycles>,
          "cycles of one multiply-accumulate of f32 inputs"},
      Key{"pe.gemm.f16_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::f16_cycles>,
          "cycles of one multiply-accumulate of f16 inputs"},
      Key{"pe.gemm.bf16_cycles", cycles_type, between(1, 1'024), gemm_member<&GemmConfig::bf16_cycles>,
          "cycles of one multiply-accumulate of bf16 inputs"},
      Key{"pe.gemm.clock_multiple", integer_type, between(1, 16), gemm_member<&GemmConfig::clock_multiple>,
          "clock of the matrix engine, its scratch port included, in clocks of the PE"},
      Key{"pe.gemm.queue_depth", integer_type, queue_limits, gemm_member<&GemmConfig::queue_depth>, "commands queued"},
      Key{"pe.math.lanes", integer_type, array_limits, math_member<&MathConfig::lanes>, "elements of one vector"},
      Key{"pe.math.clock_multiple", integer_type, between(1, 16), math_member<&MathConfig::clock_multiple>,
          "clock of the vector engine in clocks of the PE"},
      Key{"pe.math.queue_depth", integer_type, queue_limits, math_member<&MathConfig::queue_depth>, "commands queued"},
      Key{"pe.math.cycles.add", cycles_type, cycle_limits, math_cycles_member<&MathCycles::add>, "of one vector"},
      Key{"pe.math.cycles.mul", cycles_type, cycle_limits, math_cycles_member<&MathCycles::mul>, "of one vector"},
      Key{"pe.math.cycles.max", cycles_type, cycle_limits, math_cycles_member<&MathCycles::max>, "of one vector"},
      Key{"pe.math.cycles.compare", cycles_type, cycle_limits, math_cycles_member<&MathCycles::compare>,
          "of one vector"},
      Key{"pe.math.cycles.where", cycles_type, cycle_limits, math_cycles_member<&MathCycles::where>, "of one vector"},
      Key{"pe.math.cycles.cast", cycles_type, cycle_limits, math_cycles_member<&MathCycles::cast>, "of one vector"},
      Key{"pe.math.cycles.copy", cycles_type, cycle_limits, math_cycles_member<&MathCycles::copy>, "of one vector"},
      Key{"pe.math.cycles.fma", cycles_type, cycle_limits, math_cycles_member<&MathCycles::fma>, "of one vector"},
      Key{"pe.math.cycles.exp", cycles_type, cycle_limits, math_cycles_member<&MathCycles::exp>, "of one vector"},
      Key{"pe.math.cycles.log", cycles_type, cycle_limits, math_cycles_member<&MathCycles::log>, "of one vector"},
      Key{"pe.math.cycles.div", cycles_type, cycle_limits, math_cycles_member<&MathCycles::div>, "of one vector"},
      Key{"pe.math.cycles.rsqrt", cycles_type, cycle_limits, math_cycles_member<&MathCycles::rsqrt>, "of one vector"},
      Key{"pe.scratch.capacity", size_type, between(kib, 4 * gib - 1), scratch_member<&ScratchConfig::capacity>,
          "on-chip memory of a PE; addresses are 32 bits"},
      Key{"pe.scratch.bandwidth", bytes_per_cycle_type, between(1, 1 << 20),
          scratch_member<&ScratchConfig::bytes_per_cycle>, "what GEMM can read and write"},
      Key{"pe.dma.bandwidth", bandwidth_type, bandwidth_limits, dma_member<&DmaConfig::bandwidth>,
          "of the read channel, and as much again of the write channel"},
      Key{"pe.dma.setup", time_type, between(0, ps_per_ms), dma_member<&DmaConfig::setup>,
          "before the first request of a command"},
      Key{"pe.dma.overlap_commands", boolean_type, no_limits, dma_member<&DmaConfig::overlap_commands>,
          "setup and latency of the next command hide under the data of this one"},
      Key{"pe.dma.max_outstanding", integer_type, queue_limits, dma_member<&DmaConfig::max_outstanding>,
          "requests in the memory at once, per channel"},
      Key{"pe.dma.queue_depth", integer_type, queue_limits, dma_member<&DmaConfig::queue_depth>,
          "commands queued, per channel"},
      Key{"pe.dma.burst", size_type, between(4, 4 * kib), dma_member<&DmaConfig::burst>,
          "longest request, naturally aligned; whole: one request a command", no_choices, true, "whole"},
      Key{"pe.dma.zero_writes", boolean_type, no_limits, dma_member<&DmaConfig::zero_writes>,
          "data mode none may write zeroes to a memory that is not the model's own"},
      Key{"ipcq.topology", choice_type, no_limits, ipcq_member<&IpcqConfig::topology>,
          "where queues lead: ring and line, over the cubes east and west, along the cube north and south; mesh, a "
          "grid "
          "inside the cube",
          topology_names},
      Key{"ipcq.depth", integer_type, queue_limits, ipcq_member<&IpcqConfig::depth>,
          "slots of one direction at the receiver"},
      Key{"ipcq.window", integer_type, queue_limits, ipcq_member<&IpcqConfig::window>,
          "messages of one direction that are sent and not yet received"},
      Key{"ipcq.bandwidth", bandwidth_type, bandwidth_limits, ipcq_member<&IpcqConfig::bandwidth>, "of one link"},
      Key{"ipcq.hop_latency", time_type, between(1, ps_per_ms), ipcq_member<&IpcqConfig::hop_latency>,
          "from sending a message to its first data; returned credits take it too"},
      Key{"ipcq.slot_bytes", size_type, between(64, 1 << 30), ipcq_member<&IpcqConfig::slot_bytes>,
          "of one slot; auto is the largest message of the kernel", no_choices, false, "auto"},
      Key{"ipcq.shared_per_cube", boolean_type, no_limits, ipcq_member<&IpcqConfig::shared_per_cube>,
          "the PEs of a cube share one link to each neighbouring cube"},
      Key{"hbm.channels", integer_type, between(1, 1'024), hbm_member<&HbmConfig::channels>,
          "channels of one cube; any number"},
      Key{"hbm.bandwidth", bandwidth_type, bandwidth_limits, hbm_member<&HbmConfig::bandwidth>,
          "of one cube, all channels together"},
      Key{"hbm.efficiency", ratio_type, between(1, 1'000'000), hbm_member<&HbmConfig::efficiency>,
          "share of the bandwidth that is sustained"},
      Key{"hbm.latency", time_type, between(1, ps_per_ms), hbm_member<&HbmConfig::latency>,
          "from request to first data"},
      Key{"hbm.interleave", size_type, between(32, gib), hbm_member<&HbmConfig::interleave>,
          "consecutive bytes in one channel", no_choices, true},
      Key{"hbm.queue_depth", integer_type, queue_limits, hbm_member<&HbmConfig::queue_depth>,
          "requests accepted per port and not yet answered"},
      Key{"hbm.capacity", size_type, between(1 << 20, 1024 * gib), hbm_member<&HbmConfig::capacity>, "of one cube"},
      Key{"interconnect.bandwidth", bandwidth_type, bandwidth_limits,
          interconnect_member<&InterconnectConfig::bandwidth>, "of one cube's port: what it sends to other cubes"},
      Key{"interconnect.hop_latency", time_type, between(1, ps_per_ms),
          interconnect_member<&InterconnectConfig::hop_latency>,
          "of one hop between neighbours on the ring of cubes, there or back"},
      Key{"run.no_progress_limit", time_type, between(ps_per_us, 1'000 * ps_per_s),
          system_member<&SystemConfig::run, &RunConfig::no_progress_limit>,
          "simulated time without an operation that completes or is issued, after which a run is given up", no_choices,
          false, "never"},
      Key{"run.kernel_stack", size_type, between(64 * kib, gib), pe_member<&PeConfig::kernel_stack>,
          "of the host's thread in which a kernel runs on one PE; pages that it does not touch cost nothing"},
  };
  return keys;
}

std::string_view table_of(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

bool is_below(std::string_view path, std::string_view table) noexcept {
  return table.empty() ||
         (path.size() > table.size() && path.substr(0, table.size()) == table && path[table.size()] == '.');
}

bool is_table(std::string_view path) noexcept {
  return std::any_of(all_keys().begin(), all_keys().end(), [path](const Key& key) { return is_below(key.path, path); });
}

std::optional<std::size_t> index_of(std::string_view path) noexcept {
  const auto found =
      std::find_if(all_keys().begin(), all_keys().end(), [path](const Key& key) { return key.path == path; });
  if (found == all_keys().end()) return std::nullopt;
  return static_cast<std::size_t>(found - all_keys().begin());
}

std::vector<std::string> key_paths() {
  std::vector<std::string> paths;
  paths.reserve(all_keys().size());
  for (const Key& key : all_keys()) paths.emplace_back(key.path);
  return paths;
}

std::vector<std::string> table_paths() {
  std::vector<std::string> paths;
  for (const Key& key : all_keys()) {
    for (std::string_view table = table_of(key.path); !table.empty(); table = table_of(table)) {
      if (std::find(paths.begin(), paths.end(), table) == paths.end()) paths.emplace_back(table);
    }
  }
  return paths;
}

std::vector<std::string> names_below(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : all_keys()) {
    if (!is_below(key.path, table)) continue;
    const std::string_view rest = key.path.substr(table.empty() ? 0 : table.size() + 1);
    const std::string_view name = rest.substr(0, rest.find('.'));
    if (names.empty() || names.back() != name) names.emplace_back(name);
  }
  return names;
}

}  // namespace kernwave::platform
