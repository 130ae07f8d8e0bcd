// The mechanism of the language: hazards, scratch, order, issue.
#include "kernels/tl/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kernwave::tl {

namespace {

[[nodiscard]] TimeCause cause_of(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::load:
      return TimeCause::load;
    case OperationKind::store:
      return TimeCause::store;
    case OperationKind::send:
      return TimeCause::credit;
    case OperationKind::receive:
    case OperationKind::receive_async:
      return TimeCause::receive;
    case OperationKind::composite:
      return TimeCause::composite;
    case OperationKind::dot:
    case OperationKind::math:
    case OperationKind::call:
      break;
  }
  return TimeCause::compute;
}

[[nodiscard]] Cycles issue_cost(const IssueCosts& costs, OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::load:
      return costs.load;
    case OperationKind::store:
      return costs.store;
    case OperationKind::send:
      return costs.send;
    case OperationKind::receive:
    case OperationKind::receive_async:
      return costs.receive;
    case OperationKind::composite:
      return costs.composite;
    case OperationKind::dot:
      return costs.dot;
    case OperationKind::math:
    case OperationKind::call:
      break;
  }
  return costs.math;
}

}  // namespace

std::string to_string(const Shape& shape) {
  return shape.rank() == 1 ? fmt::format("{}", shape[0]) : fmt::format("{}x{}", shape[0], shape[1]);
}

std::string to_string(const Tensor& tensor) {
  return fmt::format("{} {}", to_string(tensor.shape()), name_of(tensor.dtype()));
}

std::string to_string(const Operand& operand) {
  return operand.is_tensor() ? to_string(operand.tensor()) : fmt::format("{}", operand.number());
}

ScratchOperand Tensor::operand() const noexcept {
  ScratchOperand view;
  view.address = address_;
  view.rows = static_cast<std::int32_t>(shape_.rows());
  view.cols = static_cast<std::int32_t>(shape_.cols());
  view.row_stride = shape_.rank() == 1 ? 0 : static_cast<std::int32_t>(strides_[0]);
  view.col_stride = static_cast<std::int32_t>(shape_.rank() == 1 ? strides_[0] : strides_[1]);
  view.dtype = dtype_;
  return view;
}

bool Tensor::contiguous() const noexcept {
  if (shape_.rank() == 1) return strides_[0] == 1 || shape_[0] == 1;
  const bool rows_follow = strides_[0] == shape_[1] || shape_[0] == 1;
  return rows_follow && (strides_[1] == 1 || shape_[1] == 1);
}

Tensor Tensor::to(DType dtype, SourceLocation where) const {
  return dtype == dtype_ ? *this : context_->cast(Operand(*this, where), dtype);
}

ScratchScope::ScratchScope(Context& context, SourceLocation where) : context_(context) {
  context_.check_caller("scratch_scope", where);
  context_.arena_.enter_scope();
}

ScratchScope::~ScratchScope() { context_.leave_scope(); }

Context::Context(Pe& pe, Policy policy)
    : pe_(pe), policy_(policy), arena_(pe.scratch().capacity() - pe.ipcq().slots_size()) {}

std::int64_t Context::program_id(int axis, SourceLocation where) const {
  check_caller("program_id", where);
  require(axis >= 0 && axis < 3, "program_id", where, "a grid has axes 0, 1 and 2");
  return program_.id[static_cast<std::size_t>(axis)];
}

std::int64_t Context::num_programs(int axis, SourceLocation where) const {
  check_caller("num_programs", where);
  require(axis >= 0 && axis < 3, "num_programs", where, "a grid has axes 0, 1 and 2");
  return program_.grid[static_cast<std::size_t>(axis)];
}

void Context::leave_scope() {
  arena_.leave_scope(completeness(), [this](const ScratchArena::Slot& slot, const std::vector<Completion>& users) {
    pe_.cpu().release_slot(slot.direction, slot.message, users);
  });
  pe_.cpu().note_scratch(scratch_top());
}

void Context::fail(const char* operation, SourceLocation where, const std::string& message) const {
  throw KernelError(
      fmt::format("PE {}, {} at {}:{}: {}", pe_.id().count(), operation, where.file, where.line, message));
}

void Context::require(bool condition, const char* operation, SourceLocation where, const char* message) const {
  if (!condition) fail(operation, where, message);
}

void Context::check_shape(const char* operation, const Shape& shape, SourceLocation where) const {
  if (shape.rank() < 1 || shape.rank() > Shape::max_rank) {
    fail(operation, where, fmt::format("a tensor has 1 or 2 dimensions, not {}", shape.rank()));
  }
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 1 || shape[axis] > largest) {
      fail(operation, where,
           fmt::format("every extent of a shape is at least 1 (and below 2^31), not {} in {}", shape[axis],
                       to_string(shape)));
    }
  }
  if (shape.elements() > largest) {
    fail(operation, where, fmt::format("a tensor has fewer than 2^31 elements, not {}", to_string(shape)));
  }
}

void Context::fail_foreign(const char* operation, SourceLocation where) const {
  fail(operation, where,
       fmt::format("this is the context of PE {}'s program, and {} uses it; each program uses its own",
                   pe_.id().count(), name_of_current_process()));
}

