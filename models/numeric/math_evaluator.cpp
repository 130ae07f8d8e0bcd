#include "models/numeric/math_evaluator.h"

#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kernwave::numeric {

namespace {

/// How a row of elements is computed, and how a row is folded into one element (of a reduction only).
template <typename T>
struct Loops {
  void (*row)(const std::array<const T*, 3>& in, T* out, std::int64_t n);
  T (*fold)(const T* in, std::int64_t n);
};

template <typename T, std::size_t index>
void compute_row(const std::array<const T*, 3>& in, T* out, std::int64_t n) {
  constexpr const auto& row = std::get<index>(math_rows::table);
  [[maybe_unused]] const auto [a, b, c] = in;
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (row.operation.kind == MathKind::generator) {
      out[i] = static_cast<T>(row.function(a[i], static_cast<T>(i)));
    } else if constexpr (row.operation.kind == MathKind::reduction) {
      out[i] = static_cast<T>(row.function(out[i], a[i]));
    } else if constexpr (row.operation.operands == 1) {
      out[i] = static_cast<T>(row.function(a[i]));
    } else if constexpr (row.operation.operands == 2) {
      out[i] = static_cast<T>(row.function(a[i], b[i]));
    } else {
      out[i] = static_cast<T>(row.function(a[i], b[i], c[i]));
    }
  }
}

template <typename T, std::size_t index>
[[nodiscard]] T fold(const T* in, std::int64_t n) {
  T result = in[0];
  for (std::int64_t i = 1; i < n; ++i) result = std::get<index>(math_rows::table).function(result, in[i]);
  return result;
}

/// Nothing where T is no type that the operation computes in.
template <typename T, std::size_t index>
[[nodiscard]] constexpr Loops<T> loops_of_row() noexcept {
  constexpr MathOperation operation = math_operations[index];
  if constexpr (std::is_integral_v<T> && !computes_integers(operation.types)) {
    return {nullptr, nullptr};
  } else if constexpr (operation.kind == MathKind::reduction) {
    return {&compute_row<T, index>, &fold<T, index>};
  } else {
    return {&compute_row<T, index>, nullptr};
  }
}

template <typename T, std::size_t... indices>
[[nodiscard]] constexpr std::array<Loops<T>, math_op_count> all_loops(
    std::index_sequence<indices...> /*all*/) noexcept {
  return {loops_of_row<T, indices>()...};
}

template <typename T>
constexpr std::array<Loops<T>, math_op_count> loops = all_loops<T>(std::make_index_sequence<math_op_count>());

template <typename T>
[[nodiscard]] const Loops<T>& loops_of(MathOp op) noexcept {
  return loops<T>[static_cast<std::size_t>(op)];
}

/// Whether int32 holds the number: not so of fractions, infinities and NaN.
[[nodiscard]] bool is_int32(double number) noexcept {
  return number >= -2147483648.0 && number <= 2147483647.0 && number == std::trunc(number);
}

/// A cast rounds from the input's domain, so a float on either side makes it a float operation; so does a number that
/// int32 does not hold (`i < 0.5`).
[[nodiscard]] bool in_integers(const MathDescriptor& math, const TensorBytes& out) {
  if (!computes_integers(math_operation(math.op).types)) return false;
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
  const auto compute = loops_of<T>(math.op).row;
  for (std::int64_t row = 0; row < out.view.rows; ++row) {
    for (std::size_t i = 0; i < math.inputs; ++i) {
      if (!math.in[i].is_immediate) read_row(in[i], row, rows.in[i].data());
    }
    compute(operands, rows.out.data(), out.view.cols);
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
      const T result = loops_of<T>(math.op).fold(line.data(), in.view.cols);
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
    loops_of<T>(math.op).row({line.data()}, rows.out.data(), in.view.cols);
  }
  write_row(out, 0, rows.out.data());
}

void MathEvaluator::evaluate(const MathDescriptor& math, const TensorBytes& out, const std::array<TensorBytes, 3>& in) {
  const bool integers = in_integers(math, out);
  if (is_reduction(math.op)) {
    integers ? reduce(math, out, in[0], integers_) : reduce(math, out, in[0], floats_);
  } else {
    integers ? elementwise(math, out, in, integers_) : elementwise(math, out, in, floats_);
  }
}

}  // namespace kernwave::numeric
