// The kernel language: the interface of a kernel to its PE. Names and meaning are Triton's where Triton has one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/tl/call.h"
#include "kernels/tl/composite.h"
#include "kernels/tl/kernel_error.h"
#include "kernels/tl/memory_order.h"
#include "kernels/tl/operand.h"
#include "kernels/tl/options.h"
#include "kernels/tl/policy.h"
#include "kernels/tl/scratch_arena.h"
#include "kernels/tl/shape.h"
#include "kernels/tl/tensor.h"
#include "models/pe/pe.h"

namespace kernwave::tl {

class Context;

/// The operation of a call that returns no tensor. Only the program that made the call may wait for it.
class Pending {
 private:
  friend class Context;
  Pending(const Context& context, Completion completion, TimeCause cause) noexcept
      : context_(&context), completion_(completion), cause_(cause) {}
  const Context* context_;
  Completion completion_;
  TimeCause cause_;
};

/// A scope of scratch: its end frees all tensors allocated since its begin.
class ScratchScope {
 public:
  explicit ScratchScope(Context& context, SourceLocation where = SourceLocation::current());
  ~ScratchScope();
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Context& context_;
};

class TensorDescriptor;

/// Position of a program in its grid, and the grid's extents.
struct ProgramPosition {
  std::array<std::int64_t, 3> id{0, 0, 0};
  std::array<std::int64_t, 3> grid{1, 1, 1};
};

/// The interface of a kernel to its PE.
///
/// Every call that works on data issues one operation. The policy decides whether the call waits for the completion of
/// the operation. A call waits for its operands, then for the bytes that it overwrites, then (loads, stores,
/// composites) for earlier accesses to the same bytes of HBM. It then pays the issue cost and submits the operation;
/// `send` waits for more conditions. Views (`trans`, `broadcast_to`, ...) cost nothing.
///
/// Types: arithmetic on f16 and bf16 is computed in f32 and rounded to the result's type. Mixed types promote to the
/// wider one (f16 with bf16: f32); a number takes the tensor's type. Shapes broadcast as in NumPy.
///
/// All errors are `KernelError`s that name PE, operation, shapes and source line. A Context may be used only by the
/// program that was given it, not by the program of another PE or another process.
class Context {
 public:
  Context(Pe& pe, Policy policy);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = default;

  // ---- where this program stands

  [[nodiscard]] std::int64_t program_id(int axis, SourceLocation where = SourceLocation::current()) const;
  [[nodiscard]] std::int64_t num_programs(int axis, SourceLocation where = SourceLocation::current()) const;
  [[nodiscard]] PeId pe_id() const noexcept { return pe_.id(); }
  [[nodiscard]] Policy policy() const noexcept { return policy_; }
  [[nodiscard]] Bytes scratch_capacity() const noexcept { return arena_.capacity(); }
  [[nodiscard]] Bytes scratch_used() const noexcept { return arena_.top(); }

  // ---- memory

  /// Reads shape[0] x shape[1] elements from HBM. Logged as memory/dma_read, exactly one.
  Tensor load(HbmAddress address, const Shape& shape, DType dtype, const LoadOptions& options = {},
              SourceLocation where = SourceLocation::current());
  /// Writes a tensor to HBM, in its own type. Logged as memory/dma_write.
  Pending store(HbmAddress address, const Tensor& tensor, const StoreOptions& options = {},
                SourceLocation where = SourceLocation::current());
  /// A matrix in HBM of which blocks are loaded (zeroes outside its bounds) and stored (clipped to its bounds).
  [[nodiscard]] TensorDescriptor make_tensor_descriptor(HbmAddress base, const Shape& shape,
                                                        const std::array<std::int64_t, 2>& strides,
                                                        const Shape& block_shape, DType dtype,
                                                        SourceLocation where = SourceLocation::current());

  /// Waits until the tensor's pending operation is complete; returns at once if it is complete already.
  const Tensor& wait(const Tensor& tensor, SourceLocation where = SourceLocation::current());
  void wait(const Pending& pending, SourceLocation where = SourceLocation::current());
  /// Waits until simulated time is the program's time. A program, including its host code, runs ahead of simulated
  /// time: call this function before host code reads simulated time, memory, or anything else outside the program. The
  /// call takes no time of the program.
  void sync() { pe_.cpu().synchronise(); }

  // ---- messages to and from neighbours

