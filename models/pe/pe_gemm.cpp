#include "models/pe/pe_gemm.h"

namespace kernwave {

PeGemm::PeGemm(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch)
    : ComputeEngine(name, config.gemm.queue_depth),
      config_(config.gemm),
      ideal_(config.gemm),
      scratch_config_(config.scratch),
      clock_(gemm_clock(config)),
      calculator_(scratch) {
  ideal_.dataflow = GemmDataflow::ideal;
}

Picoseconds PeGemm::duration(const Descriptor& descriptor, ServiceStart start) {
  const ServiceTime time = service_time(descriptor, start);
  work_.add(start.at, now(), work_of(descriptor.gemm(), time.least));
  return time.taken;
}

ServiceTime PeGemm::service_time(const Descriptor& descriptor, ServiceStart start) const {
  if (config_.timing) return given_time(config_.timing, descriptor, start);
  const auto cycles = [this, &descriptor](GemmStart how) {
    return clock_(gemm_cycles(config_, scratch_config_, descriptor.gemm(), how));
  };
  const Picoseconds least = cycles(GemmStart::back_to_back);
  return {start.back_to_back ? least : cycles(GemmStart::after_idle), least};
}

GemmWork PeGemm::work_of(const GemmDescriptor& gemm, Picoseconds least) const {
  const GemmShape shape = shape_of(gemm);
  GemmWork work;
  work.multiply_accumulates = shape.m * shape.k * shape.n;
  work.dataflow = least;
  work.ideal = config_.timing ? least : clock_(dataflow_cycles(ideal_, shape, gemm.a.dtype, GemmStart::back_to_back));
  return work;
}

void PeGemm::execute(const Descriptor& descriptor) { calculator_.execute(descriptor.gemm()); }

}  // namespace kernwave
