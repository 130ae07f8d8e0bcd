// Random steps that compute.
#include <algorithm>

#include "tests/property/step_maker.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] Step step_of(StepKind kind, int pe, std::vector<Argument> operands) {
  Step step;
  step.kind = kind;
  step.pe = pe;
  step.operands = std::move(operands);
  return step;
}

[[nodiscard]] bool is_float_matrix(const View& view) { return view.shape.rank() == 2 && is_float(view.dtype); }

}  // namespace

/// One that has the rows, one that has them once it is transposed, or a new one.
std::optional<ValueId> StepMaker::second_factor(int pe, const View& a) {
  const auto b = pick(pe, [&](const View& view) {
    return is_float_matrix(view) && view.dtype == a.dtype && view.shape[0] == a.shape[1];
  });
  if (b && random_.in_percent(70)) return b;
  const auto turned = pick(pe, [&](const View& view) {
    return is_float_matrix(view) && view.dtype == a.dtype && view.shape[1] == a.shape[1];
  });
  if (turned && random_.in_percent(70)) return add(step_of(StepKind::trans, pe, {{*turned, 0.0}}));
  return load(pe, {a.shape[1], extent()}, a.dtype);
}

StepMaker::Made StepMaker::dot(int pe) {
  const auto first = pick(pe, is_float_matrix);
  if (!first) return std::nullopt;
  const View a = state_.view(*first);
  const auto second = second_factor(pe, a);
  if (!second) return std::nullopt;
  Step step = step_of(StepKind::dot, pe, {{*first, 0.0}, {*second, 0.0}});
  if (random_.in_percent(50)) {
    const auto target = pick_target(pe, {a.shape[0], state_.view(*second).shape[1]}, DType::f32);
    step.target = target.value_or(no_value);
    step.accumulate = target && random_.in_percent(70);
  }
  return add(step);
}

Argument StepMaker::second_operand(int pe, const View& first) {
  if (random_.in_percent(25)) return {no_value, number()};
  const auto fits = [&](const View& view) {
    return is_float(view.dtype) && (broadcast(view, first.shape) || broadcast(first, view.shape));
  };
  const auto found = pick(pe, fits);
  return found ? Argument{*found, 0.0} : Argument{no_value, number()};
}

StepMaker::Made StepMaker::math(int pe) {
  static const std::vector<MathOp> ops = {
      MathOp::add,  MathOp::add,     MathOp::sub,     MathOp::mul,         MathOp::mul,  MathOp::fma,  MathOp::neg,
      MathOp::abs,  MathOp::maximum, MathOp::minimum, MathOp::cast,        MathOp::cast, MathOp::exp2, MathOp::copy,
      MathOp::copy, MathOp::where,   MathOp::less,    MathOp::logical_not, MathOp::fill};
  Step step = step_of(StepKind::math, pe, {});
  step.op = random_.one_of(ops);
  step.dtype = float_type();
  if (step.op == MathOp::fill) {
    step.shape = shape();
    step.operands = {{no_value, number()}};
    step.target = random_.in_percent(40) ? pick_target(pe, step.shape, step.dtype).value_or(no_value) : no_value;
    return add(step);
  }
  const bool logical = step.op == MathOp::where || step.op == MathOp::logical_not;
  const auto first = pick(pe, [logical](const View& view) { return is_float(view.dtype) != logical; });
  if (!first) return std::nullopt;
  const View& a = state_.view(*first);
  step.operands = {{*first, 0.0}};
  const bool alone = step.op == MathOp::neg || step.op == MathOp::abs || step.op == MathOp::cast ||
                     step.op == MathOp::exp2 || step.op == MathOp::copy || step.op == MathOp::logical_not;
  if (!alone) step.operands.push_back(second_operand(pe, a));
  if (step.op == MathOp::fma || step.op == MathOp::where) step.operands.push_back(second_operand(pe, a));
  std::vector<std::optional<DType>> types;
  for (const Argument& operand : step.operands) {
    types.push_back(operand.value == no_value ? std::nullopt : std::optional(state_.view(operand.value).dtype));
  }
  const bool copies = step.op == MathOp::copy;
  if (copies || random_.in_percent(35)) {
    step.target = pick_target(pe, a.shape, copies ? a.dtype : type_of_math(step, types)).value_or(no_value);
  }
  return add(step);
}

