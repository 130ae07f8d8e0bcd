// The workload of the gemm kernel: the kernel with its data, on the PEs of cube 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "platform/workload/pe_placement.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

/// C = A B; all three matrices lie in cube 0, whose PEs share the blocks of C.
class GemmWorkload : public Workload {
 public:
  /// Throws WorkloadError.
  GemmWorkload(const WorkloadRequest& request, const SystemConfig& config);

  [[nodiscard]] Json shape() const override;
  [[nodiscard]] std::vector<std::string> plan() const override;
  [[nodiscard]] DType dtype() const override { return args_.dtype; }
  void place_data(System& system) const override;
  void launch(System& system, tl::Policy policy) const override;
  void prepare_reference() override;
  [[nodiscard]] NumericError verify(const System& system) const override;
  [[nodiscard]] std::vector<CompulsoryWork> compulsory() const override;

 private:
  [[nodiscard]] ExpectedOutput product() const;

  SystemConfig config_;
  std::optional<std::string> pe_kind_;
  PePlacement pes_;
  std::uint64_t seed_;
  kernels::GemmArgs args_;
  std::optional<ExpectedOutput> reference_;  // when prepared
};

}  // namespace kernwave::platform