void Context::fail_dead(const char* operation, const Tensor& tensor, SourceLocation where) const {
  check_caller(operation, where);
  require(&tensor.context() == this, operation, where, "the tensor belongs to another program's context", tensor);
  fail(operation, where,
       fmt::format("uses a tensor of shape {} ({}) after the scratch scope in which it was made has ended; "
                   "keep it with copy_to or out= in a buffer of an outer scope",
                   to_string(tensor.shape()), name_of(tensor.dtype())));
}

void Context::await_overwrite(const Tensor& tensor) {
  const ScratchArena::Buffer& buffer = arena_.buffer(tensor.buffer_);
  if (!complete(buffer.writer)) pe_.cpu().wait_for(buffer.writer, TimeCause::scratch);
  for (const Completion reader : buffer.readers) {
    if (!complete(reader)) pe_.cpu().wait_for(reader, TimeCause::scratch);
  }
}

void Context::note_user(BufferId buffer, Completion completion) {
  if (complete(completion)) return;
  std::vector<Completion>& readers = arena_.buffer(buffer).readers;
  std::size_t kept = 0;
  for (const Completion reader : readers) {
    if (!complete(reader)) readers[kept++] = reader;
  }
  readers.resize(kept);
  readers.push_back(completion);
}

void Context::note_writer(const Tensor& tensor, Completion completion, TimeCause cause) {
  ScratchArena::Buffer& buffer = arena_.buffer(tensor.buffer_);
  buffer.writer = completion;
  buffer.writer_cause = cause;
  buffer.readers.clear();
}

Tensor Context::allocate(const char* operation, const Shape& shape, DType dtype, SourceLocation where) {
  check_caller(operation, where);
  check_shape(operation, shape, where);
  const Bytes size(shape.elements() * size_of(dtype));
  if (!arena_.fits(size)) {
    fail(operation, where,
         fmt::format("scratch overflow: {} {} needs {} B, {} of {} B are in use: {}{}", to_string(shape),
                     name_of(dtype), size.count(), arena_.top().count(), arena_.capacity().count(), arena_.holders(),
                     pe_.ipcq().slots_size() == Bytes(0)
                         ? ""
                         : fmt::format("; besides, the slots of queues hold {} B", pe_.ipcq().slots_size().count())));
  }
  const BufferId id = arena_.allocate(size, BufferOrigin{operation, where, shape, dtype});
  const ScratchAddress address = arena_.buffer(id).address;
  for (Completion user = arena_.user_of(address, size, completeness()); !(user == Completion{});
       user = arena_.user_of(address, size, completeness())) {
    pe_.cpu().wait_for(user, TimeCause::scratch);
  }
  pe_.scratch().note_use(scratch_top());
  pe_.cpu().note_scratch(scratch_top());
  const std::int64_t outer = shape.rank() == 1 ? 1 : shape[1];
  Tensor tensor(*this, id, address, shape, {outer, 1}, dtype);
  pe_.cpu().note_allocated(tensor.operand());
  pe_.scratch().poison(tensor.operand());
  return tensor;
}

Tensor Context::buffer(const Shape& shape, DType dtype, SourceLocation where) {
  return allocate("buffer", shape, dtype, where);
}

std::vector<Tensor> Context::buffers(std::int64_t count, const Shape& shape, DType dtype, SourceLocation where) {
  if (count < 0) fail("buffers", where, fmt::format("a number of buffers is not negative, as {} is", count));
  constexpr std::int64_t most_reserved = 256;  // what fits into scratch decides how many there can be
  std::vector<Tensor> made;
  made.reserve(static_cast<std::size_t>(std::min(count, most_reserved)));
  for (std::int64_t i = 0; i < count; ++i) made.push_back(allocate("buffers", shape, dtype, where));
  return made;
}

const Tensor& Context::wait(const Tensor& tensor, SourceLocation where) {
  check_alive("wait", tensor, where);
  const ScratchArena::Buffer& buffer = arena_.buffer(tensor.buffer_);
  pe_.cpu().await(buffer.writer, buffer.writer_cause);
  return tensor;
}

void Context::wait(const Pending& pending, SourceLocation where) {
  check_caller("wait", where);
  require(pending.context_ == this, "wait", where, "the operation belongs to another program's context");
  pe_.cpu().await(pending.completion_, pending.cause_);
}

void Context::await_memory_order(const HbmRegion& region, bool writes) {
  while (const auto conflict = memory_order_.conflict(region, writes, completeness())) {
    pe_.cpu().wait_for(*conflict, TimeCause::memory_order);
  }
}

Completion Context::issue(OperationKind kind, const Descriptor& descriptor, SourceLocation where) {
  return issue(kind, descriptor, issue_cost(pe_.config().issue, kind), where);
}

Completion Context::issue(OperationKind kind, const Descriptor& descriptor, Cycles cost, SourceLocation where) {
  PeCpu& cpu = pe_.cpu();
  cpu.pay_issue(cost, where);
  if (waits_at_issue(policy_, kind)) return cpu.submit_awaited(descriptor, where, cause_of(kind));
  return cpu.submit(descriptor, where);
}

}  // namespace kernwave::tl
