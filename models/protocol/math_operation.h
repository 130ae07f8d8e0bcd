// The MATH operations: one row each says everything that is known of an operation. To add one, add its enumerator and
// its row, and the function of the kernel language (kernels/tl/context.h); docs/extending.md shows it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "models/base/quantity.h"
#include "models/config/system_config.h"

namespace kernwave {

enum class MathOp : std::uint8_t {
  add,
  sub,
  mul,
  div,
  floor_div,
  fma,
  maximum,
  minimum,
  neg,
  abs,
  exp,
  exp2,
  log,
  log2,
  sqrt,
  rsqrt,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
  where,
  cast,
  copy,
  fill,
  arange,
  reduce_sum,
  reduce_max,
  reduce_min,
};

/// The elements to which an operation's function is applied.
enum class MathKind : std::uint8_t {
  elementwise,  ///< out[i, j] = f(in[0][i, j], in[1][i, j], ...): 1 to 3 operands, each a tensor or a number
  generator,    ///< out[i, j] = f(number, j)
  reduction,    ///< out = f(f(in[0], in[1]), in[2]) ... along an axis of one tensor, in ascending order
};

/// The types that an operation takes, and that of its result. Mixed types promote to the wider one, numbers take the
/// type of the tensor that they meet.
enum class MathTypes : std::uint8_t {
  numbers,   ///< any but booleans alone; the promoted type
  quotient,  ///< any but booleans alone; the promoted type, of integers f32
  integers,  ///< integers; int32
  floats,    ///< tensors of float types, and numbers; the promoted type
  booleans,  ///< booleans; boolean
  compared,  ///< any; boolean
  chosen,    ///< a boolean and any two; the promoted type of the two
  given,     ///< any; the type that the kernel names
  kept,      ///< any; its type
  counted,   ///< any; its type, of booleans int32
};

/// Whether an operation may be a step of a composite's epilogue.
enum class MathStep : std::uint8_t {
  no,
  yes,   ///< with one operand of its own if it has two
  last,  ///< as the last one
};

/// The properties of an operation, except its function.
struct MathOperation {
  MathOp op;
  std::string_view name;  ///< in logs, traces and errors; that of the kernel language's function
  MathKind kind;
  std::uint8_t operands;
  Cycles MathCycles::*cycles;  ///< of one vector
  MathTypes types;
  MathStep step;
};

/// A row: an operation, and its function of single elements. Floats are computed in f32. A command of which every
/// tensor and number is an integer or a boolean is computed in 64-bit integers, unless its types are floats or
/// quotient.
template <typename Function>
struct MathRow {
  MathOperation operation;
  Function function;
};

namespace math_rows {

template <typename Function>
[[nodiscard]] constexpr std::uint8_t operands_of() noexcept {
  if (std::is_invocable_v<Function, float>) return 1;
  if (std::is_invocable_v<Function, float, float>) return 2;
  return std::is_invocable_v<Function, float, float, float> ? 3 : 0;
}

/// `function` takes one element of each operand.
template <typename Function>
[[nodiscard]] constexpr MathRow<Function> elementwise(MathOp op, std::string_view name, Cycles MathCycles::*cycles,
                                                      MathTypes types, MathStep step, Function function) noexcept {
  return {{op, name, MathKind::elementwise, operands_of<Function>(), cycles, types, step}, function};
}

/// `function` takes the number and the column.
template <typename Function>
[[nodiscard]] constexpr MathRow<Function> generator(MathOp op, std::string_view name, Cycles MathCycles::*cycles,
                                                    Function function) noexcept {
  static_assert(std::is_invocable_v<Function, float, float>);
  return {{op, name, MathKind::generator, 1, cycles, MathTypes::given, MathStep::no}, function};
}

/// `function` takes the result of the elements so far, and the next element.
template <typename Function>
[[nodiscard]] constexpr MathRow<Function> reduction(MathOp op, std::string_view name, Cycles MathCycles::*cycles,
                                                    MathTypes types, Function function) noexcept {
  static_assert(std::is_invocable_v<Function, float, float>);
  return {{op, name, MathKind::reduction, 1, cycles, types, MathStep::no}, function};
}

template <typename T>
[[nodiscard]] bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

/// The other operand if one is NaN.
template <typename T>
[[nodiscard]] T larger(T a, T b) noexcept {
  return a > b || is_nan(b) ? a : b;
}

template <typename T>
[[nodiscard]] T smaller(T a, T b) noexcept {
  return a < b || is_nan(b) ? a : b;
}

/// Towards minus infinity. A division of integers by 0 gives 0.
template <typename T>
[[nodiscard]] T floor_divide(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  } else {
    return std::floor(a / b);
  }
}

/// All rows, in the order of the enumerators.
inline constexpr auto table = std::make_tuple(
    elementwise(MathOp::add, "add", &MathCycles::add, MathTypes::numbers, MathStep::yes,
                [](auto a, auto b) { return a + b; }),
    elementwise(MathOp::sub, "sub", &MathCycles::add, MathTypes::numbers, MathStep::yes,
                [](auto a, auto b) { return a - b; }),
    elementwise(MathOp::mul, "mul", &MathCycles::mul, MathTypes::numbers, MathStep::yes,
                [](auto a, auto b) { return a * b; }),
    elementwise(MathOp::div, "div", &MathCycles::div, MathTypes::quotient, MathStep::yes,
                [](float a, float b) { return a / b; }),
    elementwise(MathOp::floor_div, "floor_div", &MathCycles::div, MathTypes::integers, MathStep::no,
                [](auto a, auto b) { return floor_divide(a, b); }),
    elementwise(MathOp::fma, "fma", &MathCycles::fma, MathTypes::numbers, MathStep::no,
                [](auto a, auto b, auto c) { return a * b + c; }),
    elementwise(MathOp::maximum, "maximum", &MathCycles::max, MathTypes::numbers, MathStep::yes,
                [](auto a, auto b) { return larger(a, b); }),
    elementwise(MathOp::minimum, "minimum", &MathCycles::max, MathTypes::numbers, MathStep::yes,
                [](auto a, auto b) { return smaller(a, b); }),
    elementwise(MathOp::neg, "neg", &MathCycles::add, MathTypes::numbers, MathStep::yes, [](auto x) { return -x; }),
    elementwise(MathOp::abs, "abs", &MathCycles::max, MathTypes::numbers, MathStep::yes,
                [](auto x) { return std::abs(x); }),
    elementwise(MathOp::exp, "exp", &MathCycles::exp, MathTypes::floats, MathStep::yes,
                [](float x) { return std::exp(x); }),
    elementwise(MathOp::exp2, "exp2", &MathCycles::exp, MathTypes::floats, MathStep::yes,
                [](float x) { return std::exp2(x); }),
    elementwise(MathOp::log, "log", &MathCycles::log, MathTypes::floats, MathStep::yes,
                [](float x) { return std::log(x); }),
    elementwise(MathOp::log2, "log2", &MathCycles::log, MathTypes::floats, MathStep::yes,
                [](float x) { return std::log2(x); }),
    elementwise(MathOp::sqrt, "sqrt", &MathCycles::rsqrt, MathTypes::floats, MathStep::yes,
                [](float x) { return std::sqrt(x); }),
    elementwise(MathOp::rsqrt, "rsqrt", &MathCycles::rsqrt, MathTypes::floats, MathStep::yes,
                [](float x) { return 1.0F / std::sqrt(x); }),
    elementwise(MathOp::less, "less", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a < b; }),
    elementwise(MathOp::less_equal, "less_equal", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a <= b; }),
    elementwise(MathOp::greater, "greater", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a > b; }),
    elementwise(MathOp::greater_equal, "greater_equal", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a >= b; }),
    elementwise(MathOp::equal, "equal", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a == b; }),
    elementwise(MathOp::not_equal, "not_equal", &MathCycles::compare, MathTypes::compared, MathStep::no,
                [](auto a, auto b) { return a != b; }),
    elementwise(MathOp::logical_and, "logical_and", &MathCycles::compare, MathTypes::booleans, MathStep::no,
                [](auto a, auto b) { return a != 0 && b != 0; }),
    elementwise(MathOp::logical_or, "logical_or", &MathCycles::compare, MathTypes::booleans, MathStep::no,
                [](auto a, auto b) { return a != 0 || b != 0; }),
    elementwise(MathOp::logical_not, "logical_not", &MathCycles::compare, MathTypes::booleans, MathStep::no,
                [](auto x) { return x == 0; }),
    elementwise(MathOp::where, "where", &MathCycles::where, MathTypes::chosen, MathStep::no,
                [](auto condition, auto x, auto y) { return condition != 0 ? x : y; }),
    elementwise(MathOp::cast, "cast", &MathCycles::cast, MathTypes::given, MathStep::last, [](auto x) { return x; }),
    elementwise(MathOp::copy, "copy", &MathCycles::copy, MathTypes::given, MathStep::no, [](auto x) { return x; }),
    generator(MathOp::fill, "fill", &MathCycles::copy, [](auto value, auto /*column*/) { return value; }),
    generator(MathOp::arange, "arange", &MathCycles::copy, [](auto first, auto column) { return first + column; }),
    reduction(MathOp::reduce_sum, "sum", &MathCycles::add, MathTypes::counted, [](auto a, auto b) { return a + b; }),
    reduction(MathOp::reduce_max, "max", &MathCycles::max, MathTypes::kept,
              [](auto a, auto b) { return larger(a, b); }),
    reduction(MathOp::reduce_min, "min", &MathCycles::max, MathTypes::kept,
              [](auto a, auto b) { return smaller(a, b); }));

}  // namespace math_rows

