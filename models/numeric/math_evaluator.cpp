#include "models/numeric/math_evaluator.h"

#include <cmath>
#include <type_traits>

namespace kernwave::numeric {

namespace {

template <typename T>
[[nodiscard]] bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <typename T>
[[nodiscard]] T larger(T a, T b) noexcept {
  return a > b || is_nan(b) ? a : b;
}

template <typename T>
[[nodiscard]] T smaller(T a, T b) noexcept {
  return a < b || is_nan(b) ? a : b;
}

/// Towards minus infinity; integers only, and a division by 0 gives 0.
template <typename T>
[[nodiscard]] T floor_divide(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  } else {
    return std::floor(a / b);
  }
}

template <typename T, typename Function>
void each(const T* a, T* out, std::int64_t n, Function function) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = function(a[i]);
}

template <typename T, typename Function>
void each(const T* a, const T* b, T* out, std::int64_t n, Function function) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(function(a[i], b[i]));
}

/// Operations that exist for floats only.
void apply_float(MathOp op, const std::array<const float*, 3>& in, float* out, std::int64_t n) {
  const float* a = in[0];
  switch (op) {
    case MathOp::div:
      return each(a, in[1], out, n, [](float x, float y) { return x / y; });
    case MathOp::exp:
      return each(a, out, n, [](float x) { return std::exp(x); });
    case MathOp::exp2:
      return each(a, out, n, [](float x) { return std::exp2(x); });
    case MathOp::log:
      return each(a, out, n, [](float x) { return std::log(x); });
    case MathOp::log2:
      return each(a, out, n, [](float x) { return std::log2(x); });
    case MathOp::sqrt:
      return each(a, out, n, [](float x) { return std::sqrt(x); });
    case MathOp::rsqrt:
      return each(a, out, n, [](float x) { return 1.0F / std::sqrt(x); });
    default:
      return;
  }
}

template <typename T>
void apply(MathOp op, const std::array<const T*, 3>& in, T* out, std::int64_t n) {
  const T* a = in[0];
  const T* b = in[1];
  switch (op) {
    case MathOp::add:
      return each(a, b, out, n, [](T x, T y) { return x + y; });
    case MathOp::sub:
      return each(a, b, out, n, [](T x, T y) { return x - y; });
    case MathOp::mul:
      return each(a, b, out, n, [](T x, T y) { return x * y; });
    case MathOp::fma:
      for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] * b[i] + in[2][i];
      return;
    case MathOp::maximum:
      return each(a, b, out, n, larger<T>);
    case MathOp::minimum:
      return each(a, b, out, n, smaller<T>);
    case MathOp::floor_div:
      return each(a, b, out, n, floor_divide<T>);
    case MathOp::neg:
      return each(a, out, n, [](T x) { return -x; });
    case MathOp::abs:
      return each(a, out, n, [](T x) { return std::abs(x); });
    case MathOp::less:
      return each(a, b, out, n, [](T x, T y) { return x < y ? 1 : 0; });
    case MathOp::less_equal:
      return each(a, b, out, n, [](T x, T y) { return x <= y ? 1 : 0; });
    case MathOp::greater:
      return each(a, b, out, n, [](T x, T y) { return x > y ? 1 : 0; });
    case MathOp::greater_equal:
      return each(a, b, out, n, [](T x, T y) { return x >= y ? 1 : 0; });
    case MathOp::equal:
      return each(a, b, out, n, [](T x, T y) { return x == y ? 1 : 0; });
    case MathOp::not_equal:
      return each(a, b, out, n, [](T x, T y) { return x != y ? 1 : 0; });
    case MathOp::logical_and:
      return each(a, b, out, n, [](T x, T y) { return x != 0 && y != 0 ? 1 : 0; });
    case MathOp::logical_or:
      return each(a, b, out, n, [](T x, T y) { return x != 0 || y != 0 ? 1 : 0; });
    case MathOp::logical_not:
      return each(a, out, n, [](T x) { return static_cast<T>(x == 0 ? 1 : 0); });
    case MathOp::where:
      for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] != 0 ? b[i] : in[2][i];
      return;
    case MathOp::cast:
    case MathOp::copy:
    case MathOp::fill:
      return each(a, out, n, [](T x) { return x; });
    case MathOp::arange:
      for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + static_cast<T>(i);
      return;
    default:
      if constexpr (std::is_same_v<T, float>) apply_float(op, in, out, n);
      return;
  }
}

