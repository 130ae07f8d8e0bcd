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

[[nodiscard]] bool is_boolean(const Operand& x) noexcept {
  return x.is_tensor() && x.tensor().dtype() == DType::boolean;
}

/// Of numbers: a fraction.
[[nodiscard]] bool is_of_float(const Operand& x) noexcept {
  return x.is_tensor() ? is_float(x.tensor().dtype()) : !x.is_integral_number();
}

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
  issue_elementwise<1>(MathOp::copy, {&source}, tensor.dtype(), Out(persistent));
}

// ---- elementwise

/// All elementwise operations pass here: broadcast, hazards, issue.
template <std::size_t count>
Tensor Context::issue_elementwise(MathOp op, const std::array<const Operand*, count>& operands, DType result_type,
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
  math.inputs = static_cast<std::uint8_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
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
  for (std::size_t i = 0; i < count; ++i) {
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

template Tensor Context::issue_elementwise<1>(MathOp, const std::array<const Operand*, 1>&, DType, const Out&);
template Tensor Context::issue_elementwise<2>(MathOp, const std::array<const Operand*, 2>&, DType, const Out&);
template Tensor Context::issue_elementwise<3>(MathOp, const std::array<const Operand*, 3>&, DType, const Out&);

DType Context::promote(MathOp op, const Operand* const* operands, std::size_t count) const {
  bool any = false;
  bool fraction = false;
  DType type = DType::int32;
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& operand = *operands[i];
    if (operand.is_tensor()) {
      type = any ? wider(type, operand.tensor().dtype()) : operand.tensor().dtype();
      any = true;
    } else {
      fraction = fraction || !operand.is_integral_number();
    }
  }
  require(any, text(op), operands[0]->where(), "needs at least one tensor");
  if (is_float(type)) return type;
  return fraction ? DType::f32 : type;
}

DType Context::chosen_type(MathOp op, const Operand* const* operands) const {
  const Operand& condition = *operands[0];
  require(is_boolean(condition), text(op), condition.where(), "the condition must be a tensor of booleans", condition);
  const Operand& x = *operands[1];
  const Operand& y = *operands[2];
  if (x.is_tensor() || y.is_tensor()) return promote(op, operands + 1, 2);
  return x.is_integral_number() && y.is_integral_number() ? DType::int32 : DType::f32;
}

DType Context::result_type(MathOp op, const Operand* const* operands, std::size_t count) const {
  const SourceLocation where = operands[0]->where();
  /// Names the first operand that is not accepted.
  const auto require_of_each = [&](const auto& accepts, const char* message) {
    for (std::size_t i = 0; i < count; ++i) require(accepts(*operands[i]), text(op), where, message, *operands[i]);
  };
  const MathTypes types = math_operation(op).types;
  switch (types) {
    case MathTypes::numbers:
    case MathTypes::quotient: {
      const DType type = promote(op, operands, count);
      require(type != DType::boolean, text(op), where, "is not defined for booleans; convert them with .to()",
              *operands[0]);
      return types == MathTypes::quotient && type == DType::int32 ? DType::f32 : type;
    }
    case MathTypes::integers: {
      const DType type = promote(op, operands, count);
      require_of_each([](const Operand& x) { return !is_of_float(x); }, "needs integers");
      require(type == DType::int32, text(op), where, "needs integers", *operands[0]);
      return type;
    }
    case MathTypes::floats:
      require_of_each([count](const Operand& x) { return x.is_tensor() ? is_of_float(x) : count > 1; },
                      "needs a tensor of a float type");
      return promote(op, operands, count);
    case MathTypes::booleans:
      require_of_each(is_boolean, "needs booleans; compare first");
      return DType::boolean;
    case MathTypes::compared:
      return DType::boolean;
    case MathTypes::chosen:
      return chosen_type(op, operands);
    case MathTypes::given:
    case MathTypes::kept:
    case MathTypes::counted:
      break;  // decided where they are issued
  }
  fail(text(op), where, "is none of the elementwise operations whose operands give their result's type");
}

// ---- reductions

Tensor Context::issue_reduction(MathOp op, const Operand& x, int axis, bool keep_dims, const Out& out) {
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
  const bool counts = tensor.dtype() == DType::boolean && math_operation(op).types == MathTypes::counted;

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
