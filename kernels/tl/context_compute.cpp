// Products, elementwise operations and reductions.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/tl/context.h"

namespace kernwave::tl {

namespace {

[[nodiscard]] DType wider(DType a, DType b) noexcept {
  if (a == b) return a;
  if (is_float(a) && is_float(b)) return DType::f32;  // f16 with bf16 too: neither holds the other
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return DType::int32;
}

[[nodiscard]] bool same_view(const ScratchOperand& a, const ScratchOperand& b) noexcept {
  return a.address == b.address && a.rows == b.rows && a.cols == b.cols && a.row_stride == b.row_stride &&
         a.col_stride == b.col_stride && a.dtype == b.dtype;
}

[[nodiscard]] const char* text(MathOp op) noexcept { return name_of(op).data(); }

}  // namespace

Tensor Context::result(const char* operation, const Shape& shape, DType dtype, const Out& out, SourceLocation where) {
  if (!out.tensor()) return allocate(operation, shape, dtype, where);
  const Tensor& target = *out.tensor();
  check_alive(operation, target, where);
  if (target.shape() != shape || target.dtype() != dtype) {
    fail(operation, where,
         fmt::format("out= is {} {}, the result {} {}", to_string(target.shape()), name_of(target.dtype()),
                     to_string(shape), name_of(dtype)));
  }
  for (int axis = 0; axis < shape.rank(); ++axis) {
    require(shape[axis] == 1 || target.stride(axis) != 0, operation, where, "out= must not be a broadcast view",
            target);
  }
  await_overwrite(target);
  return target;
}

// ---- products

void Context::check_dot(const Tensor& a, const Tensor& b, SourceLocation where) const {
  constexpr const char* operation = "dot";
  check_alive(operation, a, where);
  check_alive(operation, b, where);
  check_product(operation, a.shape(), a.dtype(), b.shape(), b.dtype(), where);
}

void Context::check_product(const char* operation, const Shape& a, DType type_of_a, const Shape& b, DType type_of_b,
                            SourceLocation where) const {
  if (a.rank() != 2 || b.rank() != 2 || a[1] != b[0]) {
    fail(operation, where, fmt::format("multiplies M x K by K x N, not {} by {}", to_string(a), to_string(b)));
  }
  if (!is_float(type_of_a) || type_of_a != type_of_b) {
    fail(operation, where,
         fmt::format("multiplies two tensors of one float type, not {} by {}; convert one with .to()",
                     name_of(type_of_a), name_of(type_of_b)));
  }
}

Tensor Context::issue_dot(const Tensor& a, const Tensor& b, const Tensor& target, bool accumulate,
                          SourceLocation where) {
  require(!(target.buffer_ == a.buffer_) && !(target.buffer_ == b.buffer_), "dot", where,
          "the result must not share a buffer with a factor", target);
  Descriptor descriptor;
  descriptor.engine = Engine::gemm;
  descriptor.work = GemmDescriptor{a.operand(), b.operand(), target.operand(), accumulate};
  const Completion completion = issue(OperationKind::dot, descriptor, where);
  note_reader(a, completion);
  note_reader(b, completion);
  note_writer(target, completion, TimeCause::compute);
  return target;
}

Tensor Context::dot(const Tensor& a, const Tensor& b, const Out& out, SourceLocation where) {
  check_dot(a, b, where);
  await_writer(a);
  await_writer(b);
  const Tensor target = result("dot", {a.shape()[0], b.shape()[1]}, DType::f32, out, where);
  return issue_dot(a, b, target, false, where);
}

Tensor Context::dot(const Tensor& a, const Tensor& b, const Tensor& acc, SourceLocation where) {
  check_dot(a, b, where);
  check_alive("dot", acc, where);
  await_writer(a);
  await_writer(b);
  await_writer(acc);
  const Tensor target = result("dot", {a.shape()[0], b.shape()[1]}, DType::f32, Out(acc), where);
  return issue_dot(a, b, target, true, where);
}

// ---- making tensors

Tensor Context::fill_with(MathOp op, const Tensor& tensor, double value, SourceLocation where) {
  Descriptor descriptor;
  descriptor.engine = Engine::math;
  auto& math = descriptor.work.emplace<MathDescriptor>();
  math.op = op;
  math.inputs = 1;
  math.in[0].is_immediate = true;
  math.in[0].immediate = value;
  math.out = tensor.operand();
  const Completion completion = issue(OperationKind::math, descriptor, where);
  note_writer(tensor, completion, TimeCause::compute);
  return tensor;
}

Tensor Context::full(const Shape& shape, double value, DType dtype, SourceLocation where) {
  return fill_with(MathOp::fill, allocate("full", shape, dtype, where), value, where);
}

Tensor Context::zeros(const Shape& shape, DType dtype, SourceLocation where) {
  return fill_with(MathOp::fill, allocate("zeros", shape, dtype, where), 0.0, where);
}

Tensor Context::fill(const Tensor& tensor, double value, SourceLocation where) {
  check_alive("fill", tensor, where);
  return fill_with(MathOp::fill, result("fill", tensor.shape(), tensor.dtype(), Out(tensor), where), value, where);
}

Tensor Context::arange(std::int64_t begin, std::int64_t end, SourceLocation where) {
  if (begin >= end) {
    fail("arange", where, fmt::format("the end, {}, must be greater than the beginning, {}", end, begin));
  }
  constexpr std::int64_t beyond = std::int64_t{1} << 31;
  if (begin < -beyond || end > beyond) {
    fail("arange", where, fmt::format("int32 does not hold all of {} to {}", begin, end - 1));
  }
  const Tensor tensor = allocate("arange", {end - begin}, DType::int32, where);
  return fill_with(MathOp::arange, tensor, static_cast<double>(begin), where);
}

void Context::copy_to(const Tensor& persistent, const Tensor& tensor, SourceLocation where) {
  const Operand source(tensor, where);
  elementwise<1>(MathOp::copy, {&source}, tensor.dtype(), Out(persistent));
}

Tensor Context::cast(const Operand& x, DType dtype, const Out& out) {
  return elementwise<1>(MathOp::cast, {&x}, dtype, out);
}

// ---- elementwise

/// All elementwise operations pass here: broadcast, hazards, issue.
template <std::size_t Count>
Tensor Context::elementwise(MathOp op, const std::array<const Operand*, Count>& operands, DType result_type,
                            const Out& out) {
  const char* operation = text(op);
  const SourceLocation where = operands[0]->where();
  int rank = 0;
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    check_alive(operation, operand->tensor(), where);
    rank = std::max(rank, operand->tensor().shape().rank());
  }
  require(rank > 0, operation, where, "needs at least one tensor");

