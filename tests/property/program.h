// Programs of the kernel language as plain data: to be run, interpreted, printed and shrunk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/tl/shape.h"
#include "models/base/direction.h"
#include "models/base/dtype.h"
#include "models/protocol/descriptor.h"
#include "tests/property/machine.h"

namespace kernwave::testing {

/// Names what a step makes: a tensor, a staging area, or an operation to wait for. Unique in a program.
using ValueId = int;
inline constexpr ValueId no_value = -1;

enum class StepKind : std::uint8_t {
  enter_scope,
  leave_scope,
  buffer,
  load,
  store,
  wait,
  trans,
  slice,
  broadcast,
  expand_dims,
  reshape,
  dot,
  math,
  reduce,
  staging,
  composite,
  send,
  receive,
  receive_async,
};

/// An interval of HBM whose elements all have one type. Only its owner writes an area, or everybody.
struct Area {
  static constexpr std::int64_t everybody = -1;

  std::int64_t cube = 0;
  std::int64_t base = 0;  ///< byte of the cube
  std::int64_t elements = 0;
  DType dtype = DType::f32;
  std::int64_t owner = everybody;
};

/// Rows in an area; of a vector its elements, `stride` apart. All in elements.
struct Place {
  int area = 0;
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  tl::Shape valid;  ///< the part that exists
};

/// A tensor, or a number where there is none.
struct Argument {
  ValueId value = no_value;
  double number = 0.0;
};

/// Of a composite: a tensor, or a matrix in HBM where there is none.
struct Factor {
  ValueId value = no_value;
  Place place;
  tl::Shape stored;  ///< as it lies in HBM
  bool transposed = false;
};

struct EpilogueStep {
  MathOp op = MathOp::neg;
  std::optional<Argument> operand;
};

struct Step {
  StepKind kind = StepKind::buffer;
  int pe = 0;
  ValueId result = no_value;       ///< none where the step writes `target`
  ValueId target = no_value;       ///< into=, out=, an accumulator, copy_to, fill
  bool accumulate = false;         ///< dot, composite: target += product
  std::vector<Argument> operands;  ///< of dot, math, reduce, views, store, send, wait
  MathOp op = MathOp::copy;
  tl::Shape shape;
  DType dtype = DType::f32;
  Place place;                         ///< load, store
  std::optional<double> other;         ///< load
  std::int64_t axis = 0;               ///< reduce, expand_dims; composite: 0 along n, 1 along k
  bool keep_dims = false;              ///< reduce
  std::int64_t begin = 0;              ///< slice
  std::int64_t end = 0;                ///< slice; staging: bytes of a slot; composite: extent of a tile
  Direction direction{};               ///< messages
  std::vector<Factor> factors;         ///< composite: two
  std::vector<EpilogueStep> epilogue;  ///< composite
  ValueId through = no_value;          ///< composite: its staging area
};

/// Steps of all PEs in one order, in which they could be carried out one after another: a message is sent before it is
/// received. The program of a PE is the steps that are its own.
struct Program {
  Machine machine;
  std::uint32_t data_seed = 0;  ///< of what HBM holds at first
  std::vector<Area> areas;
  std::vector<Step> steps;
};

/// What HBM holds at first, area by area: multiples of 1/8 in [-2, 2].
[[nodiscard]] std::vector<std::vector<float>> initial_data(const Program& program);

/// As source text, a line a step. Errors of a kernel give the number of a step as its line.
[[nodiscard]] std::string to_text(const Program& program);

}  // namespace kernwave::testing
