#include "models/pe/pe_math.h"

namespace kernwave {

PeMath::PeMath(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch)
    : ComputeEngine(name, config.math.queue_depth),
      config_(config.math),
      clock_(math_clock(config)),
      calculator_(scratch) {}

Picoseconds PeMath::duration(const Descriptor& descriptor, ServiceStart start) {
  if (config_.timing) return given_time(config_.timing, descriptor, start).taken;
  return clock_(math_cycles(config_, descriptor.math()));
}

void PeMath::execute(const Descriptor& descriptor) { calculator_.execute(descriptor.math()); }

}  // namespace kernwave