  std::array<std::int64_t, 2> extents{1, 1};
  for (const Operand* operand : operands) {
    if (!operand->is_tensor()) continue;
    const Shape& shape = operand->tensor().shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      std::int64_t& extent = extents[static_cast<std::size_t>(axis + rank - shape.rank())];
      if (extent == 1) extent = shape[axis];
    }
  }
  const Shape shape = rank == 1 ? Shape{extents[0]} : Shape{extents[0], extents[1]};

  Descriptor descriptor;
  descriptor.engine = Engine::math;
  auto& math = descriptor.work.emplace<MathDescriptor>();
  math.op = op;
  math.inputs = static_cast<std::uint8_t>(Count);
  for (std::size_t i = 0; i < Count; ++i) {
    if (!operands[i]->is_tensor()) {
      math.in[i].is_immediate = true;
      math.in[i].immediate = operands[i]->number();
      continue;
    }
    const Tensor& tensor = operands[i]->tensor();
    math.in[i].tensor =
        tensor.shape() == shape ? tensor.operand() : broadcast(operation, tensor, shape, where).operand();
    await_writer(tensor);
  }
  const Tensor target = result(operation, shape, result_type, out, where);
  math.out = target.operand();
  for (std::size_t i = 0; i < Count; ++i) {
    const bool shares = operands[i]->is_tensor() && operands[i]->tensor().buffer_ == target.buffer_;
    require(!shares || same_view(math.in[i].tensor, math.out), operation, where,
            "out= and an operand share a buffer through different views", target);
  }
  const Completion completion = issue(OperationKind::math, descriptor, where);
  if (!complete(completion)) {
    for (const Operand* operand : operands) {
      if (operand->is_tensor()) note_reader(operand->tensor(), completion);
    }
  }
  note_writer(target, completion, TimeCause::compute);
  return target;
}

DType Context::promote(MathOp op, std::initializer_list<const Operand*> operands) const {
  bool any = false;
  bool fraction = false;
  DType type = DType::int32;
  for (const Operand* operand : operands) {
    if (operand->is_tensor()) {
      type = any ? wider(type, operand->tensor().dtype()) : operand->tensor().dtype();
      any = true;
    } else {
      fraction = fraction || !operand->is_integral_number();
    }
  }
  require(any, text(op), (*operands.begin())->where(), "needs at least one tensor");
  if (is_float(type)) return type;
  return fraction ? DType::f32 : type;
}

DType Context::promote_numbers(MathOp op, std::initializer_list<const Operand*> operands) const {
  const DType type = promote(op, operands);
  const Operand& first = **operands.begin();
  require(type != DType::boolean, text(op), first.where(), "is not defined for booleans; convert them with .to()",
          first);
  return type;
}

