// The rules of steps that compute.
#include <algorithm>
#include <cmath>

#include "tests/property/program_state.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] bool same_elements(const View& a, const View& b) {
  return a.buffer == b.buffer && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
}

[[nodiscard]] std::size_t operands_of(MathOp op) {
  switch (op) {
    case MathOp::fma:
    case MathOp::where:
      return 3;
    case MathOp::add:
    case MathOp::sub:
    case MathOp::mul:
    case MathOp::maximum:
    case MathOp::minimum:
    case MathOp::less:
    case MathOp::logical_and:
      return 2;
    default:
      return 1;
  }
}

/// No result is larger, where no operand is larger than its bound.
[[nodiscard]] double bound_of_math(MathOp op, const std::vector<double>& of) {
  switch (op) {
    case MathOp::add:
    case MathOp::sub:
      return of[0] + of[1];
    case MathOp::mul:
      return of[0] * of[1];
    case MathOp::fma:
      return of[0] * of[1] + of[2];
    case MathOp::exp2:
      return std::exp2(of[0]);
    case MathOp::where:
      return std::max(of[1], of[2]);
    default:
      return *std::max_element(of.begin(), of.end());
  }
}

[[nodiscard]] tl::Shape common_shape(const std::vector<const View*>& tensors) {
  int rank = 0;
  for (const View* tensor : tensors) rank = std::max(rank, tensor->shape.rank());
  std::array<std::int64_t, 2> extents{1, 1};
  for (const View* tensor : tensors) {
    for (int axis = 0; axis < tensor->shape.rank(); ++axis) {
      std::int64_t& extent = extents.at(static_cast<std::size_t>(axis + rank - tensor->shape.rank()));
      if (extent == 1) extent = tensor->shape[axis];
    }
  }
  return rank == 1 ? tl::Shape{extents[0]} : tl::Shape{extents[0], extents[1]};
}

[[nodiscard]] DType wider(DType a, DType b) { return a == b ? a : DType::f32; }

[[nodiscard]] bool is_narrow(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

}  // namespace

DType type_of_math(const Step& step, const std::vector<std::optional<DType>>& operands) {
  if (step.op == MathOp::cast || step.op == MathOp::fill) return step.dtype;
  if (step.op == MathOp::less || step.op == MathOp::logical_and || step.op == MathOp::logical_not) {
    return DType::boolean;
  }
  std::optional<DType> type;
  for (std::size_t i = step.op == MathOp::where ? 1 : 0; i < operands.size(); ++i) {
    if (operands[i]) type = type ? wider(*type, *operands[i]) : *operands[i];
  }
  return type.value_or(DType::f32);
}

double ProgramState::bound_of(const Step& /*step*/, const Argument& argument) const {
  return argument.value == no_value ? std::abs(argument.number) : buffers_[view(argument.value).buffer].bound;
}

void ProgramState::dot(const Step& step) {
  const View a = use(step, step.operands.at(0).value);
  const View b = use(step, step.operands.at(1).value);
  require(a.shape.rank() == 2 && b.shape.rank() == 2 && a.shape[1] == b.shape[0], "the factors do not fit");
  require(is_float(a.dtype) && a.dtype == b.dtype, "the factors have one float type");
  double bound = static_cast<double>(a.shape[1]) * buffers_[a.buffer].bound * buffers_[b.buffer].bound;
  require(step.accumulate ? step.target != no_value : true, "what accumulates has a target");
  if (step.accumulate) bound += buffers_[use(step, step.target).buffer].bound;
  const View target = result(step, {a.shape[0], b.shape[1]}, DType::f32);
  require(target.buffer != a.buffer && target.buffer != b.buffer, "the result shares a buffer with a factor");
  written(target, bound, step.accumulate);
  define(step, target);
}

