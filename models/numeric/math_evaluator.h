// The evaluator of MATH operations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/numeric/tensor_bytes.h"

namespace kernwave::numeric {

/// Evaluates a MATH command on memory. Keeps its work space between calls.
///
/// Floats are computed in f32 and rounded once, into the output's type; a command whose tensors and numbers are all
/// integers or booleans is computed in integers. `maximum`, `minimum` and the reductions over them ignore a NaN unless
/// every operand is NaN (Triton's default). Sums run in ascending order of the index.
class MathEvaluator {
 public:
  void evaluate(const MathDescriptor& math, const TensorBytes& out, const std::array<TensorBytes, 3>& in);

 private:
  template <typename T>
  struct Rows {
    std::array<std::vector<T>, 3> in;
    std::vector<T> out;
  };

  template <typename T>
  void elementwise(const MathDescriptor& math, const TensorBytes& out, const std::array<TensorBytes, 3>& in,
                   Rows<T>& rows);
  template <typename T>
  void reduce(const MathDescriptor& math, const TensorBytes& out, const TensorBytes& in, Rows<T>& rows);

  Rows<float> floats_;
  Rows<std::int64_t> integers_;
};

}  // namespace kernwave::numeric
