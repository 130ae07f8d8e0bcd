// The operands of a composite: matrices in HBM that are streamed, a staging area, an epilogue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/tl/shape.h"
#include "kernels/tl/tensor.h"
#include "models/base/address.h"
#include "models/base/dtype.h"
#include "models/protocol/descriptor.h"

namespace kernwave::tl {

using kernwave::CompositeAxis;
using kernwave::MathOp;

/// Options of a matrix in HBM.
class RefOptions {
 public:
  /// HBM elements from row to row; default: dense.
  RefOptions strides(std::int64_t outer) const {
    RefOptions copy = *this;
    copy.stride_ = outer;
    return copy;
  }
  /// Only the leading rows exist; the rows behind them read as 0.
  RefOptions valid(std::int64_t rows) const {
    RefOptions copy = *this;
    copy.valid_ = rows;
    return copy;
  }

  [[nodiscard]] std::optional<std::int64_t> stride() const noexcept { return stride_; }
  [[nodiscard]] std::optional<std::int64_t> valid() const noexcept { return valid_; }

 private:
  std::optional<std::int64_t> stride_;
  std::optional<std::int64_t> valid_;
};

/// A matrix in HBM, to be streamed by a composite. It holds no data and no scratch.
class Ref {
 public:
  /// The shape as a factor: rows x columns after `trans`.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }

 private:
  friend class Context;
  Ref(HbmAddress base, const Shape& shape, DType dtype, std::int64_t stride, std::int64_t stored_rows) noexcept
      : base_(base), shape_(shape), dtype_(dtype), stride_(stride), stored_rows_(stored_rows) {}

  HbmAddress base_;
  Shape shape_;
  DType dtype_;
  std::int64_t stride_;       // of what is stored
  std::int64_t stored_rows_;  // that exist
  bool transposed_ = false;
};

/// A factor of a composite: a tensor or a Ref. For use as a parameter only: the object refers to its factor, and lives
/// as long as the call.
class CompositeOperand {
 public:
  CompositeOperand(const Tensor& tensor) noexcept  // NOLINT(google-explicit-constructor): converting is its purpose
      : tensor_(&tensor) {}
  CompositeOperand(const Ref& ref) noexcept  // NOLINT(google-explicit-constructor): converting is its purpose
      : ref_(&ref) {}
  CompositeOperand(const CompositeOperand&) = delete;
  CompositeOperand& operator=(const CompositeOperand&) = delete;
  ~CompositeOperand() = default;

  [[nodiscard]] bool is_ref() const noexcept { return ref_ != nullptr; }
  [[nodiscard]] const Ref& ref() const noexcept { return *ref_; }
  [[nodiscard]] const Tensor& tensor() const noexcept { return *tensor_; }
  [[nodiscard]] const Shape& shape() const noexcept { return is_ref() ? ref_->shape() : tensor_->shape(); }
  [[nodiscard]] DType dtype() const noexcept { return is_ref() ? ref_->dtype() : tensor_->dtype(); }

 private:
  const Tensor* tensor_ = nullptr;
  const Ref* ref_ = nullptr;
};

/// Scratch through which composites stream their tiles: `pe.scheduler.prefetch_depth` slots, used in turn.
class Staging {
 private:
  friend class Context;
  Staging(Context& context, BufferId buffer, Bytes slot_bytes) noexcept
      : context_(&context), buffer_(buffer), slot_bytes_(slot_bytes) {}

  Context* context_;
  BufferId buffer_;
  Bytes slot_bytes_;
};

/// The options of a composite: its tiles, the place of its result, and its epilogue.
class CompositeOptions {
 public:
  /// A step of the epilogue: x = op(x), op(x, number) or op(x, tensor).
  struct Step {
    MathOp op = MathOp::copy;
    std::optional<double> number;
    std::optional<Tensor> tensor;
  };

  /// The result: M x N f32, or f16 or bf16 if the epilogue ends with a cast.
  CompositeOptions out(const Tensor& tensor) const {
    CompositeOptions copy = *this;
    copy.out_ = tensor;
    return copy;
  }
  /// The result, M x N f32, to which the product is added.
  CompositeOptions acc(const Tensor& tensor) const {
    CompositeOptions copy = *this;
    copy.acc_ = tensor;
    return copy;
  }
  /// Extent of a tile along the axis; default: all of it.
  CompositeOptions tile(std::int64_t extent) const {
    CompositeOptions copy = *this;
    copy.tile_ = extent;
    return copy;
  }
  /// The axis that is cut into tiles; default: n.
  CompositeOptions along(CompositeAxis axis) const {
    CompositeOptions copy = *this;
    copy.axis_ = axis;
    return copy;
  }
  CompositeOptions then(MathOp op) const { return with(Step{op, std::nullopt, std::nullopt}); }
  CompositeOptions then(MathOp op, double number) const { return with(Step{op, number, std::nullopt}); }
  /// A tensor that broadcasts to M x N.
  CompositeOptions then(MathOp op, const Tensor& tensor) const { return with(Step{op, std::nullopt, tensor}); }
  /// Tiles pass through this staging area; default: one of the composite's own in the current scope.
  CompositeOptions through(const Staging& staging) const {
    CompositeOptions copy = *this;
    copy.staging_ = staging;
    return copy;
  }

  [[nodiscard]] const std::optional<Tensor>& out() const noexcept { return out_; }
  [[nodiscard]] const std::optional<Tensor>& acc() const noexcept { return acc_; }
  [[nodiscard]] std::optional<std::int64_t> tile() const noexcept { return tile_; }
  [[nodiscard]] CompositeAxis axis() const noexcept { return axis_; }
  [[nodiscard]] const std::optional<Staging>& staging() const noexcept { return staging_; }
  /// The number of steps given. Only `max_composite_steps` of them are kept; `Context` refuses more.
  [[nodiscard]] std::size_t step_count() const noexcept { return step_count_; }
  [[nodiscard]] const Step& step(std::size_t index) const { return *steps_.at(index); }

 private:
  CompositeOptions with(const Step& step) const {
    CompositeOptions copy = *this;
    if (step_count_ < steps_.size()) copy.steps_[step_count_] = step;
    ++copy.step_count_;
    return copy;
  }

  std::optional<Tensor> out_;
  std::optional<Tensor> acc_;
  std::optional<std::int64_t> tile_;
  CompositeAxis axis_ = CompositeAxis::n;
  std::optional<Staging> staging_;
  std::array<std::optional<Step>, max_composite_steps> steps_;
  std::size_t step_count_ = 0;
};

}  // namespace kernwave::tl
