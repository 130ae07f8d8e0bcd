// Optional arguments of the kernel language: `tl::into(buffer).valid(r, c)`, `tl::out(tensor)`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/tl/shape.h"
#include "kernels/tl/tensor.h"

namespace kernwave::tl {

/// The extent of a transfer in either direction.
struct TransferExtent {
  /// HBM strides in elements, one for each axis; the innermost stride of a matrix must be 1. Default: row-major, dense.
  std::optional<std::array<std::int64_t, 2>> strides;
  /// The leading part that exists in HBM. Default: all of the shape.
  std::optional<Shape> valid;
};

/// Options of a load.
class LoadOptions {
 public:
  /// Loads into this tensor instead of a new one; shapes and types must agree.
  LoadOptions into(const Tensor& tensor) const {
    LoadOptions copy = *this;
    copy.into_ = tensor;
    return copy;
  }
  LoadOptions strides(std::int64_t outer, std::int64_t inner = 1) const {
    LoadOptions copy = *this;
    copy.extent_.strides = {outer, inner};
    return copy;
  }
  /// Only the leading rows and columns are read; the rest is `other`, or poison.
  LoadOptions valid(const Shape& shape) const {
    LoadOptions copy = *this;
    copy.extent_.valid = shape;
    return copy;
  }
  /// The value of the elements outside the valid part.
  LoadOptions other(float value) const {
    LoadOptions copy = *this;
    copy.other_ = value;
    return copy;
  }

  [[nodiscard]] const TransferExtent& extent() const noexcept { return extent_; }
  [[nodiscard]] const std::optional<Tensor>& into() const noexcept { return into_; }
  [[nodiscard]] std::optional<float> other() const noexcept { return other_; }

 private:
  TransferExtent extent_;
  std::optional<Tensor> into_;
  std::optional<float> other_;
};

/// Options of a store.
class StoreOptions {
 public:
  StoreOptions strides(std::int64_t outer, std::int64_t inner = 1) const {
    StoreOptions copy = *this;
    copy.extent_.strides = {outer, inner};
    return copy;
  }
  /// Only the leading rows and columns are written; the rest of HBM is not touched.
  StoreOptions valid(const Shape& shape) const {
    StoreOptions copy = *this;
    copy.extent_.valid = shape;
    return copy;
  }

  [[nodiscard]] const TransferExtent& extent() const noexcept { return extent_; }

 private:
  TransferExtent extent_;
};

/// The place of a computation's result: an existing tensor (shape and type must agree) or a new one.
class Out {
 public:
  Out() = default;
  explicit Out(const Tensor& tensor) : tensor_(tensor) {}
  [[nodiscard]] const std::optional<Tensor>& tensor() const noexcept { return tensor_; }

 private:
  std::optional<Tensor> tensor_;
};

[[nodiscard]] inline LoadOptions into(const Tensor& tensor) { return LoadOptions().into(tensor); }
[[nodiscard]] inline Out out(const Tensor& tensor) { return Out(tensor); }

}  // namespace kernwave::tl
