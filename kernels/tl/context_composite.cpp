// Composites: products whose factors stream from HBM.
#include <fmt/format.h>

#include <limits>

#include "kernels/tl/context.h"
#include "models/pe/composite_parts.h"

namespace kernwave::tl {

namespace {

constexpr const char* composite_name = "composite";

[[nodiscard]] std::string description_of(const CompositeOperand& operand) {
  return fmt::format("{} {}", to_string(operand.shape()), name_of(operand.dtype()));
}

/// What exists of a Ref in HBM.
[[nodiscard]] HbmRegion footprint_of(const CompositeFactor& factor, const Shape& shape) noexcept {
  const std::int64_t stored_cols = factor.transposed ? shape[0] : shape[1];
  HbmRegion region;
  region.base = factor.hbm();
  region.rows = factor.stored_rows;
  region.row_bytes = Bytes(stored_cols * size_of(factor.dtype));
  region.stride = Bytes(factor.row_stride * size_of(factor.dtype));
  return region;
}

}  // namespace

Ref Context::ref(HbmAddress address, const Shape& shape, DType dtype, const RefOptions& options,
                 SourceLocation where) const {
  check_shape("ref", shape, where);
  require(shape.rank() == 2, "ref", where, "needs a shape of 2 dimensions", shape);
  const std::int64_t stride = options.stride().value_or(shape[1]);
  if (stride < 0 || stride > std::numeric_limits<std::int32_t>::max()) {
    fail("ref", where, fmt::format("a stride is at least 0 and below 2^31 elements, not {}", stride));
  }
  const std::int64_t rows = options.valid().value_or(shape[0]);
  if (rows < 0 || rows > shape[0]) {
    fail("ref", where, fmt::format("{} valid rows do not lie inside the shape {}", rows, to_string(shape)));
  }
  const std::int64_t element = size_of(dtype);
  check_region("ref", {address, rows, Bytes(shape[1] * element), Bytes(stride * element)}, shape, dtype, where);
  return Ref(address, shape, dtype, stride, rows);
}

Ref Context::trans(const Ref& x) const {
  Ref view = x;
  view.shape_ = Shape{x.shape_[1], x.shape_[0]};
  view.transposed_ = !x.transposed_;
  return view;
}

Staging Context::staging(Bytes slot_bytes, SourceLocation where) {
  if (slot_bytes < Bytes(1) || slot_bytes > Bytes(std::numeric_limits<std::int32_t>::max())) {
    fail("staging", where, fmt::format("a slot has at least 1 byte and below 2^31, not {}", slot_bytes.count()));
  }
  return make_staging("staging", slot_bytes, where);
}

Staging Context::make_staging(const char* asked_by, Bytes slot_bytes, SourceLocation where) {
  const Bytes slot = align_up(slot_bytes, scratch_alignment);
  const std::int64_t slots = pe_.config().scheduler.prefetch_depth;
  const Tensor area = allocate(asked_by, {slots, slot.count()}, DType::boolean, where);
  return Staging(*this, area.buffer_, slot);
}

void Context::check_factors(const CompositeOperand& a, const CompositeOperand& b, const CompositeOptions& options,
                            SourceLocation where) const {
  check_caller(composite_name, where);
  for (const CompositeOperand* factor : {&a, &b}) {
    if (!factor->is_ref()) check_alive(composite_name, factor->tensor(), where);
  }
  check_product(composite_name, a.shape(), a.dtype(), b.shape(), b.dtype(), where);
  if (a.is_ref() && options.axis() == CompositeAxis::n) {
    fail(composite_name, where,
         fmt::format("a ({}) is in HBM, but tiles along N all use the whole of it: load it, or cut along K",
                     description_of(a)));
  }
  const std::int64_t extent = options.axis() == CompositeAxis::n ? b.shape()[1] : a.shape()[1];
  const std::int64_t tile = options.tile().value_or(extent);
  if (tile < 1 || tile > extent) {
    fail(composite_name, where,
         fmt::format("a tile has 1 to {} {} of {} by {}, not {}", extent,
                     options.axis() == CompositeAxis::n ? "columns" : "elements of K", description_of(a),
                     description_of(b), tile));
  }
}

/// The tensor that takes the result, checked.
const Tensor& Context::composite_target(const CompositeOperand& a, const CompositeOperand& b,
                                        const CompositeOptions& options, SourceLocation where) const {
  const Shape shape{a.shape()[0], b.shape()[1]};
  if (options.out().has_value() == options.acc().has_value()) {
    fail(composite_name, where,
         fmt::format("needs either out or acc, a tensor of {} for the result of {} by {}", to_string(shape),
                     description_of(a), description_of(b)));
  }
  const bool adds = options.acc().has_value();
  const Tensor& target = adds ? *options.acc() : *options.out();
  check_alive(composite_name, target, where);
  const std::size_t steps = options.step_count();
  if (steps > max_composite_steps) {
    fail(composite_name, where, fmt::format("an epilogue has at most {} steps, not {}", max_composite_steps, steps));
  }
  const bool casts = steps > 0 && options.step(steps - 1).op == MathOp::cast;
  const bool narrow = target.dtype() == DType::f16 || target.dtype() == DType::bf16;
  if (target.shape() != shape || (casts ? adds || !narrow : target.dtype() != DType::f32)) {
    fail(
        composite_name, where,
        fmt::format("{} is {}, the result {} {}", adds ? "acc" : "out", to_string(target), to_string(shape),
                    casts ? "f16 or bf16, by a cast into out" : "f32 (f16 or bf16 where the epilogue ends in a cast)"));
  }
  for (int axis = 0; axis < 2; ++axis) {
    require(shape[axis] == 1 || target.stride(axis) != 0, composite_name, where,
            "the result must not be a broadcast view", target);
  }
  for (const CompositeOperand* factor : {&a, &b}) {
    require(factor->is_ref() || !(factor->tensor().buffer_ == target.buffer_), composite_name, where,
            "the result must not share a buffer with a factor", target);
  }
  return target;
}

CompositeStep Context::composite_step(const CompositeOptions& options, std::size_t index, const Tensor& target,
                                      SourceLocation where) const {
  const CompositeOptions::Step& step = options.step(index);
  const MathOperation& operation = math_operation(step.op);
  const bool has_operand = step.number.has_value() || step.tensor.has_value();
  const bool last = index + 1 == options.step_count();
  if (operation.step == MathStep::no || (operation.step == MathStep::last && !last)) {
    fail(composite_name, where,
         fmt::format("{} {} (step {} of the epilogue of {})", operation.name,
                     operation.step == MathStep::no ? "cannot be a step of an epilogue" : "can only be the last step",
                     index + 1, to_string(target)));
  }
  const bool takes_operand = operation.operands == 2;
  if (has_operand != takes_operand) {
    fail(composite_name, where,
         fmt::format("{} takes {} operand besides the result (step {} of the epilogue of {})", operation.name,
                     takes_operand ? "one" : "no", index + 1, to_string(target)));
  }
  CompositeStep made;
  made.op = step.op;
  if (step.number) {
    made.operand = CompositeStep::Operand::number;
    made.number = static_cast<float>(*step.number);
  }
  if (step.tensor) {
    require(!(step.tensor->buffer_ == target.buffer_), composite_name, where,
            "an operand of the epilogue must not share a buffer with the result", target);
    const ScratchOperand view = broadcast(composite_name, *step.tensor, target.shape(), where).operand();
    made.operand = CompositeStep::Operand::tensor;
    made.address = view.address;
    made.row_stride = view.row_stride;
    made.col_stride = view.col_stride;
    made.dtype = view.dtype;
  }
  return made;
}

CompositeFactor Context::composite_factor(const CompositeOperand& operand) {
  CompositeFactor factor;
  factor.dtype = operand.dtype();
  if (operand.is_ref()) {
    const Ref& ref = operand.ref();
    factor.address = ref.base_.value();
    factor.row_stride = static_cast<std::int32_t>(ref.stride_);
    factor.stored_rows = static_cast<std::int32_t>(ref.stored_rows_);
    factor.in_hbm = true;
    factor.transposed = ref.transposed_;
  } else {
    const ScratchOperand view = operand.tensor().operand();
    factor.address = static_cast<std::uint64_t>(view.address.count());
    factor.row_stride = view.row_stride;
    factor.col_stride = view.col_stride;
  }
  return factor;
}

/// The staging area of the composite: the one that was given, checked, or one of its own.
Staging Context::staging_for(const CompositeDescriptor& composite, const CompositeOptions& options,
                             SourceLocation where) {
  const Bytes needed = slot_bytes_of(composite);
  if (needed > Bytes(std::numeric_limits<std::int32_t>::max())) {
    fail(composite_name, where, fmt::format("a tile of {} B does not fit into scratch", needed.count()));
  }
  if (!options.staging()) return make_staging(composite_name, needed, where);
  const Staging& staging = *options.staging();
  require(staging.context_ == this, composite_name, where, "the staging area belongs to another program's context");
  require(arena_.alive(staging.buffer_), composite_name, where,
          "uses a staging area after the scratch scope in which it was made has ended");
  if (staging.slot_bytes_ < needed) {
    fail(composite_name, where,
         fmt::format("a tile needs {} B of staging, a slot has {} B", needed.count(), staging.slot_bytes_.count()));
  }
  return staging;
}

/// Slots are used in turn by all composites that share the area.
void Context::take_slots(const Staging& staging, CompositeDescriptor& composite) {
  ScratchArena::Buffer& area = arena_.buffer(staging.buffer_);
  const std::int64_t slots = pe_.config().scheduler.prefetch_depth;
  composite.staging = area.address;
  composite.slot_bytes = static_cast<std::int32_t>(staging.slot_bytes_.count());
  composite.slots = static_cast<std::uint8_t>(slots);
  composite.first_slot = static_cast<std::uint8_t>(area.tiles_staged % slots);
  area.tiles_staged += tiles_of(composite);
}

Pending Context::composite(const CompositeOperand& a, const CompositeOperand& b, const CompositeOptions& options,
                           SourceLocation where) {
  check_factors(a, b, options, where);
  const Tensor& target = composite_target(a, b, options, where);
  Descriptor descriptor;
  descriptor.engine = Engine::composite;
  auto& work = descriptor.work.emplace<CompositeDescriptor>();
  work.a = composite_factor(a);
  work.b = composite_factor(b);
  work.out = target.operand();
  work.k = static_cast<std::int32_t>(a.shape()[1]);
  work.axis = options.axis();
  work.tile =
      static_cast<std::int32_t>(options.tile().value_or(work.axis == CompositeAxis::n ? b.shape()[1] : a.shape()[1]));
  work.accumulate = options.acc().has_value();
  work.steps = static_cast<std::uint8_t>(options.step_count());
  for (std::size_t i = 0; i < work.steps; ++i) work.epilogue[i] = composite_step(options, i, target, where);

  // Operands, then what is overwritten, then memory order.
  for (const CompositeOperand* factor : {&a, &b}) {
    if (!factor->is_ref()) await_writer(factor->tensor());
  }
  for (std::size_t i = 0; i < work.steps; ++i) {
    if (options.step(i).tensor) await_writer(*options.step(i).tensor);
  }
  if (work.accumulate) await_writer(target);
  await_overwrite(target);
  std::optional<Tensor> product;
  if (target.dtype() != DType::f32) {
    product = allocate(composite_name, target.shape(), DType::f32, where);
    work.product = product->address_;
  }
  std::optional<Staging> staging;
  if (reads_per_tile(work) > 0) {
    staging = staging_for(work, options, where);
    take_slots(*staging, work);
  }
  for (const CompositeFactor* factor : {&work.a, &work.b}) {
    const Shape& shape = factor == &work.a ? a.shape() : b.shape();
    if (factor->in_hbm) await_memory_order(footprint_of(*factor, shape), false);
  }

  const Completion completion = issue(OperationKind::composite, descriptor, where);
  if (work.a.in_hbm) memory_order_.add(footprint_of(work.a, a.shape()), false, completion);
  if (work.b.in_hbm) memory_order_.add(footprint_of(work.b, b.shape()), false, completion);
  for (const CompositeOperand* factor : {&a, &b}) {
    if (!factor->is_ref()) note_reader(factor->tensor(), completion);
  }
  for (std::size_t i = 0; i < work.steps; ++i) {
    if (options.step(i).tensor) note_reader(*options.step(i).tensor, completion);
  }
  if (staging) note_user(staging->buffer_, completion);
  if (product) note_writer(*product, completion, TimeCause::composite);
  note_writer(target, completion, TimeCause::composite);
  return Pending(*this, completion, TimeCause::composite);
}

}  // namespace kernwave::tl
