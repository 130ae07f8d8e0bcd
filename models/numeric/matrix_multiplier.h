// Matrix products whose every bit is defined: f32, k ascending, no contraction, no blocking of the sum.
#pragma once

#include <vector>

#include "models/numeric/tensor_bytes.h"

namespace kernwave::numeric {

/// Keeps its work space between calls.
///
/// Our own loops rather than a matrix library: a library's order of summation follows vector width and cache sizes of
/// the host, and a result here may depend on the operands alone (docs/architecture.md, "Numbers").
class MatrixMultiplier {
 public:
  /// out = a . b, or out = out + a . b: each element is the chain ((c + a0 b0) + a1 b1) + ... in f32, rounded to the
  /// type of `out` at the end. Shapes: a M x K, b K x N, out M x N.
  void multiply(const TensorBytes& a, const TensorBytes& b, const TensorBytes& out, bool accumulate);

 private:
  std::vector<float> a_;      // row by row
  std::vector<float> b_;      // in panels of a few columns
  std::vector<float> out_;    // row by row, as wide as all panels
  std::vector<float> lines_;  // on their way into panels
};

}  // namespace kernwave::numeric
