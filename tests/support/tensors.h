// Tensors as plain values, and kernels as functions of them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "kernels/tl/context.h"
#include "kernels/tl/policy.h"
#include "models/base/address.h"
#include "models/base/dtype.h"
#include "tests/support/simulation.h"

namespace kernwave::testing {

/// Shape, type and elements in row-major order. A double holds every value of every type exactly.
struct Values {
  tl::Shape shape;
  DType dtype = DType::f32;
  std::vector<double> elements;

  [[nodiscard]] double at(std::int64_t row, std::int64_t col) const {
    return elements.at(static_cast<std::size_t>(row * shape.cols() + col));
  }
};

/// Equal bit for bit, but for the payload of a NaN: 0 and -0 differ, NaN equals NaN.
[[nodiscard]] bool operator==(const Values& a, const Values& b);
std::ostream& operator<<(std::ostream& out, const Values& values);

[[nodiscard]] Values vector_of(DType dtype, const std::vector<double>& elements);
/// Rows of equal length.
[[nodiscard]] Values matrix_of(DType dtype, const std::vector<std::vector<double>>& rows);
/// Every element from its row and column (row 0 of a vector).
[[nodiscard]] Values tabulate(const tl::Shape& shape, DType dtype,
                              const std::function<double(std::int64_t row, std::int64_t col)>& element);
/// Multiples of 1/8 in [-2, 2], exact in every float type; an arbitrary but fixed sequence for each seed.
[[nodiscard]] Values eighths(const tl::Shape& shape, DType dtype, std::uint32_t seed);

/// The reference for rounding: the value of `dtype` that is nearest to `value`, ties to even, by float64 arithmetic.
[[nodiscard]] double nearest(DType dtype, double value);

/// Time-free access to HBM, dense.
void put(Simulation& simulation, HbmAddress address, const Values& values);
[[nodiscard]] Values get(Simulation& simulation, HbmAddress address, const tl::Shape& shape, DType dtype);

/// What a kernel makes of its inputs.
using Computation = std::function<tl::Tensor(tl::Context&, const std::vector<tl::Tensor>&)>;

/// Loads the inputs, runs the computation, stores its result and reads it back; in a process of its own.
[[nodiscard]] Values compute(const std::vector<Values>& inputs, const Computation& computation,
                             tl::Policy policy = tl::Policy::lazy);

}  // namespace kernwave::testing
