// Tensors of the kernel language: views of scratch buffers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/tl/shape.h"
#include "models/base/address.h"
#include "models/base/dtype.h"
#include "models/protocol/descriptor.h"

namespace kernwave::tl {

class Context;

/// Names a buffer of a PE's scratch; the generation tells a buffer from a later one in the same slot.
struct BufferId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  friend constexpr bool operator==(BufferId a, BufferId b) noexcept {
    return a.slot == b.slot && a.generation == b.generation;
  }
};

/// A handle that is cheap to copy: copies name the same bytes. The buffer records its pending operation, and the first
/// operation that uses the tensor waits for it. The use of a tensor after the end of its scope is an error.
class Tensor {
 public:
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  /// The stride along an axis, in elements; 0 along a broadcast axis.
  [[nodiscard]] std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] ScratchAddress address() const noexcept { return address_; }

  /// This tensor in another type (MATH cast; itself when the type is the same).
  [[nodiscard]] Tensor to(DType dtype, SourceLocation where = SourceLocation::current()) const;

 private:
  friend class Context;
  Tensor(Context& context, BufferId buffer, ScratchAddress address, const Shape& shape,
         std::array<std::int64_t, 2> strides, DType dtype) noexcept
      : context_(&context), buffer_(buffer), address_(address), shape_(shape), strides_(strides), dtype_(dtype) {}

  /// The view as the hardware sees it.
  [[nodiscard]] ScratchOperand operand() const noexcept;
  [[nodiscard]] bool contiguous() const noexcept;

  Context* context_;
  BufferId buffer_;
  ScratchAddress address_;
  Shape shape_;
  std::array<std::int64_t, 2> strides_{};
  DType dtype_;
};

/// "128x64 f16"
[[nodiscard]] std::string to_string(const Tensor& tensor);

}  // namespace kernwave::tl
