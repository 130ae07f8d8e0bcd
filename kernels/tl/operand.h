// What an operation takes: a tensor or a number, with the place in the source where it was given.
#pragma once

#include <optional>
#include <type_traits>

#include "kernels/tl/tensor.h"

namespace kernwave::tl {

/// Converts from a tensor or a number. Being converted at the call, it knows the call's line, which an operator has no
/// other way to learn. A number takes the type of the tensor that it meets (a fraction with an integer tensor: f32).
class Operand {
 public:
  Operand(const Tensor& tensor, SourceLocation where = SourceLocation::current()) : tensor_(tensor), where_(where) {}

  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Operand(Number number, SourceLocation where = SourceLocation::current())
      : number_(static_cast<double>(number)), integral_(std::is_integral_v<Number>), where_(where) {}

  [[nodiscard]] bool is_tensor() const noexcept { return tensor_.has_value(); }
  [[nodiscard]] const Tensor& tensor() const { return *tensor_; }
  [[nodiscard]] double number() const noexcept { return number_; }
  [[nodiscard]] bool is_integral_number() const noexcept { return integral_; }
  [[nodiscard]] SourceLocation where() const noexcept { return where_; }

 private:
  std::optional<Tensor> tensor_;
  double number_ = 0.0;
  bool integral_ = false;
  SourceLocation where_;
};

}  // namespace kernwave::tl