StepMaker::Made StepMaker::reduce(int pe) {
  static const std::vector<MathOp> ops = {MathOp::reduce_sum, MathOp::reduce_max, MathOp::reduce_min};
  const auto x = pick(pe, [](const View& view) { return is_float(view.dtype); });
  if (!x) return std::nullopt;
  Step step = step_of(StepKind::reduce, pe, {{*x, 0.0}});
  step.op = random_.one_of(ops);
  step.axis = random_.below(state_.view(*x).shape.rank());
  step.keep_dims = random_.in_percent(60);
  return add(step);
}

// ---- composites

Factor StepMaker::factor_in_hbm(int pe, const tl::Shape& shape, DType dtype) {
  Factor factor;
  factor.transposed = random_.in_percent(50);
  factor.stored = factor.transposed ? tl::Shape{shape[1], shape[0]} : shape;
  factor.place = place(pe, factor.stored, dtype, false);
  factor.place.valid = factor.stored;
  if (random_.in_percent(15)) factor.place.valid = tl::Shape{random_.below(factor.stored[0] + 1), factor.stored[1]};
  return factor;
}

void StepMaker::make_epilogue(int pe, Step& step, const tl::Shape& shape, bool casts) {
  static const std::vector<MathOp> ops = {MathOp::neg, MathOp::abs, MathOp::add,
                                          MathOp::sub, MathOp::mul, MathOp::maximum};
  View result;
  result.shape = shape;
  for (std::int64_t i = random_.below(3); i > 0; --i) {
    EpilogueStep part;
    part.op = random_.one_of(ops);
    if (part.op != MathOp::neg && part.op != MathOp::abs) {
      const auto tensor = pick(pe, [&](const View& v) { return is_float(v.dtype) && broadcast(v, shape); });
      part.operand = tensor && random_.in_percent(60) ? Argument{*tensor, 0.0} : Argument{no_value, number()};
    }
    step.epilogue.push_back(part);
  }
  if (casts) step.epilogue.push_back({MathOp::cast, std::nullopt});
}

StepMaker::Made StepMaker::composite(int pe) {
  const DType dtype = float_type();
  const std::int64_t k = extent();
  Step step = step_of(StepKind::composite, pe, {});
  step.axis = random_.below(2);
  const auto tensor = pick(pe, [&](const View& view) { return is_float_matrix(view) && view.dtype == dtype; });
  tl::Shape a{extent(), k};
  step.factors.resize(2);
  if (tensor && (step.axis == 0 || random_.in_percent(50))) {
    step.factors[0].value = *tensor;
    a = state_.view(*tensor).shape;
  } else if (step.axis == 1) {
    step.factors[0] = factor_in_hbm(pe, a, dtype);
  } else {
    return std::nullopt;
  }
  const tl::Shape b{a[1], extent()};
  step.factors[1] = factor_in_hbm(pe, b, dtype);
  const tl::Shape out{a[0], b[1]};
  const bool casts = random_.in_percent(20);
  const DType type_of_out = casts ? (random_.in_percent(50) ? DType::f16 : DType::bf16) : DType::f32;
  make_epilogue(pe, step, out, casts);
  auto target = pick_target(pe, out, type_of_out);
  if (target && !casts) step.accumulate = random_.in_percent(50);
  if (!target) target = buffer(pe, out, type_of_out);
  if (!target) return std::nullopt;
  step.target = *target;
  const std::int64_t extent_of_axis = step.axis == 0 ? b[1] : a[1];
  step.end = random_.in_percent(20) ? extent_of_axis : random_.between(1, std::min<std::int64_t>(extent_of_axis, 8));
  const std::vector<ValueId> stagings = state_.stagings_of(pe);
  if (!stagings.empty() && random_.in_percent(60)) {
    step.through = random_.one_of(stagings);
    if (const Made made = add(step)) return made;
  }
  step.through = no_value;
  if (random_.in_percent(40)) {
    Step area = step_of(StepKind::staging, pe, {});
    area.end = state_.slot_bytes_of(step);
    step.through = add(area).value_or(no_value);
  }
  const Made made = add(step);
  if (made) touched_.push_back(step.factors[1].place);
  return made;
}

}  // namespace kernwave::testing
