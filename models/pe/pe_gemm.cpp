#include "models/pe/pe_gemm.h"

namespace kernwave {

PeGemm::PeGemm(const sc_core::sc_module_name& name, const PeConfig& config, PeScratch& scratch)
    : ComputeEngine(name, config.gemm.queue_depth),
      config_(config.gemm),
      scratch_config_(config.scratch),
      clock_(gemm_clock(config)),
      scratch_(scratch) {}

Picoseconds PeGemm::duration(const Descriptor& descriptor, Picoseconds start) {
  const bool follows = ran_before_ && start == last_end_;
  const Cycles cycles = gemm_cycles(config_, scratch_config_, descriptor.gemm(),
                                    follows ? GemmStart::back_to_back : GemmStart::after_idle);
  work_.add(start, now(), work_of(descriptor.gemm()));
  const Picoseconds taken = clock_(cycles);
  ran_before_ = true;
  last_end_ = start + taken;
  return taken;
}

GemmWork PeGemm::work_of(const GemmDescriptor& gemm) const {
  const GemmShape shape = shape_of(gemm);
  GemmWork work;
  work.multiply_accumulates = shape.m * shape.k * shape.n;
  GemmConfig ideal = config_;
  ideal.dataflow = GemmDataflow::ideal;
  work.ideal = clock_(dataflow_cycles(ideal, shape, gemm.a.dtype, GemmStart::back_to_back));
  work.dataflow = clock_(gemm_cycles(config_, scratch_config_, gemm, GemmStart::back_to_back));
  return work;
}

void PeGemm::execute(const Descriptor& descriptor) {
  if (scratch_.mode() == DataMode::none) return;
  const GemmDescriptor& gemm = descriptor.gemm();
  multiplier_.multiply(scratch_.tensor(gemm.a), scratch_.tensor(gemm.b), scratch_.tensor(gemm.out), gemm.accumulate);
}

}  // namespace kernwave