Tensor Context::unary(MathOp op, const Operand& x, const Out& out) {
  return elementwise<1>(op, {&x}, promote_numbers(op, {&x}), out);
}

Tensor Context::float_unary(MathOp op, const Operand& x, const Out& out) {
  require(x.is_tensor() && is_float(x.tensor().dtype()), text(op), x.where(), "needs a tensor of a float type", x);
  return unary(op, x, out);
}

Tensor Context::binary(MathOp op, const Operand& a, const Operand& b, const Out& out) {
  const DType type = promote_numbers(op, {&a, &b});
  const bool quotient_of_integers = op == MathOp::div && type == DType::int32;
  return elementwise<2>(op, {&a, &b}, quotient_of_integers ? DType::f32 : type, out);
}

Tensor Context::comparison(MathOp op, const Operand& a, const Operand& b, const Out& out) {
  return elementwise<2>(op, {&a, &b}, DType::boolean, out);
}

Tensor Context::logical(MathOp op, const Operand& a, const Operand& b, const Out& out) {
  for (const Operand* operand : {&a, &b}) {
    require(operand->is_tensor() && operand->tensor().dtype() == DType::boolean, text(op), a.where(),
            "needs booleans; compare first", *operand);
  }
  return elementwise<2>(op, {&a, &b}, DType::boolean, out);
}

Tensor Context::add(const Operand& a, const Operand& b, const Out& out) { return binary(MathOp::add, a, b, out); }
Tensor Context::sub(const Operand& a, const Operand& b, const Out& out) { return binary(MathOp::sub, a, b, out); }
Tensor Context::mul(const Operand& a, const Operand& b, const Out& out) { return binary(MathOp::mul, a, b, out); }
Tensor Context::div(const Operand& a, const Operand& b, const Out& out) { return binary(MathOp::div, a, b, out); }
Tensor Context::floor_div(const Operand& a, const Operand& b, const Out& out) {
  const Operand& suspect = a.is_tensor() && !is_float(a.tensor().dtype()) ? b : a;
  require(promote(MathOp::floor_div, {&a, &b}) == DType::int32, "floor_div", a.where(), "needs integers", suspect);
  return binary(MathOp::floor_div, a, b, out);
}
Tensor Context::maximum(const Operand& a, const Operand& b, const Out& out) {
  return binary(MathOp::maximum, a, b, out);
}
Tensor Context::minimum(const Operand& a, const Operand& b, const Out& out) {
  return binary(MathOp::minimum, a, b, out);
}

Tensor Context::fma(const Operand& a, const Operand& b, const Operand& c, const Out& out) {
  return elementwise<3>(MathOp::fma, {&a, &b, &c}, promote_numbers(MathOp::fma, {&a, &b, &c}), out);
}

Tensor Context::neg(const Operand& x, const Out& out) { return unary(MathOp::neg, x, out); }
Tensor Context::abs(const Operand& x, const Out& out) { return unary(MathOp::abs, x, out); }
Tensor Context::exp(const Operand& x, const Out& out) { return float_unary(MathOp::exp, x, out); }
Tensor Context::exp2(const Operand& x, const Out& out) { return float_unary(MathOp::exp2, x, out); }
Tensor Context::log(const Operand& x, const Out& out) { return float_unary(MathOp::log, x, out); }
Tensor Context::log2(const Operand& x, const Out& out) { return float_unary(MathOp::log2, x, out); }
Tensor Context::sqrt(const Operand& x, const Out& out) { return float_unary(MathOp::sqrt, x, out); }
Tensor Context::rsqrt(const Operand& x, const Out& out) { return float_unary(MathOp::rsqrt, x, out); }

Tensor Context::less(const Operand& a, const Operand& b, const Out& out) { return comparison(MathOp::less, a, b, out); }
Tensor Context::less_equal(const Operand& a, const Operand& b, const Out& out) {
  return comparison(MathOp::less_equal, a, b, out);
}
Tensor Context::greater(const Operand& a, const Operand& b, const Out& out) {
  return comparison(MathOp::greater, a, b, out);
}
Tensor Context::greater_equal(const Operand& a, const Operand& b, const Out& out) {
  return comparison(MathOp::greater_equal, a, b, out);
}
Tensor Context::equal(const Operand& a, const Operand& b, const Out& out) {
  return comparison(MathOp::equal, a, b, out);
}
Tensor Context::not_equal(const Operand& a, const Operand& b, const Out& out) {
  return comparison(MathOp::not_equal, a, b, out);
}
Tensor Context::logical_and(const Operand& a, const Operand& b, const Out& out) {
  return logical(MathOp::logical_and, a, b, out);
}
Tensor Context::logical_or(const Operand& a, const Operand& b, const Out& out) {
  return logical(MathOp::logical_or, a, b, out);
}
Tensor Context::logical_not(const Operand& x, const Out& out) {
  require(x.is_tensor() && x.tensor().dtype() == DType::boolean, "logical_not", x.where(),
          "needs booleans; compare first", x);
  return elementwise<1>(MathOp::logical_not, {&x}, DType::boolean, out);
}

