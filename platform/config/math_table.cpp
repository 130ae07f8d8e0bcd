#include "platform/config/math_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/pe/math_timing.h"
#include "platform/config/key_table.h"

namespace kernwave::platform {

namespace {

[[nodiscard]] std::string_view operand_types(MathTypes types) noexcept {
  switch (types) {
    case MathTypes::numbers:
    case MathTypes::quotient:
      return "any, not all boolean";
    case MathTypes::integers:
      return "integers";
    case MathTypes::floats:
      return "floats";
    case MathTypes::booleans:
      return "booleans";
    case MathTypes::chosen:
      return "a boolean, then any";
    case MathTypes::compared:
    case MathTypes::given:
    case MathTypes::kept:
    case MathTypes::counted:
      return "any";
  }
  return "?";
}

[[nodiscard]] std::string_view result_type(MathTypes types) noexcept {
  switch (types) {
    case MathTypes::numbers:
    case MathTypes::floats:
      return "promoted type";
    case MathTypes::quotient:
      return "promoted type, f32 of integers";
    case MathTypes::integers:
      return "int32";
    case MathTypes::booleans:
    case MathTypes::compared:
      return "boolean";
    case MathTypes::chosen:
      return "promoted type of the other two";
    case MathTypes::given:
      return "as asked for";
    case MathTypes::kept:
      return "the operand's";
    case MathTypes::counted:
      return "the operand's, int32 of booleans";
  }
  return "?";
}

[[nodiscard]] std::string_view step_text(MathStep step) noexcept {
  switch (step) {
    case MathStep::no:
      return "no";
    case MathStep::yes:
      return "yes";
    case MathStep::last:
      return "as the last one";
  }
  return "?";
}

/// Empty where no key sets the operation's cycles.
[[nodiscard]] std::string_view key_of_cycles(MathOp op) {
  for (const Key& key : all_keys()) {
    const std::vector<MathOp> costed = operations_costed_by(key);
    if (std::find(costed.begin(), costed.end(), op) != costed.end()) return key.path;
  }
  return {};
}

}  // namespace

std::vector<MathOp> operations_costed_by(const Key& key) {
  SystemConfig one;
  SystemConfig two;
  key.member.set(one, 1);
  key.member.set(two, 2);
  std::vector<MathOp> costed;
  for (const MathOperation& operation : math_operations) {
    const bool differs =
        vector_cycles(one.pe.math.cycles, operation.op) != vector_cycles(two.pe.math.cycles, operation.op);
    if (differs) costed.push_back(operation.op);
  }
  return costed;
}

std::string description_of(const Key& key) {
  std::string text(key.description);
  std::string_view separator = ": ";
  for (const MathOp op : operations_costed_by(key)) {
    text.append(separator).append(name_of(op));
    separator = ", ";
  }
  return text;
}

std::string operations_as_markdown() {
  std::string text =
      "| operation | operands | their types | type of the result | cycles of a vector | step of a composite |\n";
  text += "|---|---|---|---|---|---|\n";
  for (const MathOperation& operation : math_operations) {
    text += fmt::format("| `{}` | {} | {} | {} | `{}` | {} |\n", operation.name, operation.operands,
                        operand_types(operation.types), result_type(operation.types), key_of_cycles(operation.op),
                        step_text(operation.step));
  }
  return text;
}

}  // namespace kernwave::platform
