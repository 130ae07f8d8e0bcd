#include "tests/property/program_interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/tensors.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] float in_f32(double value) { return static_cast<float>(value); }

[[nodiscard]] float evaluate(MathOp op, float a, float b, float c) {
  const double x = a;
  const double y = b;
  switch (op) {
    case MathOp::add:
      return in_f32(x + y);
    case MathOp::sub:
      return in_f32(x - y);
    case MathOp::mul:
      return in_f32(x * y);
    case MathOp::fma:
      return in_f32(static_cast<double>(in_f32(x * y)) + c);
    case MathOp::maximum:
      return a > b ? a : b;
    case MathOp::minimum:
      return a < b ? a : b;
    case MathOp::neg:
      return -a;
    case MathOp::abs:
      return std::abs(a);
    case MathOp::exp2:
      return std::exp2(a);
    case MathOp::less:
      return a < b ? 1.0F : 0.0F;
    case MathOp::logical_and:
      return a != 0.0F && b != 0.0F ? 1.0F : 0.0F;
    case MathOp::logical_not:
      return a == 0.0F ? 1.0F : 0.0F;
    case MathOp::where:
      return a != 0.0F ? b : c;
    default:  // cast, copy, fill
      return a;
  }
}

[[nodiscard]] float combine(MathOp op, float sum, float next) {
  if (op == MathOp::reduce_sum) return in_f32(static_cast<double>(sum) + next);
  return evaluate(op == MathOp::reduce_max ? MathOp::maximum : MathOp::minimum, sum, next, 0.0F);
}

}  // namespace

Interpreter::Interpreter(const Program& program) : state_(program), areas_(initial_data(program)) {
  for (const Area& area : program.areas) types_.push_back(area.dtype);
}

void Interpreter::carry_out(const Step& step) {
  state_.apply(step);
  while (buffers_.size() < state_.buffer_count()) {
    const auto elements = static_cast<std::size_t>(state_.buffer(buffers_.size()).elements);
    buffers_.emplace_back(elements, std::numeric_limits<float>::quiet_NaN());
  }
  switch (step.kind) {
    case StepKind::load:
      return load(step);
    case StepKind::store:
      return store(step);
    case StepKind::dot:
      return dot(step);
    case StepKind::math:
      return math(step);
    case StepKind::reduce:
      return reduce(step);
    case StepKind::composite:
      return composite(step);
    case StepKind::send:
      return send(step);
    case StepKind::receive:
    case StepKind::receive_async:
      return receive(step);
    default:  // scopes, views, waits: nothing moves
      return;
  }
}

std::vector<float> Interpreter::tensor(ValueId value) const { return read(state_.view(value)); }

const View& Interpreter::result_of(const Step& step) const {
  return state_.view(step.target != no_value ? step.target : step.result);
}

Interpreter::Matrix Interpreter::read(const View& view) const {
  const std::vector<float>& buffer = buffers_.at(view.buffer);
  Matrix values;
  values.reserve(static_cast<std::size_t>(view.shape.elements()));
  for (std::int64_t row = 0; row < view.shape.rows(); ++row) {
    for (std::int64_t col = 0; col < view.shape.cols(); ++col) {
      values.push_back(buffer[static_cast<std::size_t>(view.index(row, col))]);
    }
  }
  return values;
}

void Interpreter::write(const View& view, const Matrix& values) {
  std::vector<float>& buffer = buffers_.at(view.buffer);
  auto value = values.begin();
  for (std::int64_t row = 0; row < view.shape.rows(); ++row) {
    for (std::int64_t col = 0; col < view.shape.cols(); ++col) {
      const float rounded = is_float(view.dtype) ? static_cast<float>(nearest(view.dtype, *value)) : *value;
      buffer[static_cast<std::size_t>(view.index(row, col))] = rounded;
      ++value;
    }
  }
}

Interpreter::Matrix Interpreter::operand(const Argument& argument, const tl::Shape& shape) const {
  if (argument.value != no_value) return read(*broadcast(state_.view(argument.value), shape));
  return Matrix(static_cast<std::size_t>(shape.elements()), static_cast<float>(argument.number));
}

// ---- memory and messages

void Interpreter::load(const Step& step) {
  const View& view = result_of(step);
  const std::vector<float>& area = areas_.at(static_cast<std::size_t>(step.place.area));
  const tl::Shape& valid = step.place.valid;
  Matrix values(static_cast<std::size_t>(view.shape.elements()), static_cast<float>(step.other.value_or(0.0)));
  for (std::int64_t row = 0; row < valid.rows(); ++row) {
    for (std::int64_t col = 0; col < valid.cols(); ++col) {
      values[static_cast<std::size_t>(row * view.shape.cols() + col)] =
          area[static_cast<std::size_t>(index_in_area(step.place, row, col))];
    }
  }
  write(view, values);
}

void Interpreter::store(const Step& step) {
  const View& view = state_.view(step.operands.at(0).value);
  const Matrix values = read(view);
  std::vector<float>& area = areas_.at(static_cast<std::size_t>(step.place.area));
  for (std::int64_t row = 0; row < step.place.valid.rows(); ++row) {
    for (std::int64_t col = 0; col < step.place.valid.cols(); ++col) {
      area[static_cast<std::size_t>(index_in_area(step.place, row, col))] =
          values[static_cast<std::size_t>(row * view.shape.cols() + col)];
    }
  }
}

