#include "tests/property/program_shrinker.h"

#include <algorithm>
#include <set>

#include "tests/property/program_state.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] tl::Shape with_extent(const tl::Shape& shape, std::int64_t from, std::int64_t to) {
  const auto changed = [=](std::int64_t extent) { return extent == from ? to : extent; };
  return shape.rank() == 1 ? tl::Shape{changed(shape[0])} : tl::Shape{changed(shape[0]), changed(shape[1])};
}

/// Every extent `from` becomes `to`, wherever it stands.
[[nodiscard]] Program with_extent(Program program, std::int64_t from, std::int64_t to) {
  for (Step& step : program.steps) {
    step.shape = with_extent(step.shape, from, to);
    step.place.valid = with_extent(step.place.valid, from, to);
    if (step.place.stride == from) step.place.stride = to;
    if (step.kind == StepKind::slice || step.kind == StepKind::composite) step.end = std::min(step.end, to);
    for (Factor& factor : step.factors) {
      factor.stored = with_extent(factor.stored, from, to);
      factor.place.valid = with_extent(factor.place.valid, from, to);
      if (factor.place.stride == from) factor.place.stride = to;
    }
  }
  return program;
}

[[nodiscard]] std::set<std::int64_t> extents_of(const Program& program) {
  std::set<std::int64_t> extents;
  for (const Step& step : program.steps) {
    for (const tl::Shape& shape : {step.shape, step.place.valid}) extents.insert({shape.rows(), shape.cols()});
    for (const Factor& factor : step.factors) extents.insert({factor.stored.rows(), factor.stored.cols()});
  }
  return extents;
}

class Shrinker {
 public:
  Shrinker(Program program, const StillFails& still_fails, int most)
      : program_(std::move(program)), still_fails_(still_fails), left_(most) {}

  [[nodiscard]] Program shrink() {
    bool smaller = true;
    while (smaller && left_ > 0) {
      smaller = drop_steps();
      smaller = shrink_extents() || smaller;
      smaller = simplify_steps() || smaller;
      smaller = simplify_machine() || smaller;
    }
    return program_;
  }

 private:
  /// Takes the candidate if it is valid and still fails.
  bool try_instead(const Program& candidate) {
    if (left_ <= 0 || !is_valid(candidate)) return false;
    --left_;
    if (!still_fails_(candidate)) return false;
    program_ = candidate;
    return true;
  }

  bool drop_steps();
  bool drop_scopes();
  bool shrink_extents();
  bool simplify_steps();
  bool simplify_machine();

  Program program_;
  const StillFails& still_fails_;
  int left_;
};

/// What needs a step that has gone goes with it.
[[nodiscard]] Program without(const Program& program, std::size_t begin, std::size_t count) {
  Program rest = program;
  rest.steps.clear();
  ProgramState state(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (i >= begin && i < begin + count) continue;
    ProgramState after = state;
    try {
      after.apply(program.steps[i]);
    } catch (const InvalidStep&) {
      continue;
    }
    state = std::move(after);
    rest.steps.push_back(program.steps[i]);
  }
  return rest;
}

bool Shrinker::drop_steps() {
  bool smaller = drop_scopes();
  for (std::size_t count = std::max<std::size_t>(program_.steps.size() / 2, 1); count > 0; count /= 2) {
    for (std::size_t begin = 0; begin < program_.steps.size();) {
      if (try_instead(without(program_, begin, count))) {
        smaller = true;
      } else {
        begin += count;
      }
    }
  }
  return smaller;
}

/// Of a scope both ends go at once.
bool Shrinker::drop_scopes() {
  bool smaller = false;
  for (std::size_t begin = 0; begin < program_.steps.size(); ++begin) {
    if (program_.steps[begin].kind != StepKind::enter_scope) continue;
    int depth = 0;
    for (std::size_t end = begin; end < program_.steps.size(); ++end) {
      if (program_.steps[end].pe != program_.steps[begin].pe) continue;
      depth += program_.steps[end].kind == StepKind::enter_scope ? 1 : 0;
      depth -= program_.steps[end].kind == StepKind::leave_scope ? 1 : 0;
      if (depth > 0) continue;
      Program candidate = program_;
      candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(end));
      candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(begin));
      smaller = try_instead(candidate) || smaller;
      break;
    }
  }
  return smaller;
}

bool Shrinker::shrink_extents() {
  bool smaller = false;
  for (const std::int64_t extent : extents_of(program_)) {
    for (const std::int64_t to : {std::int64_t{1}, std::int64_t{2}, extent / 2}) {
      if (to >= extent || to < 1) continue;
      if (!try_instead(with_extent(program_, extent, to))) continue;
      smaller = true;
      break;
    }
  }
  return smaller;
}

/// Offsets, strides, parts of epilogues, operands of messages: whatever is not needed.
bool Shrinker::simplify_steps() {
  bool smaller = false;
  const auto change = [&](std::size_t index, const std::function<void(Step&)>& edit) {
    Program candidate = program_;
    edit(candidate.steps[index]);
    smaller = try_instead(candidate) || smaller;
  };
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step step = program_.steps[i];
    if (!step.epilogue.empty()) change(i, [](Step& s) { s.epilogue.pop_back(); });
    if (step.kind == StepKind::send && step.operands.size() > 1) change(i, [](Step& s) { s.operands.pop_back(); });
    if (step.kind != StepKind::load && step.kind != StepKind::store) continue;
    if (step.place.offset != 0) change(i, [](Step& s) { s.place.offset = 0; });
    const std::int64_t dense = step.place.valid.rank() == 1 ? 1 : step.place.valid.cols();
    if (step.place.stride != dense) change(i, [dense](Step& s) { s.place.stride = dense; });
    if (step.kind == StepKind::load && step.place.valid != step.shape) {
      change(i, [](Step& s) { s.place.valid = s.shape; });
    }
  }
  return smaller;
}

/// PEs that have no step, then number by number what is usual.
bool Shrinker::simplify_machine() {
  bool smaller = false;
  int first = static_cast<int>(program_.machine.pes());
  for (const Step& step : program_.steps) first = std::min(first, step.pe);
  if (first > 0) {
    Program candidate = program_;
    for (Step& step : candidate.steps) step.pe -= first;
    smaller = try_instead(candidate);
  }
  int last = 0;
  for (const Step& step : program_.steps) last = std::max(last, step.pe);
  if (last + 1 < program_.machine.pes()) {
    Program candidate = program_;
    std::int64_t& pes = candidate.machine.cubes > 1 ? candidate.machine.cubes : candidate.machine.pes_per_cube;
    --pes;
    for (Area& area : candidate.areas) area.cube = std::min(area.cube, candidate.machine.cubes - 1);
    smaller = try_instead(candidate) || smaller;
  }
  const Machine usual;
  for (const Knob& knob : knobs()) {
    if (program_.machine.*knob.member == usual.*knob.member) continue;
    Program candidate = program_;
    candidate.machine.*knob.member = usual.*knob.member;
    smaller = try_instead(candidate) || smaller;
  }
  return smaller;
}

}  // namespace

Program shrink(const Program& program, const StillFails& still_fails, int most) {
  return Shrinker(program, still_fails, most).shrink();
}

}  // namespace kernwave::testing
