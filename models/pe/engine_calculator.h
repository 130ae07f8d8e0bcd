// The results of products and vector operations, computed on scratch.
#pragma once

#include "models/numeric/math_evaluator.h"
#include "models/numeric/matrix_multiplier.h"
#include "models/pe/pe_scratch.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Computes the results of commands of the matrix and the vector engine in data mode `full`; does nothing in mode
/// `none`.
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
