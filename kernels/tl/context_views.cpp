// Views: another way to look at the same bytes.
#include <fmt/format.h>

#include "kernels/tl/context.h"

namespace kernwave::tl {

Tensor Context::trans(const Tensor& x, SourceLocation where) const {
  check_alive("trans", x, where);
  require(x.shape().rank() == 2, "trans", where, "needs a tensor of 2 dimensions", x);
  return Tensor(x.context(), x.buffer_, x.address_, {x.shape()[1], x.shape()[0]}, {x.strides_[1], x.strides_[0]},
                x.dtype_);
}

Tensor Context::broadcast_to(const Tensor& x, const Shape& shape, SourceLocation where) const {
  return broadcast("broadcast_to", x, shape, where);
}

Tensor Context::broadcast(const char* operation, const Tensor& x, const Shape& shape, SourceLocation where) const {
  check_alive(operation, x, where);
  check_shape(operation, shape, where);
  const Shape& from = x.shape();
  const int added = shape.rank() - from.rank();
  std::array<std::int64_t, 2> strides{0, 0};
  bool possible = added >= 0;
  for (int axis = 0; possible && axis < from.rank(); ++axis) {
    const int onto = axis + added;
    const bool stretched = from[axis] == 1 && shape[onto] != 1;
    possible = stretched || from[axis] == shape[onto];
    strides[static_cast<std::size_t>(onto)] = stretched ? 0 : x.stride(axis);
  }
  if (!possible) {
    fail(operation, where, fmt::format("shape {} does not broadcast to {}", to_string(from), to_string(shape)));
  }
  return Tensor(x.context(), x.buffer_, x.address_, shape, strides, x.dtype_);
}

Tensor Context::expand_dims(const Tensor& x, int axis, SourceLocation where) const {
  constexpr const char* operation = "expand_dims";
  check_alive(operation, x, where);
  require(x.shape().rank() == 1, operation, where, "needs a tensor of 1 dimension", x);
  require(axis == 0 || axis == 1, operation, where, "the axis must be 0 or 1", x);
  const std::int64_t n = x.shape()[0];
  const std::int64_t stride = x.stride(0);
  return axis == 0 ? Tensor(x.context(), x.buffer_, x.address_, {1, n}, {0, stride}, x.dtype_)
                   : Tensor(x.context(), x.buffer_, x.address_, {n, 1}, {stride, 0}, x.dtype_);
}

Tensor Context::reshape(const Tensor& x, const Shape& shape, SourceLocation where) const {
  constexpr const char* operation = "reshape";
  check_alive(operation, x, where);
  check_shape(operation, shape, where);
  require(x.contiguous(), operation, where, "needs a dense tensor; copy the view first", x);
  if (shape.elements() != x.shape().elements()) {
    fail(operation, where,
         fmt::format("{} has {} elements, {} has {}", to_string(x.shape()), x.shape().elements(), to_string(shape),
                     shape.elements()));
  }
  return Tensor(x.context(), x.buffer_, x.address_, shape, {shape.rank() == 1 ? 1 : shape[1], 1}, x.dtype_);
}

Tensor Context::slice(const Tensor& x, std::int64_t begin, std::int64_t end, SourceLocation where) const {
  constexpr const char* operation = "slice";
  check_alive(operation, x, where);
  if (begin < 0 || begin >= end || end > x.shape()[0]) {
    fail(operation, where, fmt::format("{} to {} does not lie inside {}", begin, end, to_string(x.shape())));
  }
  const ScratchAddress address(x.address_.count() + begin * x.strides_[0] * size_of(x.dtype_));
  const Shape shape = x.shape().rank() == 1 ? Shape{end - begin} : Shape{end - begin, x.shape()[1]};
  return Tensor(x.context(), x.buffer_, address, shape, x.strides_, x.dtype_);
}

}  // namespace kernwave::tl