  /// Sends dense tensors as one message, their elements one after another. Waits before it is issued, under every
  /// policy, for a free slot at the receiver, for the window, and for all earlier loads, stores and composites of this
  /// PE, so that the receiver of the message sees the stored data. Complete when the message has landed. Logged as
  /// comm/ipcq_copy.
  Pending send(Direction direction, const std::vector<Tensor>& tensors,
               SourceLocation where = SourceLocation::current());
  Pending send(Direction direction, const Tensor& tensor, SourceLocation where = SourceLocation::current());
  /// The next message from that direction: the slot in which it landed, not a copy. The slot falls free, in order, when
  /// the current scope has ended and the last operation that reads it is done. Logged as comm/ipcq_recv.
  Tensor recv(Direction direction, const Shape& shape, DType dtype, SourceLocation where = SourceLocation::current());
  /// The same without a wait: the first operation that uses the tensor waits for the message.
  Tensor recv_async(Direction direction, const Shape& shape, DType dtype,
                    SourceLocation where = SourceLocation::current());

  // ---- scratch

  /// An uninitialised tensor in the current scope, for `into` and `out`.
  [[nodiscard]] Tensor buffer(const Shape& shape, DType dtype, SourceLocation where = SourceLocation::current());
  [[nodiscard]] std::vector<Tensor> buffers(std::int64_t count, const Shape& shape, DType dtype,
                                            SourceLocation where = SourceLocation::current());
  [[nodiscard]] ScratchScope scratch_scope(SourceLocation where = SourceLocation::current()) {
    return ScratchScope(*this, where);
  }
  /// Copies into an existing tensor of the same shape and type (math/copy).
  void copy_to(const Tensor& persistent, const Tensor& tensor, SourceLocation where = SourceLocation::current());

  // ---- products

  /// a . b in f32: M x K times K x N, both of one float type.
  Tensor dot(const Tensor& a, const Tensor& b, const Out& out = {}, SourceLocation where = SourceLocation::current());
  /// acc += a . b, in place; `acc` is M x N f32. Returns `acc`.
  Tensor dot(const Tensor& a, const Tensor& b, const Tensor& acc, SourceLocation where = SourceLocation::current());

  // ---- products whose factors stream from HBM

  /// A matrix in HBM as a factor of a composite: no operation, no time. Rows are contiguous; see `trans`.
  [[nodiscard]] Ref ref(HbmAddress address, const Shape& shape, DType dtype, const RefOptions& options = {},
                        SourceLocation where = SourceLocation::current()) const;
  [[nodiscard]] Ref trans(const Ref& x) const;
  /// A staging area of `pe.scheduler.prefetch_depth` slots in the current scope, for any number of composites.
  [[nodiscard]] Staging staging(Bytes slot_bytes, SourceLocation where = SourceLocation::current());
  /// a . b by tiles, then the epilogue: reads of the next tiles go on under the product of this one. The composite is
  /// complete when the whole result is. Logged as composite/gemm, its parts under the same sequence number. Never waits
  /// at issue.
  Pending composite(const CompositeOperand& a, const CompositeOperand& b, const CompositeOptions& options,
                    SourceLocation where = SourceLocation::current());

  // ---- engines of the user's

  /// One command to an engine that was added to the machine (`EngineList::add`). Waits as a dot does. Logged as
  /// custom/NAME.
  Pending call(Engine engine, const Call& call, SourceLocation where = SourceLocation::current());

  // ---- making tensors

  Tensor full(const Shape& shape, double value, DType dtype, SourceLocation where = SourceLocation::current());
  Tensor zeros(const Shape& shape, DType dtype, SourceLocation where = SourceLocation::current());
  /// Fills an existing tensor.
  Tensor fill(const Tensor& tensor, double value, SourceLocation where = SourceLocation::current());
  /// begin, begin + 1, ..., end - 1 as int32.
  Tensor arange(std::int64_t begin, std::int64_t end, SourceLocation where = SourceLocation::current());
  Tensor cast(const Operand& x, DType dtype, const Out& out = {}) {
    return issue_elementwise<1>(MathOp::cast, {&x}, dtype, out);
  }

  // ---- elementwise

