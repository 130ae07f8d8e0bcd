// The results of products and vector operations, computed on scratch.
#pragma once

#include "models/numeric/math_evaluator.h"
#include "models/numeric/matrix_multiplier.h"
#include "models/pe/pe_scratch.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Computes what commands of the matrix and the vector engine say, in data mode `full`; in mode `none` nothing.
class EngineCalculator {
 public:
  explicit EngineCalculator(PeScratch& scratch) noexcept : scratch_(scratch) {}

  void execute(const GemmDescriptor& gemm);
  void execute(const MathDescriptor& math);

 private:
  PeScratch& scratch_;
  numeric::MatrixMultiplier multiplier_;
  numeric::MathEvaluator evaluator_;
};

}  // namespace kernwave
