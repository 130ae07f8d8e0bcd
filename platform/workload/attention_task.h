// The task of a run of an attention kernel: what is computed, and by which cubes and PEs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "platform/workload/attention_plan.h"
#include "platform/workload/pe_placement.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// The place of the ranks that share the keys of a program.
enum class KeySplit : std::uint8_t {
  none,        ///< one PE works on all keys of a program
  over_pes,    ///< on neighbouring PEs of cube 0
  over_cubes,  ///< one on each of the first cubes
};

/// A program (x, y) is KV head x of sequence y and has number x + KV heads y.
struct AttentionTask {
  AttentionKernel kernel = AttentionKernel::decode_short;
  ModelShape model;
  PePlacement pes;
  std::int64_t batch = 1;
  KeySplit split = KeySplit::none;
  std::int64_t ranks = 1;  ///< that share the keys of each program
  KvLayout kv_layout = KvLayout::heads_first;
  RingSharding sharding = RingSharding::contiguous;          ///< prefill_long
  bool bidirectional = false;                                ///< prefill_long
  kernels::Reduction reduction = kernels::Reduction::chain;  ///< decode_long
  std::uint64_t seed = 1;
  std::vector<kernels::RingSequence> sequences;  ///< which rank holds which tokens
  kernels::AttentionArgs args;                   ///< without heads; tile and blocks are the planner's
  std::int64_t resident_blocks = 1;              ///< prefill_long; the planner's

  [[nodiscard]] std::int64_t programs() const noexcept { return batch * args.kv_heads; }
  [[nodiscard]] const kernels::RingSequence& tokens_of(std::int64_t program) const {
    return sequences[static_cast<std::size_t>(program / args.kv_heads)];
  }
  /// Query tokens of the longest sequence.
  [[nodiscard]] std::int64_t longest_queries() const;
};

/// Makes the task without the values that the planner chooses. Throws WorkloadError.
[[nodiscard]] AttentionTask attention_task(AttentionKernel kernel, const WorkloadRequest& request,
                                           const SystemConfig& config);

}  // namespace kernwave::platform
