// What a program must leave in HBM: its steps carried out one after another on plain numbers, without time.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "tests/property/program.h"
#include "tests/property/program_state.h"

namespace kernwave::testing {

/// Arithmetic is float64, rounded to f32 after every operation and then to the type of the result by
/// `testing::nearest`: for sums, products and quotients of f32 the same as f32 arithmetic, whatever the compiler makes
/// of it. Products add up in ascending order of k, as docs/language.md says.
class Interpreter {
 public:
  explicit Interpreter(const Program& program);

  /// Throws InvalidStep.
  void carry_out(const Step& step);

  [[nodiscard]] const ProgramState& state() const noexcept { return state_; }
  /// What HBM holds, area by area.
  [[nodiscard]] const std::vector<std::vector<float>>& areas() const noexcept { return areas_; }
  [[nodiscard]] std::vector<float> tensor(ValueId value) const;

 private:
  /// The elements of a matrix in row-major order.
  using Matrix = std::vector<float>;

  [[nodiscard]] Matrix read(const View& view) const;
  void write(const View& view, const Matrix& values);
  /// Of a step that has been applied: its target or its new tensor.
  [[nodiscard]] const View& result_of(const Step& step) const;
  [[nodiscard]] Matrix operand(const Argument& argument, const tl::Shape& shape) const;
  [[nodiscard]] Matrix factor(const Factor& factor) const;
  [[nodiscard]] static Matrix product(const Matrix& a, const Matrix& b, const Matrix& onto, std::int64_t k,
                                      std::int64_t n);

  void load(const Step& step);
  void store(const Step& step);
  void dot(const Step& step);
  void math(const Step& step);
  void reduce(const Step& step);
  void composite(const Step& step);
  void send(const Step& step);
  void receive(const Step& step);

  ProgramState state_;
  std::vector<DType> types_;  // of the areas
  std::vector<std::vector<float>> areas_;
  std::vector<std::vector<float>> buffers_;
  std::map<std::size_t, std::deque<Matrix>> messages_;  // by link
};

/// What HBM holds when a program has ended.
[[nodiscard]] std::vector<std::vector<float>> interpret(const Program& program);

}  // namespace kernwave::testing
