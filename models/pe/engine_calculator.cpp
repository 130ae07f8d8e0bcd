#include "models/pe/engine_calculator.h"

#include <array>

namespace kernwave {

void EngineCalculator::execute(const GemmDescriptor& gemm) {
  if (scratch_.mode() == DataMode::none) return;
  multiplier_.multiply(scratch_.tensor(gemm.a), scratch_.tensor(gemm.b), scratch_.tensor(gemm.out), gemm.accumulate);
}

void EngineCalculator::execute(const MathDescriptor& math) {
  if (scratch_.mode() == DataMode::none) return;
  std::array<numeric::TensorBytes, 3> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < math.inputs && !math.in[i].is_immediate) inputs[i] = scratch_.tensor(math.in[i].tensor);
  }
  evaluator_.evaluate(math, scratch_.tensor(math.out), inputs);
}

}  // namespace kernwave
