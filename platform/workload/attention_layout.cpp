#include "platform/workload/attention_layout.h"

#include <map>

namespace kernwave::platform {

using kernels::AttentionHead;
using kernels::Sharding;
using kernels::Span;

AttentionLayout::AttentionLayout(const AttentionTask& task, const SystemConfig& config)
    : task_(task), pes_per_cube_(config.pes_per_cube) {
  HbmLayout layout(config);
  heads_.assign(static_cast<std::size_t>(task.ranks),
                std::vector<AttentionHead>(static_cast<std::size_t>(task.programs())));
  for (std::int64_t rank = 0; rank < task.ranks; ++rank) {
    for (std::int64_t sequence = 0; sequence < task.batch; ++sequence) {
      std::map<std::int64_t, std::vector<std::int64_t>> programs_by_cube;
      for (std::int64_t head = 0; head < task.args.kv_heads; ++head) {
        const std::int64_t program = head + task.args.kv_heads * sequence;
        programs_by_cube[pe_of(rank, program).count() / pes_per_cube_].push_back(program);
      }
      for (const auto& [cube, programs] : programs_by_cube) {
        place_sequence_in_cube(layout, rank, CubeId(cube), programs);
      }
    }
  }
}

void AttentionLayout::place_sequence_in_cube(HbmLayout& layout, std::int64_t rank, CubeId cube,
                                             const std::vector<std::int64_t>& programs) {
  const kernels::AttentionArgs& args = task_.args;
  const auto heads = static_cast<std::int64_t>(programs.size());
  const std::int64_t element = size_of(args.dtype);
  const std::int64_t any = programs.front();
  const Sharding& keys = task_.tokens_of(any).keys;
  const std::int64_t s_kv = keys.shard(rank);
  const std::int64_t q_row = heads * args.group * args.head_dim;
  const std::int64_t lse_row = heads * args.group;
  const Bytes kv_bytes(s_kv * heads * args.head_dim * element);
  AttentionHead placed;
  placed.q = layout.allocate(cube, Bytes(queries_of(rank, any) * q_row * element), "Q");
  placed.k = layout.allocate(cube, kv_bytes, "K");
  placed.v = layout.allocate(cube, kv_bytes, "V");
  placed.out = layout.allocate(cube, Bytes(outputs_of(rank, any) * q_row * element), "the output");
  if (args.store_lse) {
    placed.lse = layout.allocate(cube, Bytes(outputs_of(rank, any) * lse_row * size_of(DType::f32)), "the LSE");
  }
  const bool heads_first = task_.kv_layout == KvLayout::heads_first;
  const Span shard = keys.chunk(rank, 0);
  std::int64_t local = 0;
  for (const std::int64_t program : programs) {
    AttentionHead& head = heads_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(program)];
    const Bytes q_offset(local * args.group * args.head_dim * element);
    const Bytes kv_offset(local * args.head_dim * element * (heads_first ? s_kv : 1));
    head.q = placed.q + q_offset;
    head.out = placed.out + q_offset;
    head.k = placed.k + kv_offset;
    head.v = placed.v + kv_offset;
    head.lse = placed.lse + Bytes(local * args.group * size_of(DType::f32));
    head.q_stride = q_row;
    head.out_stride = q_row;
    head.kv_stride = heads_first ? args.head_dim : heads * args.head_dim;
    head.lse_stride = lse_row;
    head.s_q = queries_of(rank, program);
    head.s_kv = s_kv;
    head.later_keys = keys.tokens() - shard.first - shard.count;  // of a split decode; others do not look at it
    if (task_.kernel == AttentionKernel::prefill_long) head.later_keys = 0;
    ++local;
  }
}

PeId AttentionLayout::pe_of(std::int64_t rank, std::int64_t program) const {
  const auto wrapped = [](const std::vector<PeId>& pes, std::int64_t number) {
    return pes[static_cast<std::size_t>(number) % pes.size()];
  };
  switch (task_.split) {
    case KeySplit::none:
      break;
    case KeySplit::over_pes:
      return wrapped(task_.pes.of_cube(CubeId(0)), program * task_.ranks + rank);
    case KeySplit::over_cubes:
      return wrapped(task_.pes.of_cube(CubeId(rank)), program);
  }
  return wrapped(task_.pes.all(), program);
}

std::int64_t AttentionLayout::queries_of(std::int64_t rank, std::int64_t program) const {
  const Sharding& queries = task_.tokens_of(program).queries;
  return queries.ranks() == task_.ranks ? queries.shard(rank) : queries.tokens();
}

std::int64_t AttentionLayout::outputs_of(std::int64_t rank, std::int64_t program) const {
  const bool elsewhere = is_decode(task_.kernel) && rank != task_.ranks - 1;
  return elsewhere ? 0 : queries_of(rank, program);
}

SequenceRows AttentionLayout::rows_of_queries(std::int64_t rank, std::int64_t program) const {
  SequenceRows rows;
  rows.tokens = task_.tokens_of(program).queries;
  rows.rank = rows.tokens.ranks() == task_.ranks ? rank : 0;
  rows.width = task_.args.group * task_.args.head_dim;
  rows.dtype = task_.args.dtype;
  return rows;
}

SequenceRows AttentionLayout::query_rows(std::int64_t rank, std::int64_t program) const {
  SequenceRows rows = rows_of_queries(rank, program);
  rows.base = head(rank, program).q;
  rows.stride = head(rank, program).q_stride;
  return rows;
}

SequenceRows AttentionLayout::key_rows(std::int64_t rank, std::int64_t program) const {
  const AttentionHead& mine = head(rank, program);
  return {mine.k, task_.args.head_dim, mine.kv_stride, task_.args.dtype, task_.tokens_of(program).keys, rank};
}

SequenceRows AttentionLayout::value_rows(std::int64_t rank, std::int64_t program) const {
  SequenceRows rows = key_rows(rank, program);
  rows.base = head(rank, program).v;
  return rows;
}

std::vector<SequenceRows> AttentionLayout::output_rows(std::int64_t program) const {
  std::vector<SequenceRows> all;
  for (std::int64_t rank = 0; rank < task_.ranks; ++rank) {
    if (outputs_of(rank, program) == 0) continue;
    SequenceRows rows = rows_of_queries(rank, program);
    rows.base = head(rank, program).out;
    rows.stride = head(rank, program).out_stride;
    all.push_back(rows);
  }
  return all;
}

std::vector<SequenceRows> AttentionLayout::lse_rows(std::int64_t program) const {
  std::vector<SequenceRows> all;
  for (std::int64_t rank = 0; rank < task_.ranks && task_.args.store_lse; ++rank) {
    if (outputs_of(rank, program) == 0) continue;
    SequenceRows rows = rows_of_queries(rank, program);
    rows.base = head(rank, program).lse;
    rows.width = task_.args.group;
    rows.stride = head(rank, program).lse_stride;
    rows.dtype = DType::f32;
    all.push_back(rows);
  }
  return all;
}

}  // namespace kernwave::platform