void Interpreter::send(const Step& step) {
  Matrix message;
  for (const Argument& operand : step.operands) {
    const Matrix part = read(state_.view(operand.value));
    message.insert(message.end(), part.begin(), part.end());
  }
  messages_[static_cast<std::size_t>(step.pe) * direction_count + static_cast<std::size_t>(step.direction)].push_back(
      message);
}

void Interpreter::receive(const Step& step) {
  std::deque<Matrix>& waiting = messages_.at(state_.link_to(step.pe, step.direction));
  write(result_of(step), waiting.front());
  waiting.pop_front();
}

// ---- computing

Interpreter::Matrix Interpreter::product(const Matrix& a, const Matrix& b, const Matrix& onto, std::int64_t k,
                                         std::int64_t n) {
  Matrix sums = onto;
  const auto cols = static_cast<std::size_t>(n);
  const auto depth = static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = 0; j < depth; ++j) {
      const float term = in_f32(static_cast<double>(a[i / cols * depth + j]) * b[j * cols + i % cols]);
      sums[i] = in_f32(static_cast<double>(sums[i]) + term);
    }
  }
  return sums;
}

void Interpreter::dot(const Step& step) {
  const View& a = state_.view(step.operands.at(0).value);
  const View& b = state_.view(step.operands.at(1).value);
  const View& out = result_of(step);
  const Matrix onto = step.accumulate ? read(out) : Matrix(static_cast<std::size_t>(out.shape.elements()), 0.0F);
  write(out, product(read(a), read(b), onto, a.shape[1], b.shape[1]));
}

void Interpreter::math(const Step& step) {
  const View& out = result_of(step);
  std::vector<Matrix> operands;
  for (const Argument& argument : step.operands) operands.push_back(operand(argument, out.shape));
  while (operands.size() < 3) operands.emplace_back(operands[0].size(), 0.0F);
  Matrix values(operands[0].size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = evaluate(step.op, operands[0][i], operands[1][i], operands[2][i]);
  }
  write(out, values);
}

void Interpreter::reduce(const Step& step) {
  const View& x = state_.view(step.operands.at(0).value);
  const Matrix values = read(x);
  const std::int64_t rows = x.shape.rows();
  const std::int64_t cols = x.shape.cols();
  const bool over_rows = x.shape.rank() == 2 && step.axis == 0;
  const std::int64_t results = over_rows ? cols : rows;
  const std::int64_t reduced = over_rows ? rows : cols;
  Matrix sums;
  for (std::int64_t i = 0; i < results; ++i) {
    const auto element = [&](std::int64_t j) {
      return values[static_cast<std::size_t>(over_rows ? j * cols + i : i * cols + j)];
    };
    float sum = element(0);
    for (std::int64_t j = 1; j < reduced; ++j) sum = combine(step.op, sum, element(j));
    sums.push_back(sum);
  }
  write(result_of(step), sums);
}

Interpreter::Matrix Interpreter::factor(const Factor& factor) const {
  if (factor.value != no_value) return read(state_.view(factor.value));
  const std::vector<float>& area = areas_.at(static_cast<std::size_t>(factor.place.area));
  const tl::Shape shape = shape_of(factor);
  Matrix values;
  for (std::int64_t row = 0; row < shape.rows(); ++row) {
    for (std::int64_t col = 0; col < shape.cols(); ++col) {
      const std::int64_t stored_row = factor.transposed ? col : row;
      const std::int64_t stored_col = factor.transposed ? row : col;
      const bool exists = stored_row < factor.place.valid.rows();
      values.push_back(exists ? area[static_cast<std::size_t>(index_in_area(factor.place, stored_row, stored_col))]
                              : 0.0F);
    }
  }
  return values;
}

void Interpreter::composite(const Step& step) {
  const View& out = state_.view(step.target);
  const Factor& a = step.factors.at(0);
  const std::int64_t k = a.value != no_value ? state_.view(a.value).shape[1] : shape_of(a)[1];
  const Matrix onto = step.accumulate ? read(out) : Matrix(static_cast<std::size_t>(out.shape.elements()), 0.0F);
  Matrix values = product(factor(a), factor(step.factors.at(1)), onto, k, out.shape[1]);
  for (const EpilogueStep& part : step.epilogue) {
    const Matrix other = operand(part.operand.value_or(Argument{}), out.shape);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = evaluate(part.op, values[i], other[i], 0.0F);
  }
  write(out, values);
}

std::vector<std::vector<float>> interpret(const Program& program) {
  Interpreter interpreter(program);
  for (const Step& step : program.steps) interpreter.carry_out(step);
  return interpreter.areas();
}

std::vector<std::vector<float>> initial_data(const Program& program) {
  std::vector<std::vector<float>> data;
  std::uint32_t seed = program.data_seed;
  for (const Area& area : program.areas) {
    const Values values = eighths({area.elements}, area.dtype, ++seed);
    data.emplace_back(values.elements.begin(), values.elements.end());
  }
  return data;
}

}  // namespace kernwave::testing
