// Element types of tensors.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/quantity.h"

namespace kernwave {

/// Storage types. Arithmetic on f16 and bf16 is carried out in f32; `boolean` is one byte, 0 or 1.
enum class DType : std::uint8_t { f32, f16, bf16, int32, boolean };
inline constexpr std::size_t dtype_count = 5;

[[nodiscard]] constexpr std::int64_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
    case DType::int32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::boolean:
      return 1;
  }
  return 0;
}

[[nodiscard]] constexpr std::string_view name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::int32:
      return "int32";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

[[nodiscard]] constexpr bool is_float(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

}  // namespace kernwave