template <typename T>
[[nodiscard]] T combine(MathOp op, T a, T b) noexcept {
  switch (op) {
    case MathOp::reduce_max:
      return larger(a, b);
    case MathOp::reduce_min:
      return smaller(a, b);
    default:
      return a + b;
  }
}

/// Whether int32 holds the number: not so of fractions, infinities and NaN.
[[nodiscard]] bool is_int32(double number) noexcept {
  return number >= -2147483648.0 && number <= 2147483647.0 && number == std::trunc(number);
}

/// A cast rounds from the input's domain, so a float on either side makes it a float operation; so does a number that
/// int32 does not hold (`i < 0.5`).
[[nodiscard]] bool all_integers(const MathDescriptor& math, const TensorBytes& out) {
  for (std::size_t i = 0; i < math.inputs; ++i) {
    const MathOperand& in = math.in[i];
    if (in.is_immediate ? !is_int32(in.immediate) : is_float(in.tensor.dtype)) return false;
  }
  return !is_float(out.view.dtype);
}

}  // namespace

template <typename T>
void MathEvaluator::elementwise(const MathDescriptor& math, const TensorBytes& out,
                                const std::array<TensorBytes, 3>& in, Rows<T>& rows) {
  const auto cols = static_cast<std::size_t>(out.view.cols);
  rows.out.resize(cols);
  std::array<const T*, 3> operands{};
  for (std::size_t i = 0; i < math.inputs; ++i) {
    rows.in[i].assign(cols, math.in[i].is_immediate ? static_cast<T>(math.in[i].immediate) : T{});
    operands[i] = rows.in[i].data();
  }
  for (std::int64_t row = 0; row < out.view.rows; ++row) {
    for (std::size_t i = 0; i < math.inputs; ++i) {
      if (!math.in[i].is_immediate) read_row(in[i], row, rows.in[i].data());
    }
    apply<T>(math.op, operands, rows.out.data(), out.view.cols);
    write_row(out, row, rows.out.data());
  }
}

template <typename T>
void MathEvaluator::reduce(const MathDescriptor& math, const TensorBytes& out, const TensorBytes& in, Rows<T>& rows) {
  const auto cols = static_cast<std::size_t>(in.view.cols);
  std::vector<T>& line = rows.in[0];
  line.resize(cols);
  if (math.axis == 1) {
    for (std::int64_t row = 0; row < in.view.rows; ++row) {
      read_row(in, row, line.data());
      T result = line[0];
      for (std::size_t col = 1; col < cols; ++col) result = combine(math.op, result, line[col]);
      TensorBytes element = out;  // the results stand along the output's rows, or its columns when the axis is dropped
      element.data = out.view.rows == 1 ? out.element(0, row) : out.element(row, 0);
      element.view.rows = 1;
      element.view.cols = 1;
      write_row(element, 0, &result);
    }
    return;
  }
  rows.out.resize(cols);
  read_row(in, 0, rows.out.data());
  for (std::int64_t row = 1; row < in.view.rows; ++row) {
    read_row(in, row, line.data());
    for (std::size_t col = 0; col < cols; ++col) rows.out[col] = combine(math.op, rows.out[col], line[col]);
  }
  write_row(out, 0, rows.out.data());
}

void MathEvaluator::evaluate(const MathDescriptor& math, const TensorBytes& out, const std::array<TensorBytes, 3>& in) {
  const bool integers = all_integers(math, out);
  if (is_reduction(math.op)) {
    integers ? reduce(math, out, in[0], integers_) : reduce(math, out, in[0], floats_);
  } else {
    integers ? elementwise(math, out, in, integers_) : elementwise(math, out, in, floats_);
  }
}

}  // namespace kernwave::numeric
