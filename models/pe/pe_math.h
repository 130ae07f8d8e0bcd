// The vector engine of a PE.
#pragma once

#include "models/base/clock.h"
#include "models/pe/compute_engine.h"
#include "models/pe/engine_calculator.h"
#include "models/pe/math_timing.h"

namespace kernwave {

/// Elementwise operations and reductions, one command at a time; times by `math_cycles`, or by a given timing.
class PeMath : public ComputeEngine {
 public:
  PeMath(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch);

 private:
  [[nodiscard]] Picoseconds duration(const Descriptor& descriptor, ServiceStart start) override;
  void execute(const Descriptor& descriptor) override;

  MathConfig config_;
  Clock clock_;
  EngineCalculator calculator_;
};

}  // namespace kernwave
