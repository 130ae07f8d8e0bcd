// The operand of an operation: a tensor or a number, with the place in the source where it was given.
#pragma once

#include <string>
#include <type_traits>

#include "kernels/tl/tensor.h"

namespace kernwave::tl {

/// Converts from a tensor or a number. The conversion happens at the call, and records the call's line; an operator has
/// no other way to learn its line. A number takes the type of the tensor that it meets (a fraction with an integer
/// tensor: f32). For use as a parameter only: an Operand refers to the tensor, and lives as long as the call.
class Operand {
 public:
  Operand(const Tensor& tensor,  // NOLINT(google-explicit-constructor): converting is its purpose
          SourceLocation where = SourceLocation::current()) noexcept
      : tensor_(&tensor), where_(where) {}

  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Operand(Number number,  // NOLINT(google-explicit-constructor): converting is its purpose
          SourceLocation where = SourceLocation::current()) noexcept
      : number_(static_cast<double>(number)), integral_(std::is_integral_v<Number>), where_(where) {}

  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() = default;

  [[nodiscard]] bool is_tensor() const noexcept { return tensor_ != nullptr; }
  [[nodiscard]] const Tensor& tensor() const noexcept { return *tensor_; }
  [[nodiscard]] double number() const noexcept { return number_; }
  [[nodiscard]] bool is_integral_number() const noexcept { return integral_; }
  [[nodiscard]] SourceLocation where() const noexcept { return where_; }

 private:
  const Tensor* tensor_ = nullptr;
  double number_ = 0.0;
  bool integral_ = false;
  SourceLocation where_;
};

/// "128x64 f16" or "0.5"
[[nodiscard]] std::string to_string(const Operand& operand);

}  // namespace kernwave::tl
