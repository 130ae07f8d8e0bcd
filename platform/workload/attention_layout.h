// The layout of an attention task: which PE works on which heads, and where the tensors lie.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "models/base/address.h"
#include "platform/workload/attention_task.h"
#include "platform/workload/hbm_layout.h"
#include "platform/workload/sequence_rows.h"

namespace kernwave::platform {

/// Program n of a task whose keys are
///
/// * not split runs on PE n mod PEs,
/// * split over PEs: its rank r runs on PE n x ranks + r,
/// * split over cubes: each of its ranks runs on PE n mod (PEs of a cube) of the rank's cube.
///
/// PEs are counted among those of the task's placement. Q, K, V and output, of a rank its share of them, lie in the
/// cube of that PE. In layout [S, H, D] the heads of a sequence that share a cube are interleaved.
class AttentionLayout {
 public:
  /// `task` must outlive this. Throws WorkloadError when a cube is full.
  AttentionLayout(const AttentionTask& task, const SystemConfig& config);

  [[nodiscard]] PeId pe_of(std::int64_t rank, std::int64_t program) const;
  /// Of all programs.
  [[nodiscard]] const std::vector<kernels::AttentionHead>& heads(std::int64_t rank) const {
    return heads_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const kernels::AttentionHead& head(std::int64_t rank, std::int64_t program) const {
    return heads(rank)[static_cast<std::size_t>(program)];
  }
  /// Tokens of the output that a rank writes.
  [[nodiscard]] std::int64_t outputs_of(std::int64_t rank, std::int64_t program) const;

  [[nodiscard]] SequenceRows query_rows(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] SequenceRows key_rows(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] SequenceRows value_rows(std::int64_t rank, std::int64_t program) const;
  /// The output of all ranks that write some.
  [[nodiscard]] std::vector<SequenceRows> output_rows(std::int64_t program) const;
  /// Likewise; none without LSE.
  [[nodiscard]] std::vector<SequenceRows> lse_rows(std::int64_t program) const;

 private:
  void place_sequence_in_cube(HbmLayout& layout, std::int64_t rank, CubeId cube,
                              const std::vector<std::int64_t>& programs);
  /// Tokens of Q that a rank reads.
  [[nodiscard]] std::int64_t queries_of(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] SequenceRows rows_of_queries(std::int64_t rank, std::int64_t program) const;

  const AttentionTask& task_;
  std::int64_t pes_per_cube_;
  std::vector<std::vector<kernels::AttentionHead>> heads_;  // [rank][program]
};

}  // namespace kernwave::platform
