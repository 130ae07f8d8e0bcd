// The matrix engine of a PE.
#pragma once

#include "models/base/clock.h"
#include "models/numeric/matrix_multiplier.h"
#include "models/pe/compute_engine.h"
#include "models/pe/gemm_timing.h"
#include "models/pe/pe_scratch.h"

namespace kernwave {

/// Products out = a . b (+ out), one at a time; times by `gemm_cycles`. Products and sums are taken in f32, over k in
/// ascending order from the accumulator's value (or 0): the result is a function of the operands alone.
class PeGemm : public ComputeEngine {
 public:
  PeGemm(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch);

 private:
  [[nodiscard]] Picoseconds duration(const Descriptor& descriptor, Picoseconds start) override;
  void execute(const Descriptor& descriptor) override;

  GemmConfig config_;
  ScratchConfig scratch_config_;
  Clock clock_;
  PeScratch& scratch_;
  numeric::MatrixMultiplier multiplier_;
  bool ran_before_ = false;
  Picoseconds last_end_;
};

}  // namespace kernwave
