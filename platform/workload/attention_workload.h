// The short attention kernels with their data: one program a pair of KV head and sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "platform/workload/attention_plan.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// Program (x, y), KV head x of sequence y, runs on PE (x + KV heads y) mod PEs, and its Q, K, V and output lie in that
/// PE's cube. In layout [S, H, D] the heads of a sequence that share a cube are interleaved.
class AttentionWorkload : public Workload {
 public:
  /// Throws WorkloadError.
  AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config);

  [[nodiscard]] Json shape() const override;
  [[nodiscard]] std::vector<std::string> plan() const override { return {plan_}; }
  [[nodiscard]] DType dtype() const override { return args_.dtype; }
  void place_data(System& system) const override;
  void launch(System& system, tl::Policy policy) const override;
  void prepare_reference() override;
  [[nodiscard]] NumericError verify(const System& system) const override;
  [[nodiscard]] double tolerance() const override;
  [[nodiscard]] std::vector<CompulsoryWork> compulsory() const override;

 private:
  /// Which of a program's tensors.
  enum class Part : std::uint8_t { q, k, v };

  void place_heads(const WorkloadRequest& request);
  void place_sequence_in_cube(class HbmLayout& layout, CubeId cube, const std::vector<std::int64_t>& programs);
  [[nodiscard]] std::int64_t programs() const { return static_cast<std::int64_t>(args_.heads.size()); }
  [[nodiscard]] PeId pe_of(std::int64_t program) const;
  [[nodiscard]] std::int64_t visible_scores(const kernels::AttentionHead& head) const;
  [[nodiscard]] std::vector<float> values(std::int64_t program, Part part) const;
  [[nodiscard]] AttentionReference reference(std::int64_t program) const;
  [[nodiscard]] std::vector<float> output(const System& system, std::int64_t program) const;

  AttentionKernel kernel_;
  SystemConfig config_;
  ModelShape model_;
  std::int64_t batch_;
  KvLayout kv_layout_;
  std::uint64_t seed_;
  kernels::AttentionArgs args_;
  std::string plan_;
  std::vector<std::vector<double>> references_;  // by program, when prepared
};

}  // namespace kernwave::platform