inline constexpr std::size_t math_op_count = std::tuple_size_v<decltype(math_rows::table)>;

/// The properties of each operation, in the order of the enumerators.
inline constexpr std::array<MathOperation, math_op_count> math_operations = std::apply(
    [](const auto&... rows) { return std::array<MathOperation, math_op_count>{rows.operation...}; }, math_rows::table);

/// In a constant expression, an operation without a row does not compile.
[[nodiscard]] constexpr const MathOperation& math_operation(MathOp op) noexcept {
  return math_operations[static_cast<std::size_t>(op)];
}

[[nodiscard]] constexpr std::string_view name_of(MathOp op) noexcept { return math_operation(op).name; }

[[nodiscard]] constexpr bool is_reduction(MathOp op) noexcept { return math_operation(op).kind == MathKind::reduction; }

/// Whether a command of integers alone is computed in integers.
[[nodiscard]] constexpr bool computes_integers(MathTypes types) noexcept {
  return types != MathTypes::floats && types != MathTypes::quotient;
}

namespace math_rows {

[[nodiscard]] constexpr bool in_order() noexcept {
  for (std::size_t i = 0; i < math_op_count; ++i) {
    if (math_operations[i].op != static_cast<MathOp>(i)) return false;
  }
  return true;
}

[[nodiscard]] constexpr bool named_uniquely() noexcept {
  for (std::size_t i = 0; i < math_op_count; ++i) {
    if (math_operations[i].name.empty()) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (math_operations[i].name == math_operations[j].name) return false;
    }
  }
  return true;
}