void ProgramState::math(const Step& step) {
  if (step.op == MathOp::fill) {  // fill of a target, full of a new tensor
    const View target = result(step, step.shape, step.dtype);
    written(target, std::abs(step.operands.at(0).number));
    return define(step, target);
  }
  require(step.operands.size() == operands_of(step.op), "the number of operands is another");
  std::vector<const View*> tensors;
  std::vector<std::optional<DType>> types;
  std::vector<double> bounds;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const Argument& operand = step.operands[i];
    types.emplace_back();
    bounds.push_back(bound_of(step, operand));
    if (operand.value == no_value) continue;
    tensors.push_back(&use(step, operand.value));
    types.back() = tensors.back()->dtype;
    const bool is_condition = step.op == MathOp::logical_and || step.op == MathOp::logical_not ||
                              (step.op == MathOp::where && i == 0) || step.op == MathOp::copy;
    require(is_float(tensors.back()->dtype) || is_condition, "arithmetic with booleans");
    require(step.op != MathOp::logical_and && step.op != MathOp::logical_not ? true : !is_float(*types.back()),
            "a logical operation has booleans");
  }
  require(!tensors.empty(), "one operand is a tensor");
  require(step.op != MathOp::copy || step.target != no_value, "a copy has a target");
  require(step.op != MathOp::where || (types[0] && *types[0] == DType::boolean), "the condition is no boolean");
  require(step.op != MathOp::logical_and || (types[0] && types[1]), "a logical operation has tensors");
  const tl::Shape shape = common_shape(tensors);
  for (const View* tensor : tensors) require(broadcast(*tensor, shape).has_value(), "the operands do not broadcast");
  const View target = result(step, shape, step.op == MathOp::copy ? *types[0] : type_of_math(step, types));
  for (const View* tensor : tensors) {
    require(tensor->buffer != target.buffer || same_elements(*tensor, target), "operand and result overlap");
  }
  written(target, bound_of_math(step.op, bounds));
  define(step, target);
}

void ProgramState::reduce(const Step& step) {
  const View x = use(step, step.operands.at(0).value);
  require(is_float(x.dtype), "reductions of booleans are not made");
  require(step.axis >= 0 && step.axis < x.shape.rank(), "there is no such axis");
  const auto axis = static_cast<int>(step.axis);
  tl::Shape shape{1};
  if (x.shape.rank() == 2) {
    const std::int64_t kept = x.shape[1 - axis];
    shape = !step.keep_dims ? tl::Shape{kept} : axis == 0 ? tl::Shape{1, kept} : tl::Shape{kept, 1};
  }
  const View target = result(step, shape, x.dtype);
  require(target.buffer != x.buffer, "operand and result overlap");
  const double one = buffers_[x.buffer].bound;
  written(target, step.op == MathOp::reduce_sum ? one * static_cast<double>(x.shape[axis]) : one);
  define(step, target);
}

// ---- composites

void ProgramState::staging(const Step& step) {
  require(step.end > 0 && step.result != no_value, "a slot has at least a byte");
  const std::int64_t slot = ceil_div(step.end, 64) * 64;
  const std::size_t buffer = allocate(step.pe, machine_.prefetch_depth * slot, DType::boolean);
  require(stagings_.emplace(step.result, StagingArea{step.pe, buffer, slot}).second, "the name is taken");
}

std::int64_t ProgramState::slot_bytes_of(const Step& composite) const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < composite.factors.size(); ++i) {
    const Factor& factor = composite.factors[i];
    if (factor.value != no_value) continue;
    const std::int64_t kept = shape_of(factor)[composite.axis == 1 && i == 1 ? 1 : 0];
    const DType dtype = areas_.at(static_cast<std::size_t>(factor.place.area)).dtype;
    bytes += ceil_div(kept * composite.end * size_of(dtype), 64) * 64;
  }
  return bytes;
}

