// The matrix engine of a PE.
#pragma once

#include "models/base/clock.h"
#include "models/pe/compute_engine.h"
#include "models/pe/engine_calculator.h"
#include "models/pe/gemm_timing.h"

namespace kernwave {

/// The least time that the products of a run need.
struct GemmWork {
  std::int64_t multiply_accumulates = 0;
  Picoseconds ideal;     ///< with every multiply-accumulator busy in every cycle
  Picoseconds dataflow;  ///< under the configured dataflow and scratch bandwidth, all commands back to back
                         ///< With a timing that is given, both are the least that it gives.

  GemmWork& operator+=(const GemmWork& other) {
    multiply_accumulates += other.multiply_accumulates;
    ideal += other.ideal;
    dataflow += other.dataflow;
    return *this;
  }
};

/// Products out = a . b (+ out), one at a time; times by `gemm_cycles`, or those that are given. Products and sums are
/// computed in f32, over k in ascending order from the accumulator's value (or 0): the result is a function of the
/// operands alone.
class PeGemm : public ComputeEngine {
 public:
  PeGemm(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch);

  /// The least time of the products that have begun.
  [[nodiscard]] GemmWork work() const { return work_.at(now()); }

 private:
  [[nodiscard]] Picoseconds duration(const Descriptor& descriptor, ServiceStart start) override;
  void execute(const Descriptor& descriptor) override;
  [[nodiscard]] ServiceTime service_time(const Descriptor& descriptor, ServiceStart start) const;
  [[nodiscard]] GemmWork work_of(const GemmDescriptor& gemm, Picoseconds least) const;

  GemmConfig config_;
  GemmConfig ideal_;  // the same without what the dataflow costs
  ScratchConfig scratch_config_;
  Clock clock_;
  EngineCalculator calculator_;
  AheadAccount<GemmWork> work_;
};

}  // namespace kernwave
