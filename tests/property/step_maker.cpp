#include "tests/property/step_maker.h"

#include <algorithm>
#include <utility>

namespace kernwave::testing {

namespace {

[[nodiscard]] bool makes_a_value(const Step& step) {
  switch (step.kind) {
    case StepKind::enter_scope:
    case StepKind::leave_scope:
    case StepKind::wait:
      return false;
    case StepKind::composite:
      return true;  // to be waited for
    default:
      return step.target == no_value;
  }
}

[[nodiscard]] Step step_of(StepKind kind, int pe) {
  Step step;
  step.kind = kind;
  step.pe = pe;
  return step;
}

}  // namespace

StepMaker::StepMaker(Program program, RandomNumbers& random)
    : program_(std::move(program)), state_(program_), random_(random) {
  static const std::vector<std::int64_t> all = {1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 32};
  for (int i = 0; i < 3; ++i) extents_.push_back(random_.one_of(all));
}

StepMaker::Made StepMaker::add(Step step) {
  if (makes_a_value(step)) step.result = next_;
  ProgramState after = state_;
  try {
    after.apply(step);
  } catch (const InvalidStep&) {
    return std::nullopt;
  }
  state_ = std::move(after);
  if (makes_a_value(step)) ++next_;
  program_.steps.push_back(step);
  return step.target != no_value ? step.target : step.result;
}

StepMaker::Made StepMaker::enter_scope(int pe) { return add(step_of(StepKind::enter_scope, pe)); }
StepMaker::Made StepMaker::leave_scope(int pe) { return add(step_of(StepKind::leave_scope, pe)); }

tl::Shape StepMaker::shape() { return random_.in_percent(15) ? tl::Shape{extent()} : tl::Shape{extent(), extent()}; }

DType StepMaker::float_type() {
  static const std::vector<DType> types = {DType::f32, DType::f16, DType::f16, DType::bf16};
  return random_.one_of(types);
}

std::optional<ValueId> StepMaker::pick(int pe, const Predicate& fits) {
  std::vector<ValueId> fitting;
  for (const ValueId value : state_.tensors_of(pe)) {
    const View& view = state_.view(value);
    if (state_.buffer(view.buffer).written && fits(view)) fitting.push_back(value);
  }
  if (fitting.empty()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(fitting.size());
  const std::int64_t back = std::min(random_.below(count), random_.below(count));
  return fitting[static_cast<std::size_t>(count - 1 - back)];
}

std::optional<ValueId> StepMaker::pick_target(int pe, const tl::Shape& shape, DType dtype) {
  std::vector<ValueId> fitting;
  for (const ValueId value : state_.tensors_of(pe)) {
    const View& view = state_.view(value);
    if (view.shape == shape && view.dtype == dtype && !state_.buffer(view.buffer).slot_of) fitting.push_back(value);
  }
  return fitting.empty() ? std::nullopt : std::optional(random_.one_of(fitting));
}

// ---- memory

Place StepMaker::place(int pe, const tl::Shape& shape, DType dtype, bool writes) {
  std::vector<int> areas;
  for (std::size_t i = 0; i < program_.areas.size(); ++i) {
    const Area& area = program_.areas[i];
    const bool own = area.owner == pe || area.owner == Area::everybody;
    if (area.dtype == dtype && (own || (!writes && random_.in_percent(20)))) areas.push_back(static_cast<int>(i));
  }
  Place place;
  place.area = random_.one_of(areas);
  place.valid = shape;
  const bool vector = shape.rank() == 1;
  place.stride = vector ? 1 : shape[1];
  if (random_.in_percent(30)) place.stride += random_.between(1, 5);
  if (!writes && random_.in_percent(5)) place.stride = 0;
  if (random_.in_percent(10)) {
    place.valid = vector ? tl::Shape{random_.below(shape[0] + 1)}
                         : tl::Shape{random_.below(shape[0] + 1), random_.below(shape[1] + 1)};
  }
  const std::int64_t room = program_.areas[static_cast<std::size_t>(place.area)].elements;
  place.offset = random_.below(room);
  if (!touched_.empty() && random_.in_percent(60)) {
    const Place& before = random_.one_of(touched_);
    place.offset = before.offset + random_.between(-4, 4);
    if (program_.areas[static_cast<std::size_t>(before.area)].dtype == dtype && random_.in_percent(80)) {
      place.area = before.area;
    }
  }
  const std::int64_t span = vector ? place.stride * (shape[0] - 1) + 1 : place.stride * (shape[0] - 1) + shape[1];
  place.offset = std::clamp<std::int64_t>(place.offset, 0, std::max<std::int64_t>(room - span, 0));
  return place;
}

StepMaker::Made StepMaker::buffer(int pe, const tl::Shape& shape, DType dtype) {
  Step step = step_of(StepKind::buffer, pe);
  step.shape = shape;
  step.dtype = dtype;
  return add(step);
}

StepMaker::Made StepMaker::load(int pe) {
  const tl::Shape wanted = shape();
  const DType dtype = float_type();
  const auto target = random_.in_percent(30) ? pick_target(pe, wanted, dtype) : std::nullopt;
  return load(pe, wanted, dtype, target.value_or(no_value));
}

StepMaker::Made StepMaker::load(int pe, const tl::Shape& shape, DType dtype, ValueId target) {
  Step step = step_of(StepKind::load, pe);
  step.shape = shape;
  step.dtype = dtype;
  step.target = target;
  step.place = place(pe, shape, dtype, false);
  if (step.place.valid != shape) step.other = number();
  const Made made = add(step);
  if (made) touched_.push_back(step.place);
  return made;
}

/// A product with a power of two, where a value is too large for HBM.
StepMaker::Made StepMaker::small_enough(int pe, ValueId value) {
  const double bound = state_.buffer(state_.view(value).buffer).bound;
  double factor = 1.0;
  while (bound * factor > ProgramState::largest_in_hbm) factor /= 2.0;
  if (factor == 1.0) return value;
  Step step = step_of(StepKind::math, pe);
  step.op = MathOp::mul;
  step.operands = {{value, 0.0}, {no_value, factor}};
  return add(step);
}

StepMaker::Made StepMaker::store(int pe) {
  // Rather what nobody has read yet: what does not reach HBM may be wrong without showing.
  auto value = pick(pe, [this](const View& view) { return is_float(view.dtype) && state_.buffer(view.buffer).unread; });
  if (!value || random_.in_percent(20)) value = pick(pe, [](const View& view) { return is_float(view.dtype); });
  return value ? store(pe, *value) : std::nullopt;
}

StepMaker::Made StepMaker::store(int pe, ValueId value) {
  const View& view = state_.view(value);
  return store_at(pe, value, place(pe, view.shape, view.dtype, true));
}

StepMaker::Made StepMaker::store_at(int pe, ValueId value, const Place& place) {
  const Made small = small_enough(pe, value);
  if (!small) return std::nullopt;
  Step step = step_of(StepKind::store, pe);
  step.operands = {{*small, 0.0}};
  step.place = place;
  const Made made = add(step);
  if (made) touched_.push_back(step.place);
  return made;
}

StepMaker::Made StepMaker::wait(int pe) {
  const auto value = pick(pe);
  if (!value) return std::nullopt;
  Step step = step_of(StepKind::wait, pe);
  step.operands = {{*value, 0.0}};
  if (random_.in_percent(30)) {  // of a store, a send or a composite
    for (const Step& before : program_.steps) {
      const bool pending =
          before.kind == StepKind::store || before.kind == StepKind::send || before.kind == StepKind::composite;
      if (before.pe == pe && pending && random_.in_percent(40)) step.operands = {{before.result, 0.0}};
    }
  }
  return add(step);
}

StepMaker::Made StepMaker::view(int pe) {
  const auto value = pick(pe);
  if (!value) return std::nullopt;
  const tl::Shape shape = state_.view(*value).shape;
  Step step;
  switch (random_.below(5)) {
    case 0:
      step = step_of(StepKind::slice, pe);
      step.begin = random_.below(shape[0]);
      step.end = random_.between(step.begin + 1, shape[0]);
      break;
    case 1:
      step = step_of(StepKind::broadcast, pe);
      step.shape = tl::Shape{shape.rows() == 1 ? extent() : shape.rows(), shape.cols() == 1 ? extent() : shape.cols()};
      break;
    case 2:
      step = step_of(shape.rank() == 1 ? StepKind::expand_dims : StepKind::trans, pe);
      step.axis = random_.below(2);
      break;
    case 3:
      step = step_of(StepKind::reshape, pe);
      step.shape = random_.in_percent(50) ? tl::Shape{shape.elements()} : tl::Shape{shape.cols(), shape.rows()};
      break;
    default:
      step = step_of(StepKind::trans, pe);
      break;
  }
  step.operands = {{*value, 0.0}};
  return add(step);
}

// ---- messages

StepMaker::Made StepMaker::send(int pe, Direction direction) {
  const std::int64_t room = program_.machine.slot_bytes;
  const auto fits = [room](const View& view) {
    return view.dense() && is_float(view.dtype) && view.shape.elements() * size_of(view.dtype) <= room;
  };
  const auto value = pick(pe, fits);
  if (!value) return std::nullopt;
  Step step = step_of(StepKind::send, pe);
  step.direction = direction;
  step.operands = {{*value, 0.0}};
  const DType dtype = state_.view(*value).dtype;
  const auto another = pick(pe, [&](const View& view) { return fits(view) && view.dtype == dtype; });
  Step longer = step;
  longer.operands.push_back({*another, 0.0});
  if (random_.in_percent(25)) {
    if (const Made made = add(longer)) return made;
  }
  return add(step);
}

StepMaker::Made StepMaker::receive(int pe, Direction from) {
  const auto [elements, dtype] = state_.next_message(pe, from);
  Step step = step_of(random_.in_percent(50) ? StepKind::receive : StepKind::receive_async, pe);
  step.direction = from;
  step.dtype = dtype;
  step.shape = tl::Shape{elements};
  for (const std::int64_t rows : extents_) {
    if (elements % rows == 0) step.shape = tl::Shape{rows, elements / rows};
  }
  return add(step);
}

}  // namespace kernwave::testing