/// Each takes 1 to 3 operands, as many as its types speak of.
[[nodiscard]] constexpr bool of_legal_operands() noexcept {
  for (const MathOperation& row : math_operations) {
    if (row.operands < 1 || row.operands > 3 || row.cycles == nullptr) return false;
    if (row.types == MathTypes::chosen && row.operands != 3) return false;
    const bool of_one =
        row.types == MathTypes::given || row.types == MathTypes::kept || row.types == MathTypes::counted;
    if (of_one && row.operands != 1) return false;
  }
  return true;
}

/// A step works in place on f32: on the result, and on at most one operand besides.
[[nodiscard]] constexpr bool of_legal_steps() noexcept {
  for (const MathOperation& row : math_operations) {
    if (row.step == MathStep::no) continue;
    if (row.kind != MathKind::elementwise || row.operands > 2) return false;
    const bool keeps_f32 =
        row.types == MathTypes::numbers || row.types == MathTypes::quotient || row.types == MathTypes::floats;
    if (row.step == MathStep::last ? row.types != MathTypes::given : !keeps_f32) return false;
  }
  return true;
}

static_assert(in_order(), "rows stand in the order of the enumerators, one for each");
static_assert(named_uniquely(), "every row has a name of its own");
static_assert(of_legal_operands(), "a function takes 1 to 3 elements, as many as its types speak of");
static_assert(of_legal_steps(), "a step of a composite takes f32 and at most one operand, and gives f32");

}  // namespace math_rows

}  // namespace kernwave