Tensor Context::where(const Operand& condition, const Operand& x, const Operand& y, const Out& out) {
  require(condition.is_tensor() && condition.tensor().dtype() == DType::boolean, "where", condition.where(),
          "the condition must be a tensor of booleans", condition);
  DType type = DType::f32;
  if (x.is_tensor() || y.is_tensor()) {
    type = promote(MathOp::where, {&x, &y});
  } else if (x.is_integral_number() && y.is_integral_number()) {
    type = DType::int32;
  }
  return elementwise<3>(MathOp::where, {&condition, &x, &y}, type, out);
}

// ---- reductions

Tensor Context::reduce(MathOp op, const Operand& x, int axis, bool keep_dims, const Out& out) {
  const char* operation = text(op);
  const SourceLocation where = x.where();
  require(x.is_tensor(), operation, where, "needs a tensor", x);
  const Tensor& tensor = x.tensor();
  check_alive(operation, tensor, where);
  const int rank = tensor.shape().rank();
  require(axis >= 0 && axis < rank, operation, where, "the axis lies outside the tensor's dimensions", tensor);

  Shape shape{1};
  if (rank == 2 && keep_dims) shape = axis == 0 ? Shape{1, tensor.shape()[1]} : Shape{tensor.shape()[0], 1};
  if (rank == 2 && !keep_dims) shape = Shape{tensor.shape()[1 - axis]};
  const bool counts = tensor.dtype() == DType::boolean && op == MathOp::reduce_sum;

  await_writer(tensor);
  const Tensor target = result(operation, shape, counts ? DType::int32 : tensor.dtype(), out, where);
  require(!(target.buffer_ == tensor.buffer_), operation, where, "out= must not share a buffer with the operand",
          target);
  Descriptor descriptor;
  descriptor.engine = Engine::math;
  auto& math = descriptor.work.emplace<MathDescriptor>();
  math.op = op;
  math.inputs = 1;
  math.axis = static_cast<std::uint8_t>(rank == 1 ? 1 : axis);  // the hardware sees a vector as one row
  math.in[0].tensor = tensor.operand();
  math.out = target.operand();
  const Completion completion = issue(OperationKind::math, descriptor, where);
  note_reader(tensor, completion);
  note_writer(target, completion, TimeCause::compute);
  return target;
}

Tensor Context::sum(const Operand& x, int axis, bool keep_dims, const Out& out) {
  return reduce(MathOp::reduce_sum, x, axis, keep_dims, out);
}
Tensor Context::max(const Operand& x, int axis, bool keep_dims, const Out& out) {
  return reduce(MathOp::reduce_max, x, axis, keep_dims, out);
}
Tensor Context::min(const Operand& x, int axis, bool keep_dims, const Out& out) {
  return reduce(MathOp::reduce_min, x, axis, keep_dims, out);
}

// ---- operators

namespace {

/// The context of whichever side is a tensor; C++ calls these operators only where one is.
[[nodiscard]] Context& context_of(const Operand& a, const Operand& b) {
  return a.is_tensor() ? a.tensor().context() : b.tensor().context();
}

}  // namespace

Tensor operator+(const Operand& a, const Operand& b) { return context_of(a, b).add(a, b); }
Tensor operator-(const Operand& a, const Operand& b) { return context_of(a, b).sub(a, b); }
Tensor operator*(const Operand& a, const Operand& b) { return context_of(a, b).mul(a, b); }
Tensor operator/(const Operand& a, const Operand& b) { return context_of(a, b).div(a, b); }
Tensor operator-(const Operand& x) { return x.tensor().context().neg(x); }
Tensor operator<(const Operand& a, const Operand& b) { return context_of(a, b).less(a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return context_of(a, b).less_equal(a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return context_of(a, b).greater(a, b); }
Tensor operator>=(const Operand& a, const Operand& b) { return context_of(a, b).greater_equal(a, b); }
Tensor operator==(const Operand& a, const Operand& b) { return context_of(a, b).equal(a, b); }
Tensor operator!=(const Operand& a, const Operand& b) { return context_of(a, b).not_equal(a, b); }
Tensor operator&(const Operand& a, const Operand& b) { return context_of(a, b).logical_and(a, b); }
Tensor operator|(const Operand& a, const Operand& b) { return context_of(a, b).logical_or(a, b); }
Tensor operator~(const Operand& x) { return x.tensor().context().logical_not(x); }

}  // namespace kernwave::tl