  Tensor add(const Operand& a, const Operand& b, const Out& out = {}) { return elementwise<MathOp::add>(out, a, b); }
  Tensor sub(const Operand& a, const Operand& b, const Out& out = {}) { return elementwise<MathOp::sub>(out, a, b); }
  Tensor mul(const Operand& a, const Operand& b, const Out& out = {}) { return elementwise<MathOp::mul>(out, a, b); }
  /// Integers divide to f32.
  Tensor div(const Operand& a, const Operand& b, const Out& out = {}) { return elementwise<MathOp::div>(out, a, b); }
  /// Of integers, towards minus infinity (Triton's // rounds towards 0; the two agree where both are positive).
  Tensor floor_div(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::floor_div>(out, a, b);
  }
  /// a * b + c, the product rounded to f32 before the sum.
  Tensor fma(const Operand& a, const Operand& b, const Operand& c, const Out& out = {}) {
    return elementwise<MathOp::fma>(out, a, b, c);
  }
  /// The other operand if one is NaN.
  Tensor maximum(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::maximum>(out, a, b);
  }
  Tensor minimum(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::minimum>(out, a, b);
  }
  Tensor neg(const Operand& x, const Out& out = {}) { return elementwise<MathOp::neg>(out, x); }
  Tensor abs(const Operand& x, const Out& out = {}) { return elementwise<MathOp::abs>(out, x); }
  Tensor exp(const Operand& x, const Out& out = {}) { return elementwise<MathOp::exp>(out, x); }
  Tensor exp2(const Operand& x, const Out& out = {}) { return elementwise<MathOp::exp2>(out, x); }
  Tensor log(const Operand& x, const Out& out = {}) { return elementwise<MathOp::log>(out, x); }
  Tensor log2(const Operand& x, const Out& out = {}) { return elementwise<MathOp::log2>(out, x); }
  Tensor sqrt(const Operand& x, const Out& out = {}) { return elementwise<MathOp::sqrt>(out, x); }
  Tensor rsqrt(const Operand& x, const Out& out = {}) { return elementwise<MathOp::rsqrt>(out, x); }
  Tensor less(const Operand& a, const Operand& b, const Out& out = {}) { return elementwise<MathOp::less>(out, a, b); }
  Tensor less_equal(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::less_equal>(out, a, b);
  }
  Tensor greater(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::greater>(out, a, b);
  }
  Tensor greater_equal(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::greater_equal>(out, a, b);
  }
  Tensor equal(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::equal>(out, a, b);
  }
  Tensor not_equal(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::not_equal>(out, a, b);
  }
  /// Of booleans.
  Tensor logical_and(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::logical_and>(out, a, b);
  }
  Tensor logical_or(const Operand& a, const Operand& b, const Out& out = {}) {
    return elementwise<MathOp::logical_or>(out, a, b);
  }
  Tensor logical_not(const Operand& x, const Out& out = {}) { return elementwise<MathOp::logical_not>(out, x); }
  /// x where the boolean is true, y elsewhere. Both are evaluated.
  Tensor where(const Operand& condition, const Operand& x, const Operand& y, const Out& out = {}) {
    return elementwise<MathOp::where>(out, condition, x, y);
  }

  // ---- reductions, in ascending order of the index

  Tensor sum(const Operand& x, int axis, bool keep_dims = false, const Out& out = {}) {
    return reduce<MathOp::reduce_sum>(out, x, axis, keep_dims);
  }
  /// Ignores NaN unless all are NaN.
  Tensor max(const Operand& x, int axis, bool keep_dims = false, const Out& out = {}) {
    return reduce<MathOp::reduce_max>(out, x, axis, keep_dims);
  }
  Tensor min(const Operand& x, int axis, bool keep_dims = false, const Out& out = {}) {
    return reduce<MathOp::reduce_min>(out, x, axis, keep_dims);
  }

  // ---- views: no operation, no time

