#include "platform/workload/attention_workload.h"

#include <algorithm>

#include "kernels/attention/gqa_attention_decode_long.h"
#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "kernels/attention/gqa_attention_prefill_short.h"
#include "platform/workload/attention_work.h"

namespace kernwave::platform {

namespace {

using kernels::RingSequence;
using kernels::Sharding;

[[nodiscard]] std::string name_of(KvLayout layout) {
  return layout == KvLayout::heads_first ? "[H, S, D]" : "[S, H, D]";
}

/// Of all sequences, or once where all are the same.
[[nodiscard]] Json list(const std::vector<RingSequence>& sequences, Sharding RingSequence::*tokens) {
  Json array = Json::array();
  const std::int64_t first = (sequences.front().*tokens).tokens();
  bool uniform = true;
  for (const RingSequence& sequence : sequences) {
    array.push_back((sequence.*tokens).tokens());
    uniform = uniform && (sequence.*tokens).tokens() == first;
  }
  return uniform ? Json(first) : array;
}

}  // namespace

AttentionWorkload::AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config)
    : config_(config),
      pe_kind_(request.pe_kind),
      task_(attention_task(kernel, request, config)),
      layout_(task_, config),
      data_(task_, layout_),
      plan_(make_plan(request)) {}

std::string AttentionWorkload::make_plan(const WorkloadRequest& request) {
  const ScratchLimits smallest = task_.pes.smallest();
  if (task_.kernel == AttentionKernel::prefill_long) {
    kernels::RingArgs ring;
    ring.attention = task_.args;
    ring.sequences = task_.sequences;
    ring.ranks = task_.ranks;
    ring.bidirectional = task_.bidirectional;
    std::string plan = plan_ring({request.tile, smallest.capacity, config_.pe.ipcq}, ring);
    task_.args = ring.attention;
    task_.resident_blocks = ring.resident_blocks;
    return plan;
  }
  std::int64_t longest_shard = 0;
  for (const RingSequence& sequence : task_.sequences) {
    longest_shard = std::max(longest_shard, sequence.keys.longest_chunk());
  }
  const Bytes slots = task_.ranks == 1 ? Bytes(0) : slots_need(config_.pe.ipcq, queues().slot_bytes);
  return plan_attention({task_.kernel, task_.longest_queries(), longest_shard, request.tile, smallest.capacity, slots,
                         smallest.prefetch_depth},
                        task_.args);
}

// ---- running

tl::Kernel AttentionWorkload::kernel_of(std::int64_t rank) const {
  kernels::AttentionArgs args = task_.args;
  args.heads = layout_.heads(rank);
  switch (task_.kernel) {
    case AttentionKernel::decode_short:
      if (task_.split == KeySplit::over_pes) return split_decode(args, rank);
      return [args](tl::Context& tl) { kernels::gqa_attention_decode_short(tl, args); };
    case AttentionKernel::prefill_short:
      return [args](tl::Context& tl) { kernels::gqa_attention_prefill_short(tl, args); };
    case AttentionKernel::decode_long:
      return split_decode(args, rank);
    case AttentionKernel::prefill_long:
      break;
  }
  const kernels::RingArgs ring{args, task_.sequences, rank, task_.ranks, task_.bidirectional, task_.resident_blocks};
  return [ring](tl::Context& tl) { kernels::gqa_attention_prefill_long(tl, ring); };
}

/// Ranks follow one another from cube to cube, or along a cube.
Direction AttentionWorkload::forward() const {
  return task_.split == KeySplit::over_cubes ? Direction::east : Direction::south;
}

tl::Kernel AttentionWorkload::split_decode(const kernels::AttentionArgs& args, std::int64_t rank) const {
  const kernels::SplitDecodeArgs split{args, rank, task_.ranks, forward(), task_.reduction};
  return [split](tl::Context& tl) { kernels::gqa_attention_decode_long(tl, split); };
}

tl::Queues AttentionWorkload::queues() const {
  if (task_.ranks == 1) return {};
  if (is_decode(task_.kernel)) {
    kernels::SplitDecodeArgs split;
    split.attention = task_.args;
    return {{opposite(forward())}, split.message_bytes(task_.longest_queries())};
  }
  kernels::RingArgs ring;
  ring.attention = task_.args;
  ring.sequences = task_.sequences;
  std::vector<Direction> from{Direction::west};
  if (task_.bidirectional) from.push_back(Direction::east);
  return {from, ring.message_bytes()};
}

void AttentionWorkload::launch(System& system, tl::Policy policy) const {
  const tl::Grid grid{task_.args.kv_heads, task_.batch, 1};
  const bool cube_each = task_.split == KeySplit::over_cubes;
  for (std::int64_t rank = 0; rank < task_.ranks; ++rank) {
    const auto pes_of_a_rank =
        static_cast<std::int64_t>((cube_each ? task_.pes.of_cube(CubeId(rank)) : task_.pes.all()).size());
    std::vector<Pe*> pes;
    for (std::int64_t program = 0; program < std::min(task_.programs(), pes_of_a_rank); ++program) {
      pes.push_back(&system.pe(layout_.pe_of(rank, program)));
    }
    tl::launch(pes, grid, kernel_of(rank), policy, queues());
  }
}

// ---- what to expect

std::vector<CompulsoryWork> AttentionWorkload::compulsory() const { return compulsory_work(task_, layout_, config_); }

Json AttentionWorkload::shape() const {
  const kernels::AttentionArgs& args = task_.args;
  Json shape = Json::object({{"model", task_.model.name},
                             {"query_heads", task_.model.query_heads},
                             {"kv_heads", task_.model.kv_heads},
                             {"head_dim", task_.model.head_dim},
                             {"batch", task_.batch},
                             {"s_q", list(task_.sequences, &RingSequence::queries)},
                             {"s_kv", list(task_.sequences, &RingSequence::keys)},
                             {"causal", args.causal},
                             {"dtype", kernwave::name_of(args.dtype)},
                             {"kv_layout", name_of(task_.kv_layout)},
                             {"tile", args.tile},
                             {"block_queries", args.block_queries},
                             {"kv", args.kv == kernels::KvSource::load ? "load" : "composite"},
                             {"kv_buffers", args.kv_buffers},
                             {"seed", static_cast<std::int64_t>(task_.seed)}});
  add_shape_of_ranks(shape);
  if (pe_kind_) shape["pe_kind"] = *pe_kind_;
  return shape;
}

void AttentionWorkload::add_shape_of_ranks(Json& shape) const {
  if (task_.split == KeySplit::none) return;
  if (task_.split == KeySplit::over_pes) {
    shape["splits"] = task_.ranks;
    return;
  }
  shape["ranks"] = task_.ranks;
  if (task_.kernel == AttentionKernel::decode_long) {
    shape["reduce"] = task_.reduction == kernels::Reduction::chain ? "chain" : "tree";
    return;
  }
  std::int64_t passes = 0;
  for (const RingSequence& sequence : task_.sequences) {
    passes = std::max(passes, kernels::ring_passes(sequence, task_.args.block_queries, task_.resident_blocks));
  }
  shape["sharding"] = task_.sharding == RingSharding::zigzag ? "zigzag" : "contiguous";
  shape["bidirectional"] = task_.bidirectional;
  shape["resident_blocks"] = task_.resident_blocks;
  shape["ring_passes"] = passes;
}

}  // namespace kernwave::platform
