#include "platform/workload/attention_work.h"

#include "kernels/attention/causality.h"
#include "models/config/pe_kinds.h"

namespace kernwave::platform {

namespace {

using kernels::AttentionHead;

/// Of the queries that a rank of a ring holds, with all keys of their sequence.
[[nodiscard]] std::int64_t visible_pairs_of_ring(const AttentionTask& task, std::int64_t rank, std::int64_t program) {
  const kernels::RingSequence& tokens = task.tokens_of(program);
  const std::int64_t diagonal = tokens.keys.tokens() - tokens.queries.tokens();
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < tokens.queries.chunks_per_rank(); ++i) {
    const kernels::Span chunk = tokens.queries.chunk(rank, i);
    for (std::int64_t query = chunk.first; query < chunk.first + chunk.count; ++query) {
      pairs += kernels::visible_keys(task.args.causal, diagonal, tokens.keys.tokens(), query);
    }
  }
  return pairs;
}

/// Of a head's queries with the keys that it has.
[[nodiscard]] std::int64_t visible_pairs_of_head(const AttentionTask& task, const AttentionHead& head) {
  std::int64_t pairs = 0;
  for (std::int64_t query = 0; query < head.s_q; ++query) {
    pairs += kernels::visible_keys(task.args.causal, head.diagonal(), head.s_kv, query);
  }
  return pairs;
}

/// Of each score that counts: the maximum, scale and shift, the exponential, the sum, the conversion for the product.
[[nodiscard]] Cycles math_of_scores(const MathConfig& math, std::int64_t scores) {
  const MathCycles& cycles = math.cycles;
  return (cycles.max + cycles.fma + cycles.exp + cycles.add + cycles.cast) * (scores / math.lanes);
}

[[nodiscard]] const MathConfig& math_of(const SystemConfig& config, PeId pe) {
  const PeKind* kind = kind_of(config, pe);
  return kind == nullptr ? config.pe.math : kind->pe.math;
}

}  // namespace

std::vector<CompulsoryWork> compulsory_work(const AttentionTask& task, const AttentionLayout& layout,
                                            const SystemConfig& config) {
  const bool ring = task.kernel == AttentionKernel::prefill_long;
  const std::int64_t head_dim = task.args.head_dim;
  const std::int64_t element = size_of(task.args.dtype);
  const std::int64_t q_row = task.args.group * head_dim * element;
  std::vector<CompulsoryWork> work(static_cast<std::size_t>(config.cubes * config.pes_per_cube));
  for (std::int64_t rank = 0; rank < task.ranks; ++rank) {
    for (std::int64_t program = 0; program < task.programs(); ++program) {
      const AttentionHead& head = layout.head(rank, program);
      // The last query sees the most; of a ring, whose last query sees every key, each rank's share is needed.
      const std::int64_t keys =
          ring ? head.s_kv : kernels::visible_keys(task.args.causal, head.diagonal(), head.s_kv, head.s_q - 1);
      const std::int64_t pairs = ring ? visible_pairs_of_ring(task, rank, program) : visible_pairs_of_head(task, head);
      const std::int64_t scores = pairs * task.args.group;
      const PeId pe = layout.pe_of(rank, program);
      CompulsoryWork& its = work[static_cast<std::size_t>(pe.count())];
      its.read += Bytes(head.s_q * q_row) + Bytes(2 * keys * head_dim * element);
      its.written += Bytes(layout.outputs_of(rank, program) * q_row);
      its.multiply_accumulates += 2 * scores * head_dim;
      its.math += math_of_scores(math_of(config, pe), scores);
    }
  }
  return work;
}

}  // namespace kernwave::platform