double ProgramState::epilogue_bound(const Step& step, const View& target, double bound) {
  require(step.epilogue.size() <= max_composite_steps, "an epilogue has at most 3 steps");
  for (std::size_t i = 0; i < step.epilogue.size(); ++i) {
    const EpilogueStep& part = step.epilogue[i];
    if (part.op == MathOp::cast) {
      require(i + 1 == step.epilogue.size(), "a cast is the last step");
      continue;
    }
    require((operands_of(part.op) == 2) == part.operand.has_value(), "the number of operands is another");
    if (part.operand && part.operand->value != no_value) {
      const View& tensor = use(step, part.operand->value);
      require(is_float(tensor.dtype) && tensor.buffer != target.buffer, "an operand of the epilogue is no good");
      require(broadcast(tensor, target.shape).has_value(), "an operand of the epilogue does not broadcast");
    }
    bound = bound_of_math(part.op, {bound, part.operand ? bound_of(step, *part.operand) : 0.0});
    require(bound <= largest_in_scratch, "the values become too large");
  }
  return bound;
}

void ProgramState::composite(const Step& step) {
  require(step.factors.size() == 2 && step.target != no_value, "a composite has two factors and a target");
  std::array<tl::Shape, 2> shapes;
  std::array<DType, 2> types{};
  std::array<double, 2> bounds{largest_in_hbm, largest_in_hbm};
  const auto along_n = step.axis == 0;
  bool streams = false;
  const View& target = view(step.target);
  for (std::size_t i = 0; i < 2; ++i) {
    const Factor& factor = step.factors[i];
    if (factor.value != no_value) {
      const View& tensor = use(step, factor.value);
      require(tensor.buffer != target.buffer, "the result shares a buffer with a factor");
      shapes.at(i) = tensor.shape;
      types.at(i) = tensor.dtype;
      bounds.at(i) = buffers_[tensor.buffer].bound;
      continue;
    }
    require(!along_n || i == 1, "along N the first factor is a tensor");
    require(factor.stored.rank() == 2 && factor.place.valid.rank() == 2 &&
                factor.place.valid.cols() == factor.stored.cols(),
            "a factor in HBM is a matrix of whole rows");
    shapes.at(i) = shape_of(factor);
    types.at(i) = areas_.at(static_cast<std::size_t>(factor.place.area)).dtype;
    streams = true;
  }
  require(shapes[0].rank() == 2 && shapes[1].rank() == 2 && shapes[0][1] == shapes[1][0], "the factors do not fit");
  require(is_float(types[0]) && types[0] == types[1], "the factors have one float type");
  require(step.end >= 1 && step.end <= (along_n ? shapes[1][1] : shapes[0][1]), "the tile does not lie inside");
  double bound = static_cast<double>(shapes[0][1]) * bounds[0] * bounds[1];
  if (step.accumulate) bound += buffers_[use(step, step.target).buffer].bound;
  const double last = epilogue_bound(step, target, bound);
  const bool casts = !step.epilogue.empty() && step.epilogue.back().op == MathOp::cast;
  require(casts ? is_narrow(target.dtype) && !step.accumulate : target.dtype == DType::f32, "the result's type");
  const View out = result(step, {shapes[0][0], shapes[1][1]}, target.dtype);
  if (casts) static_cast<void>(allocate(step.pe, out.shape.elements(), DType::f32));
  require(streams || step.through == no_value, "nothing passes through the staging area");
  if (step.through != no_value) {
    const auto area = stagings_.find(step.through);
    require(area != stagings_.end() && area->second.pe == step.pe && buffers_[area->second.buffer].alive &&
                area->second.slot_bytes >= slot_bytes_of(step),
            "there is no such staging area");
  } else if (streams) {
    static_cast<void>(allocate(step.pe, machine_.prefetch_depth * slot_bytes_of(step), DType::boolean));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const Factor& factor = step.factors[i];
    if (factor.value == no_value) access(step, factor.place, factor.stored, types.at(i), false);
  }
  written(out, std::max(bound, last), step.accumulate);
  if (step.result != no_value) pendings_[step.result] = step.pe;
}

}  // namespace kernwave::testing
