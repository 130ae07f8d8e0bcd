// Random steps that may follow a program.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "tests/property/program.h"
#include "tests/property/program_state.h"

namespace kernwave::testing {

/// Numbers that depend on the seed alone, whatever the standard library.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  /// 0 to count - 1.
  [[nodiscard]] std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(count));
  }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
  [[nodiscard]] bool in_percent(std::int64_t percent) { return below(100) < percent; }
  template <typename T>
  [[nodiscard]] const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

/// Appends steps of random operands to a program. Each call returns what the last step that it has appended makes, or
/// nothing where none of its tries was allowed.
class StepMaker {
 public:
  StepMaker(Program program, RandomNumbers& random);

  [[nodiscard]] const Program& program() const noexcept { return program_; }
  [[nodiscard]] const ProgramState& state() const noexcept { return state_; }

  using Made = std::optional<ValueId>;

  /// Appends the step, naming what it makes, if the rules allow it.
  Made add(Step step);
  Made enter_scope(int pe);
  Made leave_scope(int pe);

  Made buffer(int pe, const tl::Shape& shape, DType dtype);
  Made load(int pe);
  Made load(int pe, const tl::Shape& shape, DType dtype, ValueId target = no_value);
  Made store(int pe);
  Made store(int pe, ValueId value);
  Made store_at(int pe, ValueId value, const Place& place);
  Made wait(int pe);
  Made view(int pe);
  Made dot(int pe);
  Made math(int pe);
  Made reduce(int pe);
  Made composite(int pe);
  Made send(int pe, Direction direction);
  Made receive(int pe, Direction from);

  /// A shape of one or two extents that the program likes.
  [[nodiscard]] tl::Shape shape();
  [[nodiscard]] DType float_type();
  [[nodiscard]] Place place(int pe, const tl::Shape& shape, DType dtype, bool writes);

  using Predicate = std::function<bool(const View&)>;
  /// A tensor of a PE that has contents, rather a recent one.
  [[nodiscard]] std::optional<ValueId> pick(
      int pe, const Predicate& fits = [](const View&) { return true; });

 private:
  [[nodiscard]] std::int64_t extent() { return random_.one_of(extents_); }
  [[nodiscard]] double number() { return static_cast<double>(random_.between(-24, 24)) / 8.0; }
  /// A tensor that may be written, of a shape and type.
  [[nodiscard]] std::optional<ValueId> pick_target(int pe, const tl::Shape& shape, DType dtype);
  [[nodiscard]] Argument second_operand(int pe, const View& first);
  [[nodiscard]] std::optional<ValueId> second_factor(int pe, const View& a);
  [[nodiscard]] Factor factor_in_hbm(int pe, const tl::Shape& shape, DType dtype);
  void make_epilogue(int pe, Step& step, const tl::Shape& shape, bool casts);
  Made small_enough(int pe, ValueId value);

  Program program_;
  ProgramState state_;
  RandomNumbers& random_;
  std::vector<std::int64_t> extents_;
  std::vector<Place> touched_;  // so that later accesses overlap earlier ones
  ValueId next_ = 0;
};

}  // namespace kernwave::testing
