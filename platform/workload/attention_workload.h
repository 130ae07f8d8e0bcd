// The attention kernels with their data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "kernels/tl/launch.h"
#include "platform/workload/attention_plan.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/hbm_layout.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// A program (x, y) is KV head x of sequence y and has number x + KV heads y.
///
/// Short kernels have one rank: program n runs on PE n mod PEs, and its Q, K, V and output lie in that PE's cube. A
/// decode_short of fewer programs than a cube has PEs is split inside cube 0: rank r of program n runs on PE
/// n x ranks + r. Long ones have a rank on each of the first cubes: program n runs on PE n mod (PEs of a cube) of every
/// rank's cube, which holds the rank's share of keys (and, prefill, of queries and output). In layout [S, H, D] the
/// heads of a sequence that share a cube are interleaved.
class AttentionWorkload : public Workload {
 public:
  /// Throws WorkloadError.
  AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config);

  [[nodiscard]] Json shape() const override;
  [[nodiscard]] std::vector<std::string> plan() const override { return {plan_}; }
  [[nodiscard]] DType dtype() const override { return common_.dtype; }
  void place_data(System& system) const override;
  void launch(System& system, tl::Policy policy) const override;
  void prepare_reference() override;
  [[nodiscard]] NumericError verify(const System& system) const override;
  [[nodiscard]] std::vector<CompulsoryWork> compulsory() const override;

 private:
  /// Which of a program's tensors.
  enum class Part : std::uint8_t { q, k, v };
  /// Rows of one tensor of a program that one rank holds, as many and in the order of its chunks.
  struct Rows {
    HbmAddress base;
    std::int64_t width = 0;   ///< elements of a row
    std::int64_t stride = 0;  ///< likewise
    DType dtype = DType::f32;
    kernels::Sharding tokens;
    std::int64_t rank = 0;
  };

  void check(const WorkloadRequest& request) const;
  [[nodiscard]] std::int64_t splits_in_cube() const;
  void check_programs() const;
  void take_lengths(const WorkloadRequest& request);
  void check_window() const;
  void make_plan(const WorkloadRequest& request);
  void place_heads();
  void place_sequence_in_cube(HbmLayout& layout, std::int64_t rank, CubeId cube,
                              const std::vector<std::int64_t>& programs);

  [[nodiscard]] std::int64_t programs() const { return batch_ * common_.kv_heads; }
  [[nodiscard]] std::size_t sequence_of(std::int64_t program) const {
    return static_cast<std::size_t>(program / common_.kv_heads);
  }
  [[nodiscard]] const kernels::RingSequence& tokens_of(std::int64_t program) const {
    return sequences_[sequence_of(program)];
  }
  [[nodiscard]] const kernels::AttentionHead& head(std::int64_t rank, std::int64_t program) const {
    return ranks_heads_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(program)];
  }
  [[nodiscard]] PeId pe_of(std::int64_t rank, std::int64_t program) const;
  /// Tokens of Q that a rank holds, and of the output.
  [[nodiscard]] std::int64_t queries_of(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] std::int64_t outputs_of(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] kernels::AttentionArgs args_of(std::int64_t rank) const;
  [[nodiscard]] tl::Kernel kernel_of(std::int64_t rank) const;
  [[nodiscard]] tl::Kernel split_decode(const kernels::AttentionArgs& args, std::int64_t rank) const;
  [[nodiscard]] tl::Queues queues() const;
  [[nodiscard]] Direction forward() const;
  [[nodiscard]] std::int64_t longest_queries() const;

  /// Where the rows of a tensor lie; K and V of each rank, the queries of each rank.
  [[nodiscard]] Rows key_rows(std::int64_t rank, std::int64_t program, HbmAddress base) const;
  [[nodiscard]] Rows query_rows(std::int64_t rank, std::int64_t program, HbmAddress base, std::int64_t stride,
                                std::int64_t width, DType dtype) const;
  [[nodiscard]] std::vector<Rows> output_rows(std::int64_t program) const;
  [[nodiscard]] std::vector<Rows> lse_rows(std::int64_t program) const;

  [[nodiscard]] std::int64_t visible_scores(std::int64_t rank, std::int64_t program) const;
  [[nodiscard]] std::vector<float> values(std::int64_t program, Part part) const;
  [[nodiscard]] AttentionArithmetic arithmetic(std::int64_t program) const;
  [[nodiscard]] AttentionReference reference(std::int64_t program) const;
  [[nodiscard]] NumericError verify(const System& system, std::int64_t program, AttentionReference expected) const;

  AttentionKernel kernel_;
  SystemConfig config_;
  ModelShape model_;
  std::int64_t batch_;
  std::int64_t ranks_ = 1;
  KvLayout kv_layout_;
  RingSharding sharding_;
  kernels::Reduction reduction_;
  bool bidirectional_;
  std::uint64_t seed_;
  kernels::AttentionArgs common_;                                 // without heads
  std::int64_t resident_blocks_ = 1;                              // prefill_long
  std::vector<kernels::RingSequence> sequences_;                  // who holds which tokens
  std::vector<std::vector<kernels::AttentionHead>> ranks_heads_;  // [rank][program]
  std::string plan_;
  std::vector<AttentionReference> references_;  // by program, when prepared
};

}  // namespace kernwave::platform
