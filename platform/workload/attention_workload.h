// The workloads of the attention kernels: kernels with their data.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/launch.h"
#include "platform/workload/attention_data.h"
#include "platform/workload/attention_layout.h"
#include "platform/workload/attention_task.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// Plans an attention task, launches its kernel, and has its data and its work from the parts that know them.
class AttentionWorkload : public Workload {
 public:
  /// Throws WorkloadError.
  AttentionWorkload(AttentionKernel kernel, const WorkloadRequest& request, const SystemConfig& config);

  [[nodiscard]] Json shape() const override;
  [[nodiscard]] std::vector<std::string> plan() const override { return {plan_}; }
  [[nodiscard]] DType dtype() const override { return task_.args.dtype; }
  void place_data(System& system) const override { data_.place(system); }
  void launch(System& system, tl::Policy policy) const override;
  void prepare_reference() override { data_.prepare_reference(); }
  void prepare_reference_beside_run(const std::atomic<bool>& cancelled) const override {
    data_.prepare_reference_beside_run(cancelled);
  }
  [[nodiscard]] NumericError verify(const System& system) const override { return data_.verify(system); }
  [[nodiscard]] std::vector<CompulsoryWork> compulsory() const override;

 private:
  [[nodiscard]] std::string make_plan(const WorkloadRequest& request);
  [[nodiscard]] tl::Kernel kernel_of(std::int64_t rank) const;
  [[nodiscard]] tl::Kernel split_decode(const kernels::AttentionArgs& args, std::int64_t rank) const;
  [[nodiscard]] tl::Queues queues() const;
  [[nodiscard]] Direction forward() const;
  void add_shape_of_ranks(Json& shape) const;

  SystemConfig config_;
  std::optional<std::string> pe_kind_;
  AttentionTask task_;
  AttentionLayout layout_;
  AttentionData data_;
  std::string plan_;
};

}  // namespace kernwave::platform
