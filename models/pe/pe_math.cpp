#include "models/pe/pe_math.h"

namespace kernwave {

PeMath::PeMath(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch)
    : ComputeEngine(name, config.math.queue_depth),
      config_(config.math),
      clock_(math_clock(config)),
      scratch_(scratch) {}

Picoseconds PeMath::duration(const Descriptor& descriptor, ServiceStart start) {
  if (config_.timing) return given_time(config_.timing, descriptor, start).taken;
  return clock_(math_cycles(config_, descriptor.math()));
}

void PeMath::execute(const Descriptor& descriptor) {
  if (scratch_.mode() == DataMode::none) return;
  const MathDescriptor& math = descriptor.math();
  std::array<numeric::TensorBytes, 3> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < math.inputs && !math.in[i].is_immediate) inputs[i] = scratch_.tensor(math.in[i].tensor);
  }
  evaluator_.evaluate(math, scratch_.tensor(math.out), inputs);
}

}  // namespace kernwave