  [[nodiscard]] Tensor trans(const Tensor& x, SourceLocation where = SourceLocation::current()) const;
  [[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape,
                                    SourceLocation where = SourceLocation::current()) const;
  /// A vector of n as 1 x n (axis 0) or n x 1 (axis 1).
  [[nodiscard]] Tensor expand_dims(const Tensor& x, int axis, SourceLocation where = SourceLocation::current()) const;
  /// The same elements in row-major order in another shape; the tensor must be dense.
  [[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape,
                               SourceLocation where = SourceLocation::current()) const;
  /// Rows begin ... end - 1 of a matrix, or those elements of a vector.
  [[nodiscard]] Tensor slice(const Tensor& x, std::int64_t begin, std::int64_t end,
                             SourceLocation where = SourceLocation::current()) const;

 private:
  friend class ScratchScope;
  friend class Launcher;
  friend class TensorDescriptor;

  void begin_program(const ProgramPosition& position) { program_ = position; }
  void leave_scope();
  /// Bytes in use, slots of queues included.
  [[nodiscard]] Bytes scratch_top() const noexcept { return arena_.top() + pe_.ipcq().slots_size(); }

  [[noreturn]] void fail(const char* operation, SourceLocation where, const std::string& message) const;
  void require(bool condition, const char* operation, SourceLocation where, const char* message) const;
  /// The same; the message also shows `subject`, a Shape, Tensor or Operand.
  template <typename Subject>
  void require(bool condition, const char* operation, SourceLocation where, const char* message,
               const Subject& subject) const;
  void check_shape(const char* operation, const Shape& shape, SourceLocation where) const;
  /// Called for every operand, so it is short; the reason is determined only in case of an error.
  void check_alive(const char* operation, const Tensor& tensor, SourceLocation where) const {
    const bool alive = &tensor.context() == this && arena_.alive(tensor.buffer_) && pe_.cpu().runs_here();
    if (!alive) fail_dead(operation, tensor, where);
  }
  /// Called by every call that takes no tensor.
  void check_caller(const char* operation, SourceLocation where) const {
    if (!pe_.cpu().runs_here()) fail_foreign(operation, where);
  }
  [[noreturn]] void fail_foreign(const char* operation, SourceLocation where) const;
  [[noreturn]] void fail_dead(const char* operation, const Tensor& tensor, SourceLocation where) const;
  [[nodiscard]] bool complete(Completion completion) const noexcept { return pe_.cpu().is_complete(completion); }
  [[nodiscard]] auto completeness() const noexcept {
    return [this](Completion completion) { return complete(completion); };
  }

  // Hazards.
  void await_writer(const Tensor& tensor) {
    const ScratchArena::Buffer& buffer = arena_.buffer(tensor.buffer_);
    pe_.cpu().await_operand(buffer.writer, buffer.writer_cause);
  }
  void await_overwrite(const Tensor& tensor);
  void note_reader(const Tensor& tensor, Completion completion) { note_user(tensor.buffer_, completion); }
  void note_user(BufferId buffer, Completion completion);
  void note_writer(const Tensor& tensor, Completion completion, TimeCause cause);
  [[nodiscard]] Tensor allocate(const char* operation, const Shape& shape, DType dtype, SourceLocation where);
  void await_memory_order(const HbmRegion& region, bool writes);

  [[nodiscard]] Completion issue(OperationKind kind, const Descriptor& descriptor, SourceLocation where);
  [[nodiscard]] Completion issue(OperationKind kind, const Descriptor& descriptor, Cycles cost, SourceLocation where);
  void check_call(Engine engine, const Call& call, SourceLocation where) const;

  // Messages.
  void check_send(Direction direction, const std::vector<Tensor>& tensors, SourceLocation where);
  [[nodiscard]] Tensor receive(OperationKind kind, Direction direction, const Shape& shape, DType dtype,
                               SourceLocation where);

  // Transfers.
  struct Transfer {
    HbmRegion region;
    ScratchOperand local;
    std::int32_t valid_rows = 0;
    std::int32_t valid_cols = 0;
  };
  // All bytes of HBM that a transfer or a composite touches must have addresses.
  void check_stride(const char* operation, std::int64_t stride, const Shape& shape, DType dtype,
                    SourceLocation where) const;
  void check_region(const char* operation, const HbmRegion& region, const Shape& shape, DType dtype,
                    SourceLocation where) const;
  [[nodiscard]] Transfer plan_transfer(const char* operation, HbmAddress address, const Tensor& tensor,
                                       const TransferExtent& extent, SourceLocation where) const;

  // Computations.
  [[nodiscard]] Tensor result(const char* operation, const Shape& shape, DType dtype, const Out& out,
                              SourceLocation where);
  void check_dot(const Tensor& a, const Tensor& b, SourceLocation where) const;
  void check_product(const char* operation, const Shape& a, DType type_of_a, const Shape& b, DType type_of_b,
                     SourceLocation where) const;
  [[nodiscard]] Tensor issue_dot(const Tensor& a, const Tensor& b, const Tensor& target, bool accumulate,
                                 SourceLocation where);
  template <MathOp op, typename... Operands>
  Tensor elementwise(const Out& out, const Operands&... operands) {
    static_assert(math_operation(op).kind == MathKind::elementwise, "see its row");
    static_assert(math_operation(op).operands == sizeof...(operands), "its row says how many operands it takes");
    const std::array<const Operand*, sizeof...(operands)> pointers{&operands...};
    return issue_elementwise(op, pointers, result_type(op, pointers.data(), pointers.size()), out);
  }
  template <MathOp op>
  Tensor reduce(const Out& out, const Operand& x, int axis, bool keep_dims) {
    static_assert(is_reduction(op), "see its row");
    return issue_reduction(op, x, axis, keep_dims, out);
  }
  /// Broadcast, hazards, issue.
  template <std::size_t count>
  Tensor issue_elementwise(MathOp op, const std::array<const Operand*, count>& operands, DType result_type,
                           const Out& out);
  Tensor issue_reduction(MathOp op, const Operand& x, int axis, bool keep_dims, const Out& out);
  Tensor fill_with(MathOp op, const Tensor& tensor, double value, SourceLocation where);
  /// The type of the result for these operands; an error if the operation does not take their types.
  [[nodiscard]] DType result_type(MathOp op, const Operand* const* operands, std::size_t count) const;
  [[nodiscard]] DType chosen_type(MathOp op, const Operand* const* operands) const;
  [[nodiscard]] DType promote(MathOp op, const Operand* const* operands, std::size_t count) const;
  [[nodiscard]] Tensor broadcast(const char* operation, const Tensor& x, const Shape& shape,
                                 SourceLocation where) const;

  // Composites.
  [[nodiscard]] Staging make_staging(const char* asked_by, Bytes slot_bytes, SourceLocation where);
  void check_factors(const CompositeOperand& a, const CompositeOperand& b, const CompositeOptions& options,
                     SourceLocation where) const;
  [[nodiscard]] const Tensor& composite_target(const CompositeOperand& a, const CompositeOperand& b,
                                               const CompositeOptions& options, SourceLocation where) const;
  [[nodiscard]] CompositeStep composite_step(const CompositeOptions& options, std::size_t index, const Tensor& target,
                                             SourceLocation where) const;
  [[nodiscard]] static CompositeFactor composite_factor(const CompositeOperand& operand);
  [[nodiscard]] Staging staging_for(const CompositeDescriptor& composite, const CompositeOptions& options,
                                    SourceLocation where);
  void take_slots(const Staging& staging, CompositeDescriptor& composite);

  Pe& pe_;
  Policy policy_;
  ProgramPosition program_;
  ScratchArena arena_;
  MemoryOrder memory_order_;
};

template <typename Subject>
void Context::require(bool condition, const char* operation, SourceLocation where, const char* message,
                      const Subject& subject) const {
  if (!condition) fail(operation, where, message + (": " + to_string(subject)));
}

/// See `Context::make_tensor_descriptor`.
class TensorDescriptor {
 public:
  /// The block whose first element is (row, col) of the matrix; elements outside the matrix are 0.
  Tensor load(const std::array<std::int64_t, 2>& offset, SourceLocation where = SourceLocation::current()) const;
  /// Writes the part of the block that lies inside the matrix.
  Pending store(const std::array<std::int64_t, 2>& offset, const Tensor& block,
                SourceLocation where = SourceLocation::current()) const;

 private:
  friend class Context;
  TensorDescriptor(Context& context, HbmAddress base, const Shape& shape, const std::array<std::int64_t, 2>& strides,
                   const Shape& block, DType dtype)
      : context_(context), base_(base), shape_(shape), strides_(strides), block_(block), dtype_(dtype) {}

  [[nodiscard]] Shape inside(const std::array<std::int64_t, 2>& offset) const;
  [[nodiscard]] HbmAddress address(const std::array<std::int64_t, 2>& offset) const;

  Context& context_;
  HbmAddress base_;
  Shape shape_;
  std::array<std::int64_t, 2> strides_;
  Shape block_;
  DType dtype_;
};

// Operators. At least one side is a tensor.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Operand& x);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator~(const Operand& x);

}  // namespace kernwave::tl
