#include "platform/workload/attention_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kernwave::platform {

namespace {

using kernels::RingSequence;
using kernels::Sharding;

constexpr std::int64_t longest_sequence = std::int64_t{1} << 28;
constexpr std::int64_t largest_batch = 4096;
constexpr std::int64_t most_programs = std::int64_t{1} << 20;  ///< of all ranks

/// One length a sequence: the list as it is, or its only member repeated.
[[nodiscard]] std::vector<std::int64_t> lengths(const std::vector<std::int64_t>& given, std::int64_t batch,
                                                const char* option) {
  if (given.size() != 1 && static_cast<std::int64_t>(given.size()) != batch) {
    throw WorkloadError(
        fmt::format("{}: {} lengths for a batch of {}; give one, or one each", option, given.size(), batch));
  }
  for (const std::int64_t length : given) {
    if (length < 1 || length > longest_sequence) {
      throw WorkloadError(fmt::format("{}: a length is 1 to {}, not {}", option, longest_sequence, length));
    }
  }
  return given.size() == 1 ? std::vector<std::int64_t>(static_cast<std::size_t>(batch), given[0]) : given;
}

void check_options(AttentionKernel kernel, const WorkloadRequest& request) {
  if (!request.model) throw WorkloadError("--model is missing: a name that `kernwave list` shows, or a config.json");
  if (request.m || request.n || request.k) throw WorkloadError("--m, --n and --k are for the gemm kernel");
  if (!is_float(request.dtype)) throw WorkloadError("--dtype: attention runs in f16, bf16 or f32");
  if (request.batch < 1 || request.batch > largest_batch) {
    throw WorkloadError(fmt::format("--batch: 1 to {} sequences, not {}", largest_batch, request.batch));
  }
  check_model_shape(*request.model);
  if (request.tile && (*request.tile < 1 || *request.tile > 65536)) {
    throw WorkloadError(fmt::format("--tile: 1 to 65536 keys, not {}", *request.tile));
  }
  if (request.ranks && !is_long(kernel)) throw WorkloadError("--ranks is for the long attention kernels");
}

void check_options_of_long_kernels(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config) {
  if (request.ranks && (*request.ranks < 1 || *request.ranks > config.cubes)) {
    throw WorkloadError(
        fmt::format("--ranks: 1 to {}, one a cube (system.cubes), not {}", config.cubes, *request.ranks));
  }
  if (request.reduction && kernel != AttentionKernel::decode_long) {
    throw WorkloadError("--reduce is for gqa_attention_decode_long");
  }
  if ((request.sharding || request.bidirectional) && kernel != AttentionKernel::prefill_long) {
    throw WorkloadError("--sharding and --bidirectional are for gqa_attention_prefill_long");
  }
}

/// The queues that a long kernel needs between cubes.
void check_queues(AttentionKernel kernel, std::int64_t ranks, bool bidirectional, const SystemConfig& config) {
  const IpcqTopology topology = config.pe.ipcq.topology;
  if (ranks > 1 && topology == IpcqTopology::mesh) {
    throw WorkloadError("the long attention kernels need queues between cubes; ipcq.topology is \"mesh\"");
  }
  if (kernel != AttentionKernel::prefill_long || ranks == 1) return;
  const std::int64_t hops = bidirectional ? ranks / 2 : ranks - 1;
  if (hops > 1 && config.pe.ipcq.depth < 2) {
    throw WorkloadError(
        "a ring that passes tiles on needs two slots, one to send from and one to receive into: ipcq.depth is 1");
  }
  if (topology != IpcqTopology::ring || ranks != config.cubes) {
    throw WorkloadError(fmt::format(
        "the ring of gqa_attention_prefill_long closes over all {} cubes (system.cubes) with ipcq.topology = \"ring\"; "
        "--ranks is {}, the topology \"{}\"",
        config.cubes, ranks, topology == IpcqTopology::ring ? "ring" : "line"));
  }
}

/// How many PEs of a cube each program of a short decode can have: one, or more where there are fewer programs than
/// PEs.
[[nodiscard]] std::int64_t pes_for_each(const AttentionTask& task, const SystemConfig& config) {
  const bool linked = config.pe.ipcq.topology != IpcqTopology::mesh;  // a mesh has no line through all PEs
  if (!linked || !task.pes.is_one_row_of(CubeId(0))) return 1;
  const auto pes = static_cast<std::int64_t>(task.pes.of_cube(CubeId(0)).size());
  return std::max<std::int64_t>(1, pes / (task.batch * task.model.kv_heads));
}

/// Ranks lead from cube to cube by the queues of PEs that have the same place in each.
void check_places(const AttentionTask& task) {
  if (task.pes.is_alike_in(task.ranks)) return;
  throw WorkloadError(
      fmt::format("--pe-kind: the long attention kernels run on PEs with the same places in each of {} cubes; give the "
                  "kind by of_each_cube",
                  task.ranks));
}

void split_keys(AttentionTask& task, const WorkloadRequest& request, const SystemConfig& config) {
  if (is_long(task.kernel)) {
    task.split = KeySplit::over_cubes;
    task.ranks = request.ranks.value_or(config.cubes);
    check_places(task);
  } else if (task.kernel == AttentionKernel::decode_short) {
    task.ranks = pes_for_each(task, config);
    task.split = task.ranks > 1 ? KeySplit::over_pes : KeySplit::none;
  }
}

/// Each of them takes some of the host's memory before anything is known to fit.
void check_programs(const AttentionTask& task) {
  const std::int64_t all = task.programs() * task.ranks;
  if (all <= most_programs) return;
  throw WorkloadError(fmt::format("{} KV heads x {} sequences x {} ranks are {} programs (allowed: up to {})",
                                  task.args.kv_heads, task.batch, task.ranks, all, most_programs));
}

[[nodiscard]] std::vector<RingSequence> sequences_of(const AttentionTask& task, const WorkloadRequest& request) {
  if (request.s_kv.empty()) throw WorkloadError("--s-kv is missing: how many keys each sequence holds");
  const auto s_kv = lengths(request.s_kv, task.batch, "--s-kv");
  const auto s_q = request.s_q.empty() ? (is_decode(task.kernel) ? std::vector<std::int64_t>(s_kv.size(), 1) : s_kv)
                                       : lengths(request.s_q, task.batch, "--s-q");
  const std::int64_t chunks = task.sharding == RingSharding::zigzag ? 2 : 1;
  const std::int64_t query_ranks = task.kernel == AttentionKernel::prefill_long ? task.ranks : 1;
  std::vector<RingSequence> sequences;
  sequences.reserve(s_kv.size());
  for (std::size_t i = 0; i < s_kv.size(); ++i) {
    sequences.push_back({Sharding(s_q[i], query_ranks, chunks), Sharding(s_kv[i], task.ranks, chunks)});
  }
  return sequences;
}

/// Kernels read every key that a causal mask shows.
void check_window(const AttentionTask& task) {
  const ModelShape& model = task.model;
  if (!model.window) return;
  for (const RingSequence& sequence : task.sequences) {
    const std::int64_t keys = sequence.keys.tokens();
    if (keys <= model.window->keys) continue;
    throw WorkloadError(fmt::format(
        "--s-kv: {} keys, but in layers of {} a query sees {} of them ({}), and no kernel leaves the others out "
        "(allowed: "
        "up to {} keys, or a model file without {}, for layers whose queries see all keys)",
        keys, model.name, model.window->keys, model.window->key, model.window->keys, model.window->key));
  }
}

}  // namespace

