#include "platform/workload/attention_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "platform/parallel.h"

namespace kernwave::platform {

namespace {

/// Without the rows that see no key, whose LSE must be -inf in both; one that is not counts as wrong.
[[nodiscard]] NumericError lse_error(std::vector<float> lse, const AttentionReference& reference) {
  ExpectedOutput expected{reference.lse, reference.lse_bounds, DType::f32, {}};
  for (std::size_t i = 0; i < lse.size(); ++i) {
    const bool both = std::isinf(lse[i]) && std::isinf(expected.values[i]) && lse[i] < 0.0F;
    if (both) lse[i] = 0.0F;
    if (both) expected.values[i] = 0.0;
  }
  return numeric_error(lse, expected, 1);
}

}  // namespace

RandomTensor AttentionData::numbers(std::int64_t program, Part part) const {
  constexpr std::uint64_t parts = 3;
  return {task_.seed, static_cast<std::uint64_t>(program) * parts + static_cast<std::uint64_t>(part)};
}

void AttentionData::make(std::int64_t program, Part part, std::vector<float>& values) const {
  const kernels::RingSequence& tokens = task_.tokens_of(program);
  const std::int64_t count = part == Part::q ? tokens.queries.tokens() * task_.args.group : tokens.keys.tokens();
  values.resize(static_cast<std::size_t>(count * task_.args.head_dim));
  numbers(program, part).write(0, count * task_.args.head_dim, task_.args.dtype, values.data());
}

void AttentionData::place(System& system) const {
  for (std::int64_t program = 0; program < task_.programs(); ++program) {
    for (std::int64_t rank = 0; rank < task_.ranks; ++rank) {
      write_rows(system, layout_.query_rows(rank, program), numbers(program, Part::q));
      write_rows(system, layout_.key_rows(rank, program), numbers(program, Part::k));
      write_rows(system, layout_.value_rows(rank, program), numbers(program, Part::v));
    }
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    for (const SequenceRows& rows : layout_.output_rows(program)) fill_rows(system, rows, nothing);
    for (const SequenceRows& rows : layout_.lse_rows(program)) fill_rows(system, rows, nothing);
  }
}

/// A decode merges the ranks' sums, each over the rank's own keys; in a ring every sum takes up all keys, in an order
/// that differs between ranks.
AttentionArithmetic AttentionData::arithmetic(std::int64_t program) const {
  const kernels::Sharding& keys = task_.tokens_of(program).keys;
  const std::int64_t tile = task_.args.tile;
  const std::int64_t tiles_of_a_chunk = ceil_div(keys.longest_chunk(), tile);
  AttentionArithmetic arithmetic;
  arithmetic.storage = task_.args.dtype;
  arithmetic.tile = std::min(tile, keys.longest_chunk());
  if (is_decode(task_.kernel)) {
    arithmetic.chain = keys.longest_chunk();
    arithmetic.rescalings = tiles_of_a_chunk - 1 + task_.ranks - 1;
    for (std::int64_t rank = 0; rank < task_.ranks; ++rank) arithmetic.consecutive.push_back(keys.shard(rank));
  } else {
    arithmetic.chain = keys.tokens();
    if (task_.kernel == AttentionKernel::prefill_short) arithmetic.consecutive = {keys.tokens()};
    arithmetic.rescalings = keys.ranks() * keys.chunks_per_rank() * tiles_of_a_chunk - 1;
  }
  return arithmetic;
}

AttentionReference AttentionData::reference(std::int64_t program, Inputs& inputs, const ReferenceEffort& effort) const {
  const kernels::RingSequence& tokens = task_.tokens_of(program);
  AttentionProblem problem;
  problem.s_q = tokens.queries.tokens();
  problem.s_kv = tokens.keys.tokens();
  problem.group = task_.args.group;
  problem.head_dim = task_.args.head_dim;
  problem.causal = task_.args.causal;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(task_.args.head_dim));
  problem.arithmetic = arithmetic(program);
  make(program, Part::q, inputs.q);
  make(program, Part::k, inputs.k);
  make(program, Part::v, inputs.v);
  return attention_reference(problem, inputs.q, inputs.k, inputs.v, effort);
}

void AttentionData::prepare_reference() {
  const auto done = static_cast<std::int64_t>(references_.size());
  std::vector<AttentionReference> others(static_cast<std::size_t>(task_.programs() - done));
  for_each_in_parallel(task_.programs() - done, [&](std::int64_t i) {
    Inputs inputs;
    others[static_cast<std::size_t>(i)] = reference(done + i, inputs, {});
  });
  std::move(others.begin(), others.end(), std::back_inserter(references_));
}

void AttentionData::prepare_reference_beside_run(const std::atomic<bool>& cancelled) const {
  constexpr std::int64_t most_numbers = std::int64_t{256} * 1024;  // 2 MiB
  std::int64_t numbers_kept = 0;
  Inputs inputs;
  ReferenceEffort effort;
  effort.cancelled = &cancelled;
  try {
    for (auto next = static_cast<std::int64_t>(references_.size()); next < task_.programs(); ++next) {
      const std::int64_t rows = task_.tokens_of(next).queries.tokens() * task_.args.group;
      numbers_kept += 2 * rows * (task_.args.head_dim + 1);  // of output and LSE, each with its bound
      if (numbers_kept > most_numbers) return;
      references_.push_back(reference(next, inputs, effort));
    }
  } catch (const ReferenceCancelled&) {
    return;  // those that are done remain
  }
}

NumericError AttentionData::verify(const System& system) const {
  NumericError error;
  Inputs inputs;
  ReferenceEffort effort;
  effort.all_cores = true;
  for (std::int64_t program = 0; program < task_.programs(); ++program) {
    const auto index = static_cast<std::size_t>(program);
    error.merge(
        verify(system, program, index < references_.size() ? references_[index] : reference(program, inputs, effort)));
  }
  return error;
}

NumericError AttentionData::verify(const System& system, std::int64_t program, AttentionReference expected) const {
  const kernels::AttentionArgs& args = task_.args;
  const std::int64_t group = args.group;
  const std::int64_t head_dim = args.head_dim;
  const auto place = [&](std::int64_t row) {  // of [s_q][group]
    return fmt::format("sequence {}, query {}, query head {}", program / args.kv_heads, row / group,
                       program % args.kv_heads * group + row % group);
  };
  NumericError error =
      numeric_error(gather_rows(system, layout_.output_rows(program)),
                    {std::move(expected.out), std::move(expected.out_bounds), args.dtype, {}}, head_dim);
  if (error.first_wrong) {
    WrongElement& wrong = *error.first_wrong;
    wrong.where = fmt::format("the output of {}, element {}", place(wrong.index / head_dim), wrong.index % head_dim);
  }
  if (!args.store_lse) return error;
  NumericError lse = lse_error(gather_rows(system, layout_.lse_rows(program)), expected);
  if (lse.first_wrong) lse.first_wrong->where = fmt::format("the LSE of {}", place(lse.first_wrong->index));
  error.merge(lse);
  return error;
}

}  // namespace kernwave::platform
