// Programs as source text.
#include <fmt/format.h>

#include <set>
#include <vector>

#include "tests/property/program.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] std::string text_of(const Argument& argument) {
  return argument.value == no_value ? fmt::format("{}", argument.number) : fmt::format("t{}", argument.value);
}

[[nodiscard]] std::string text_of(const Place& place) {
  return fmt::format("a{} + {}, stride {}, valid {}", place.area, place.offset, place.stride, to_string(place.valid));
}

[[nodiscard]] std::string text_of(const Factor& factor) {
  if (factor.value != no_value) return fmt::format("t{}", factor.value);
  const std::string ref = fmt::format("ref({}, {})", text_of(factor.place), to_string(factor.stored));
  return factor.transposed ? "trans(" + ref + ")" : ref;
}

[[nodiscard]] std::string operands_of(const Step& step) {
  std::string text;
  for (const Argument& operand : step.operands) text += (text.empty() ? "" : ", ") + text_of(operand);
  return text;
}

[[nodiscard]] std::string composite_text(const Step& step) {
  std::string text = fmt::format("composite({}, {}, tile {} along {}", text_of(step.factors.at(0)),
                                 text_of(step.factors.at(1)), step.end, step.axis == 0 ? "n" : "k");
  for (const EpilogueStep& part : step.epilogue) {
    text += fmt::format(", then {}{}", name_of(part.op), part.operand ? " " + text_of(*part.operand) : "");
  }
  if (step.through != no_value) text += fmt::format(", through t{}", step.through);
  return text;
}

[[nodiscard]] std::string call_text(const Step& step) {
  const std::string type(name_of(step.dtype));
  switch (step.kind) {
    case StepKind::enter_scope:
      return "{";
    case StepKind::leave_scope:
      return "}";
    case StepKind::buffer:
      return fmt::format("buffer({} {}", to_string(step.shape), type);
    case StepKind::load:
      return fmt::format("load({}, {} {}{}", text_of(step.place), to_string(step.shape), type,
                         step.other ? fmt::format(", other {}", *step.other) : "");
    case StepKind::store:
      return fmt::format("store({}, {}", text_of(step.place), operands_of(step));
    case StepKind::wait:
      return "wait(" + operands_of(step);
    case StepKind::trans:
      return "trans(" + operands_of(step);
    case StepKind::slice:
      return fmt::format("slice({}, {}, {}", operands_of(step), step.begin, step.end);
    case StepKind::broadcast:
      return fmt::format("broadcast_to({}, {}", operands_of(step), to_string(step.shape));
    case StepKind::expand_dims:
      return fmt::format("expand_dims({}, {}", operands_of(step), step.axis);
    case StepKind::reshape:
      return fmt::format("reshape({}, {}", operands_of(step), to_string(step.shape));
    case StepKind::dot:
      return "dot(" + operands_of(step);
    case StepKind::math: {
      const bool typed = step.op == MathOp::cast || step.op == MathOp::fill;
      const std::string type_text = step.op == MathOp::fill ? to_string(step.shape) + " " + type : type;
      return fmt::format("{}({}{}", name_of(step.op), operands_of(step), typed ? ", " + type_text : "");
    }
    case StepKind::reduce:
      return fmt::format("{}({}, {}{}", name_of(step.op), operands_of(step), step.axis,
                         step.keep_dims ? ", keep_dims" : "");
    case StepKind::staging:
      return fmt::format("staging({} B", step.end);
    case StepKind::composite:
      return composite_text(step);
    case StepKind::send:
      return fmt::format("send({}, {}", name_of(step.direction), operands_of(step));
    case StepKind::receive:
    case StepKind::receive_async:
      return fmt::format("{}({}, {} {}", step.kind == StepKind::receive ? "recv" : "recv_async",
                         name_of(step.direction), to_string(step.shape), type);
  }
  return "?";
}

[[nodiscard]] bool is_scope(const Step& step) {
  return step.kind == StepKind::enter_scope || step.kind == StepKind::leave_scope;
}

/// Those that the program touches.
[[nodiscard]] std::set<int> areas_of(const Program& program) {
  std::set<int> areas;
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::load || step.kind == StepKind::store) areas.insert(step.place.area);
    for (const Factor& factor : step.factors) {
      if (factor.value == no_value) areas.insert(factor.place.area);
    }
  }
  return areas;
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text = to_text(program.machine) + "\n";
  const std::set<int> used = areas_of(program);
  for (std::size_t i = 0; i < program.areas.size(); ++i) {
    if (used.count(static_cast<int>(i)) == 0) continue;
    const Area& area = program.areas[i];
    text += fmt::format("a{} = {} {} from byte {} of cube {}\n", i, area.elements, name_of(area.dtype), area.base,
                        area.cube);
  }
  std::vector<int> depths(static_cast<std::size_t>(program.machine.pes()));
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    int& depth = depths.at(static_cast<std::size_t>(step.pe));
    if (step.kind == StepKind::leave_scope) --depth;
    text += fmt::format("{:3}  PE {}  {:{}}", i + 1, step.pe, "", 2 * depth);
    if (step.kind == StepKind::enter_scope) ++depth;
    if (step.result != no_value) text += fmt::format("t{} = ", step.result);
    text += call_text(step);
    if (step.target != no_value) text += fmt::format(", {} t{}", step.accumulate ? "onto" : "into", step.target);
    text += is_scope(step) ? "\n" : ")\n";
  }
  return text;
}

}  // namespace kernwave::testing