std::int64_t AttentionTask::longest_queries() const {
  std::int64_t longest = 0;
  for (const RingSequence& sequence : sequences) longest = std::max(longest, sequence.queries.tokens());
  return longest;
}

AttentionTask attention_task(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config) {
  check_options(kernel, request);
  check_options_of_long_kernels(kernel, request, config);
  AttentionTask task;
  task.kernel = kernel;
  task.model = *request.model;
  task.batch = request.batch;
  task.pes = PePlacement(config, request.pe_kind);
  split_keys(task, request, config);
  task.kv_layout = request.kv_layout.value_or(KvLayout::heads_first);
  task.sharding = request.sharding.value_or(RingSharding::contiguous);
  task.bidirectional = request.bidirectional;
  task.reduction = request.reduction.value_or(kernels::Reduction::chain);
  task.seed = request.seed;
  if (task.split == KeySplit::over_cubes) check_queues(kernel, task.ranks, task.bidirectional, config);
  task.args.kv_heads = task.model.kv_heads;
  task.args.group = task.model.query_heads / task.model.kv_heads;
  task.args.head_dim = task.model.head_dim;
  task.args.dtype = request.dtype;
  task.args.causal = request.causal.value_or(!is_decode(kernel));
  task.args.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(task.model.head_dim)));
  task.args.kv = request.kv.value_or(kernels::KvSource::load);
  task.args.store_lse = request.lse;
  check_programs(task);
  task.sequences = sequences_of(task, request);
  check_window(task);
  return task;
}

}  // namespace kernwave::platform
