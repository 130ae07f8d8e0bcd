// Composites compute what load, dot and store compute, bit for bit, in the order of the program.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/kernel_errors.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::composite_test {
namespace {

using testing::expect_kernel_error;
using testing::from_child;
using testing::get;
using testing::in_child;
using testing::in_child_for_each_policy;
using testing::isolated_transfer;
using testing::one_cube;
using testing::put;
using testing::Simulation;
using testing::tabulate;
using testing::Values;
using tl::CompositeAxis;
using tl::CompositeOptions;
using tl::MathOp;
using tl::RefOptions;

const HbmAddress a_at(0x100000);
const HbmAddress b_at(0x200000);
const HbmAddress column_at(0x300000);
const HbmAddress row_at(0x310000);
const HbmAddress c_at(0x400000);
const HbmAddress expected_at(0x500000);
const HbmAddress result_at(0x600000);

/// Values whose products and sums are inexact, so that the order of summation shows.
[[nodiscard]] Values uneven(const tl::Shape& shape, DType dtype, double seed) {
  return tabulate(shape, dtype, [seed](std::int64_t row, std::int64_t col) {
    return std::sin(seed + 1.7 * static_cast<double>(row) + 0.31 * static_cast<double>(col));
  });
}

/// What is multiplied, and how the composite is cut.
struct Problem {
  std::int64_t m = 24;
  std::int64_t k = 40;
  std::int64_t n = 56;
  DType dtype = DType::f16;
  CompositeAxis axis = CompositeAxis::n;
  std::int64_t tile = 16;
  bool a_in_hbm = false;
  bool b_in_hbm = true;
  bool transposed = false;  ///< stored the other way round
  bool accumulates = false;
  DType result = DType::f32;
  std::vector<std::string> steps;  ///< "number", "column", "row", "exp2"
};

[[nodiscard]] tl::Shape stored(const Problem& problem, std::int64_t rows, std::int64_t cols) {
  return problem.transposed ? tl::Shape{cols, rows} : tl::Shape{rows, cols};
}

/// Of either side: the factor as the program sees it.
template <typename Matrix>
[[nodiscard]] Matrix turned(tl::Context& tl, const Problem& problem, const Matrix& matrix) {
  return problem.transposed ? tl.trans(matrix) : matrix;
}

void with_load_dot_and_math(tl::Context& tl, const Problem& p) {
  const auto scope = tl.scratch_scope();
  const auto a = turned(tl, p, tl.load(a_at, stored(p, p.m, p.k), p.dtype));
  const auto b = turned(tl, p, tl.load(b_at, stored(p, p.k, p.n), p.dtype));
  auto x = p.accumulates ? tl.dot(a, b, tl.load(c_at, {p.m, p.n}, DType::f32)) : tl.dot(a, b);
  for (const std::string& step : p.steps) {
    if (step == "number") x = x * 0.37;
    if (step == "column") x = tl.maximum(x, tl.load(column_at, {p.m, 1}, DType::f32));
    if (step == "row") x = x - tl.load(row_at, {p.n}, DType::f16);
    if (step == "exp2") x = tl.exp2(x);
  }
  tl.store(expected_at, x.to(p.result));
}

void with_composite(tl::Context& tl, const Problem& p) {
  const auto scope = tl.scratch_scope();
  const auto out = p.accumulates ? tl.load(c_at, {p.m, p.n}, DType::f32) : tl.buffer({p.m, p.n}, p.result);
  auto options = p.accumulates ? CompositeOptions().acc(out) : CompositeOptions().out(out);
  options = options.tile(p.tile).along(p.axis);
  for (const std::string& step : p.steps) {
    if (step == "number") options = options.then(MathOp::mul, 0.37);
    if (step == "column") options = options.then(MathOp::maximum, tl.load(column_at, {p.m, 1}, DType::f32));
    if (step == "row") options = options.then(MathOp::sub, tl.load(row_at, {p.n}, DType::f16));
    if (step == "exp2") options = options.then(MathOp::exp2);
  }
  if (p.result != DType::f32) options = options.then(MathOp::cast);
  const auto a_ref = turned(tl, p, tl.ref(a_at, stored(p, p.m, p.k), p.dtype));
  const auto b_ref = turned(tl, p, tl.ref(b_at, stored(p, p.k, p.n), p.dtype));
  if (p.a_in_hbm && p.b_in_hbm) {
    tl.composite(a_ref, b_ref, options);
  } else if (p.a_in_hbm) {
    tl.composite(a_ref, turned(tl, p, tl.load(b_at, stored(p, p.k, p.n), p.dtype)), options);
  } else if (p.b_in_hbm) {
    tl.composite(turned(tl, p, tl.load(a_at, stored(p, p.m, p.k), p.dtype)), b_ref, options);
  } else {
    tl.composite(turned(tl, p, tl.load(a_at, stored(p, p.m, p.k), p.dtype)),
                 turned(tl, p, tl.load(b_at, stored(p, p.k, p.n), p.dtype)), options);
  }
  tl.store(result_at, out);
}

void expect_equal_to_dot(const Problem& p) {
  in_child_for_each_policy([&p](tl::Policy policy) {
    Simulation simulation;
    put(simulation, a_at, uneven(stored(p, p.m, p.k), p.dtype, 0.1));
    put(simulation, b_at, uneven(stored(p, p.k, p.n), p.dtype, 0.7));
    put(simulation, c_at, uneven({p.m, p.n}, DType::f32, 2.3));
    put(simulation, column_at, uneven({p.m, 1}, DType::f32, 4.1));
    put(simulation, row_at, uneven({p.n}, DType::f16, 5.9));
    simulation.run(
        [&p](tl::Context& tl) {
          with_load_dot_and_math(tl, p);
          with_composite(tl, p);
        },
        policy);
    const Values expected = get(simulation, expected_at, {p.m, p.n}, p.result);
    EXPECT_EQ(get(simulation, result_at, {p.m, p.n}, p.result), expected);
    EXPECT_FALSE(std::isnan(expected.at(p.m - 1, p.n - 1)));
    EXPECT_NE(expected.at(0, 0), expected.at(p.m - 1, p.n - 1));
  });
}

TEST(Composite, EqualsDotBitForBitInEveryTypeAlongBothAxes) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const CompositeAxis axis : {CompositeAxis::n, CompositeAxis::k}) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + (axis == CompositeAxis::n ? " along n" : " along k") +
                     (transposed ? ", transposed" : ""));
        Problem problem;
        problem.dtype = dtype;
        problem.axis = axis;
        problem.transposed = transposed;
        expect_equal_to_dot(problem);  // 56 = 3 x 16 + 8, 40 = 2 x 16 + 8: with a tail
      }
    }
  }
}

TEST(Composite, TakesFactorsFromScratchAndFromHbm) {
  for (const auto& [a_in_hbm, b_in_hbm, axis] :
       {std::tuple{false, false, CompositeAxis::n}, std::tuple{false, false, CompositeAxis::k},
        std::tuple{true, false, CompositeAxis::k}, std::tuple{true, true, CompositeAxis::k}}) {
    for (const bool transposed : {false, true}) {
      Problem problem;
      problem.axis = axis;
      problem.a_in_hbm = a_in_hbm;
      problem.b_in_hbm = b_in_hbm;
      problem.transposed = transposed;
      expect_equal_to_dot(problem);
    }
  }
}

TEST(Composite, TilesOfAnySize) {
  for (const std::int64_t tile : {1, 13, 40}) {
    for (const CompositeAxis axis : {CompositeAxis::n, CompositeAxis::k}) {
      Problem problem;
      problem.axis = axis;
      problem.tile = tile;
      expect_equal_to_dot(problem);
    }
  }
}

TEST(Composite, AddsToAnAccumulator) {
  for (const CompositeAxis axis : {CompositeAxis::n, CompositeAxis::k}) {
    Problem problem;
    problem.axis = axis;
    problem.accumulates = true;
    expect_equal_to_dot(problem);
    problem.steps = {"number", "exp2"};
    expect_equal_to_dot(problem);
  }
}

TEST(Composite, TheEpilogueTakesNumbersColumnsAndRows) {
  for (const CompositeAxis axis : {CompositeAxis::n, CompositeAxis::k}) {
    for (const std::vector<std::string>& steps : {std::vector<std::string>{"number"},
                                                  {"column"},
                                                  {"row"},
                                                  {"number", "row", "exp2"},
                                                  {"column", "exp2", "row"}}) {
      Problem problem;
      problem.axis = axis;
      problem.steps = steps;
      expect_equal_to_dot(problem);
    }
  }
}

TEST(Composite, ACastRoundsOnceAtTheEnd) {
  for (const DType result : {DType::f16, DType::bf16}) {
    for (const CompositeAxis axis : {CompositeAxis::n, CompositeAxis::k}) {
      Problem problem;
      problem.axis = axis;
      problem.result = result;
      expect_equal_to_dot(problem);
      problem.steps = {"column", "exp2"};
      expect_equal_to_dot(problem);
    }
  }
}

TEST(Composite, WritesThroughAView) {
  in_child([] {
    Simulation simulation;
    put(simulation, a_at, uneven({8, 16}, DType::f32, 0.1));
    put(simulation, b_at, uneven({16, 24}, DType::f32, 0.7));
    simulation.run([](tl::Context& tl) {
      const auto a = tl.load(a_at, {8, 16}, DType::f32);
      const auto out = tl.buffer({24, 8}, DType::f32);
      tl.composite(a, tl.ref(b_at, {16, 24}, DType::f32), CompositeOptions().out(tl.trans(out)).tile(10));
      tl.store(result_at, tl.trans(out));
      tl.store(expected_at, tl.dot(a, tl.load(b_at, {16, 24}, DType::f32)));
    });
    EXPECT_EQ(get(simulation, result_at, {8, 24}, DType::f32), get(simulation, expected_at, {8, 24}, DType::f32));
  });
}

TEST(Composite, RowsBehindTheValidOnesReadAsZeroAndAreNotTouched) {
  // 40 rows of b in three tiles of 16, of which 20 exist: one tile is whole, one partly there, one not at all.
  for (const std::int64_t valid : {20, 0}) {
    in_child_for_each_policy([valid](tl::Policy policy) {
      Simulation simulation;
      put(simulation, a_at, uneven({8, 32}, DType::f16, 0.1));
      put(simulation, b_at, uneven({40, 48}, DType::f16, 0.7));
      simulation.run(
          [valid](tl::Context& tl) {
            const auto a = tl.load(a_at, {8, 32}, DType::f16);
            const auto b =
                tl.load(b_at, {40, 32}, DType::f16, tl::LoadOptions().strides(48).valid({valid, 32}).other(0.0F));
            tl.store(expected_at, tl.dot(a, tl.trans(b)));
            const auto out = tl.buffer({8, 40}, DType::f32);
            const auto ref = tl.ref(b_at, {40, 32}, DType::f16, RefOptions().strides(48).valid(valid));
            // The rows behind are being written: no conflict.
            tl.store(b_at + Bytes(valid * 96), tl.full({40 - valid, 48}, 9.0, DType::f16));
            tl.composite(a, tl.trans(ref), CompositeOptions().out(out).tile(16));
            EXPECT_EQ(tl.ref(b_at, {40, 32}, DType::f16).shape(), (tl::Shape{40, 32}));
            tl.store(result_at, out);
          },
          policy);
      EXPECT_EQ(get(simulation, result_at, {8, 40}, DType::f32), get(simulation, expected_at, {8, 40}, DType::f32));
      EXPECT_EQ(simulation.time(TimeCause::memory_order), Picoseconds(0));
    });
  }
}

// ---- order

/// 32 x 32 f32, one interleave block on each channel.
const tl::Shape square{32, 32};

[[nodiscard]] Values all(double value) {
  return tabulate(square, DType::f32, [value](std::int64_t, std::int64_t) { return value; });
}

/// The identity times what `b` names, by tiles of 8 columns.
void multiply_by_identity(tl::Context& tl, const tl::Ref& b, const tl::Tensor& out) {
  const auto rows = tl.expand_dims(tl.arange(0, 32), 1);
  const auto identity = tl.where(rows == tl.expand_dims(tl.arange(0, 32), 0), 1.0F, 0.0F);
  tl.composite(identity, b, CompositeOptions().out(out).tile(8));
}

TEST(Composite, SeesWhatAnEarlierStoreWrote) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto out = tl.buffer(square, DType::f32);
          const auto fresh = tl.full(square, 2.0, DType::f32);
          const auto rows = tl.expand_dims(tl.arange(0, 32), 1);
          const auto identity = tl.where(rows == tl.expand_dims(tl.arange(0, 32), 0), 1.0F, 0.0F);
          tl.wait(identity);
          tl.store(b_at, fresh);
          tl.composite(identity, tl.ref(b_at, square, DType::f32), CompositeOptions().out(out).tile(8));
          tl.store(result_at, out);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(2.0));
    const Picoseconds store = Picoseconds(2000) + isolated_transfer(one_cube(), Bytes(4096));
    EXPECT_EQ(simulation.time(TimeCause::memory_order), policy == tl::Policy::blocking ? Picoseconds(0) : store);
  });
}

TEST(Composite, IsNotOvertakenByALaterStore) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto out = tl.buffer(square, DType::f32);
          const auto fresh = tl.full(square, 2.0, DType::f32);
          tl.wait(fresh);
          multiply_by_identity(tl, tl.ref(b_at, square, DType::f32), out);
          // One element of what the last tile reads: the whole footprint counts.
          tl.store(b_at + Bytes(4 * 31), tl.full({1}, 2.0, DType::f32));
          tl.store(result_at, out);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(1.0));
    EXPECT_EQ(get(simulation, b_at, square, DType::f32).at(0, 31), 2.0);
    EXPECT_GT(simulation.time(TimeCause::memory_order), Picoseconds(0));  // composites never wait at issue
  });
}

TEST(Composite, WhoeverUsesItsResultWaitsWithItsCause) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(1.0));
    simulation.run(
        [](tl::Context& tl) {
          const auto out = tl.buffer(square, DType::f32);
          multiply_by_identity(tl, tl.ref(b_at, square, DType::f32), out);
          tl.store(result_at, out + 1.0F);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(2.0));
    EXPECT_GT(simulation.time(TimeCause::composite), Picoseconds(0));
    EXPECT_EQ(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(Composite, MayBeWaitedFor) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    simulation.run(
        [&](tl::Context& tl) {
          const auto a = tl.full(square, 2.0, DType::f32);
          const auto out = tl.buffer(square, DType::f32);
          const auto pending = tl.composite(a, a, CompositeOptions().out(out));
          EXPECT_EQ(simulation.time(TimeCause::composite), Picoseconds(0));
          tl.wait(pending);
          tl.sync();
          const Picoseconds after = simulation.pe().cpu().local_time();
          EXPECT_GT(simulation.time(TimeCause::composite), Picoseconds(0));
          tl.wait(pending);
          EXPECT_EQ(simulation.pe().cpu().local_time(), after);
        },
        policy);
  });
}

TEST(Composite, WaitsForWritersOfItsOperandsAndForUsersOfItsResult) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, a_at, all(3.0));
    put(simulation, b_at, all(0.5));
    simulation.run(
        [](tl::Context& tl) {
          const auto out = tl.full(square, 7.0, DType::f32);
          tl.wait(out);
          tl.store(c_at, out);  // still reads `out` when the composite comes
          const auto a = tl.load(a_at, square, DType::f32);
          const auto bias = tl.full({1, 32}, 100.0, DType::f32);
          tl.composite(a, tl.ref(b_at, square, DType::f32),
                       CompositeOptions().out(out).tile(16).then(MathOp::add, bias));
          tl.fill(bias, 0.0);  // waits until the last tile has read it
          tl.fill(a, 0.0);
          tl.store(result_at, out);
        },
        policy);
    EXPECT_EQ(get(simulation, c_at, square, DType::f32), all(7.0));
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(32 * 1.5 + 100.0));
  });
}

TEST(Composite, ItsFactorInScratchMayBeOverwrittenAtOnce) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(0.5));
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.full(square, 3.0, DType::f32);
          const auto out = tl.buffer(square, DType::f32);
          tl.composite(a, tl.ref(b_at, square, DType::f32), CompositeOptions().out(out).tile(16));
          tl.fill(a, 0.0);  // waits until the last tile has read it
          tl.store(result_at, out);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(32 * 1.5));
  });
}

/// Everything else that could make it is done in order before the step: the engines' queues and the read channel see to
/// that. A message comes whenever it is sent.
TEST(Composite, WaitsForTheTensorOfItsEpilogueThoughItComesLate) {
  in_child_for_each_policy([](tl::Policy policy) {
    SystemConfig config = one_cube();
    config.cubes = 2;
    Simulation simulation(config);
    const auto here = [](HbmAddress address) { return HbmAddress(CubeId(1), address.offset()); };
    put(simulation, here(b_at), all(0.5));
    const auto sender = [](tl::Context& tl) {
      tl.wait(tl.full({512, 512}, 0.0, DType::f16));  // 1,024 cycles
      tl.send(Direction::east, tl.full({32, 1}, 4.0, DType::f32));
    };
    const auto receiver = [&](tl::Context& tl) {
      const auto a = tl.full(square, 3.0, DType::f32);
      const auto out = tl.buffer(square, DType::f32);
      const auto bias = tl.recv_async(Direction::west, {32, 1}, DType::f32);
      tl.composite(a, tl.ref(here(b_at), square, DType::f32),
                   CompositeOptions().out(out).tile(16).then(MathOp::add, bias));
      tl.store(here(result_at), out);
    };
    simulation.run_parts({{0, sender}, {1, receiver}}, {{Direction::west}, Bytes(128)}, policy);
    EXPECT_EQ(get(simulation, here(result_at), square, DType::f32), all(32 * 1.5 + 4));
    EXPECT_GT(simulation.time(TimeCause::receive, 1), Picoseconds(1'000'000));
  });
}

TEST(Composite, ScopesMayEndWhileItIsInFlight) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(0.5));
    simulation.run(
        [](tl::Context& tl) {
          const auto out = tl.buffer(square, DType::f16);
          {
            const auto scope = tl.scratch_scope();
            const auto staging = tl.staging(Bytes(2048));
            const auto a = tl.full(square, 1.0, DType::f32);
            const auto bias = tl.full({32, 1}, 4.0, DType::f32);
            tl.composite(
                a, tl.ref(b_at, square, DType::f32),
                CompositeOptions().out(out).tile(16).through(staging).then(MathOp::add, bias).then(MathOp::cast));
          }
          // Lands on the staging area, the factors and the f32 product, and poisons them.
          const auto x = tl.full({64, 128}, 9.0, DType::f32);
          tl.store(result_at, out);
          tl.store(c_at, x);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f16),
              tabulate(square, DType::f16, [](std::int64_t, std::int64_t) { return 20.0; }));
    EXPECT_GT(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(Composite, AStagingAreaIsKeptAsLongAsItIsInFlight) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, b_at, all(0.5));
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.full(square, 1.0, DType::f32);
          const auto out = tl.buffer(square, DType::f32);
          {
            const auto scope = tl.scratch_scope();
            const auto staging = tl.staging(Bytes(2048));
            tl.composite(a, tl.ref(b_at, square, DType::f32), CompositeOptions().out(out).tile(16).through(staging));
          }
          tl.full({64, 32}, 9.0, DType::f32);  // where the tiles land
          tl.store(result_at, out);
        },
        policy);
    EXPECT_EQ(get(simulation, result_at, square, DType::f32), all(16.0));
    EXPECT_GT(simulation.time(TimeCause::scratch), Picoseconds(0));
  });
}

TEST(Composite, ManyShareAStagingArea) {
  in_child_for_each_policy([](tl::Policy policy) {
    Simulation simulation;
    put(simulation, a_at, uneven({16, 32}, DType::f16, 0.1));
    put(simulation, b_at, uneven({200, 32}, DType::f16, 0.7));
    simulation.run(
        [](tl::Context& tl) {
          const auto a = tl.load(a_at, {16, 32}, DType::f16);
          const auto staging = tl.staging(Bytes(24 * 64));
          const auto out = tl.buffers(5, {16, 40}, DType::f32);
          for (std::int64_t i = 0; i < 5; ++i) {  // tiles of 24 and 16 rows
            const auto b = tl.ref(b_at + Bytes(i * 40 * 64), {40, 32}, DType::f16);
            tl.composite(a, tl.trans(b),
                         CompositeOptions().out(out[static_cast<std::size_t>(i)]).tile(24).through(staging));
          }
          for (std::int64_t i = 0; i < 5; ++i) {
            const auto b = tl.load(b_at + Bytes(i * 40 * 64), {40, 32}, DType::f16);
            tl.store(result_at + Bytes(i * 4096), out[static_cast<std::size_t>(i)]);
            tl.store(expected_at + Bytes(i * 4096), tl.dot(a, tl.trans(b)));
          }
        },
        policy);
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(get(simulation, result_at + Bytes(i * 4096), {16, 40}, DType::f32),
                get(simulation, expected_at + Bytes(i * 4096), {16, 40}, DType::f32))
          << i;
    }
  });
}

TEST(Composite, OperationsAndAddressesAreTheSameInEveryPolicy) {
  const auto operations = [](tl::Policy policy) {
    return from_child([policy] {
      Simulation simulation;
      simulation.run([](tl::Context& tl) { with_composite(tl, Problem{}); }, policy);
      std::string text;
      for (const traces::OperationRow& row : simulation.rows()) {
        const Descriptor& descriptor = row.descriptor;
        if (descriptor.id.part != 0) text += std::to_string(descriptor.id.part) + ' ';
        if (descriptor.engine == Engine::dma_read) {
          text += std::to_string(descriptor.dma().local.address.count()) + '\n';
        }
      }
      return text;
    });
  };
  const std::string lazy = operations(tl::Policy::lazy);
  EXPECT_NE(lazy, "");
  EXPECT_EQ(operations(tl::Policy::blocking), lazy);
  EXPECT_EQ(operations(tl::Policy::stall_on_use), lazy);
}

TEST(Composite, TakesLessThanTheSumOfBlockingOperations) {
  // 100 x 64 times the transpose of 8 tiles of 128 x 64: a read of 248, a product of 200 cycles.
  constexpr std::int64_t tiles = 8;
  const auto latency = [](const tl::Kernel& kernel) {
    const std::string text = from_child([&kernel] {
      Simulation simulation(one_cube(), DataMode::none);
      simulation.run(kernel, tl::Policy::blocking);
      return std::to_string(simulation.latency().count());
    });
    return Picoseconds(std::stoll("0" + text));
  };
  EXPECT_EQ(latency([](tl::Context& tl) {
              const auto a = tl.buffer({100, 64}, DType::f16);
              for (std::int64_t i = 0; i < tiles; ++i) {
                const auto b = tl.load(b_at + Bytes(i * 16384), {128, 64}, DType::f16);
                tl.dot(a, tl.trans(b));
              }
            }),
            tiles * Picoseconds((8 + 2 + 248 + 6 + 2 + 200) * 1000));
  EXPECT_EQ(latency([](tl::Context& tl) {
              const auto a = tl.buffer({100, 64}, DType::f16);
              const auto out = tl.buffer({100, 1024}, DType::f32);
              const auto b = tl.ref(b_at, {1024, 64}, DType::f16);
              tl.composite(a, tl.trans(b), CompositeOptions().out(out).tile(128));
            }),
            // Two tiles take a turn of their slots, 250 + 202.
            Picoseconds((12 + 250 + 202 + 3 * (250 + 202) + 202) * 1000));
}

// ---- errors

TEST(Composite, FactorsMustFit) {
  expect_kernel_error("composite", {"4x8", "16x4"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.buffer({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {16, 4}, DType::f16), CompositeOptions().out(out));
  });
  expect_kernel_error("composite", {"f16", "f32", ".to()"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.buffer({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 4}, DType::f32), CompositeOptions().out(out));
  });
  expect_kernel_error("composite", {"4x8 f16", "in HBM", "load it"}, [](tl::Context& tl, int& line) {
    const auto b = tl.zeros({8, 4}, DType::f16);
    const auto out = tl.buffer({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(tl.ref(a_at, {4, 8}, DType::f16), b, CompositeOptions().out(out));
  });
}

TEST(Composite, TheResultMustFit) {
  expect_kernel_error("composite", {"out or acc", "4x6"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), CompositeOptions());
  });
  expect_kernel_error("composite", {"out is 4x4 f32", "4x6"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.buffer({4, 4}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), CompositeOptions().out(out));
  });
  expect_kernel_error("composite", {"out is 4x6 f16", "cast"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.buffer({4, 6}, DType::f16);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), CompositeOptions().out(out));
  });
  expect_kernel_error("composite", {"acc is 4x6 f32", "into out"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto acc = tl.buffer({4, 6}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), CompositeOptions().acc(acc).then(MathOp::cast));
  });
  expect_kernel_error("composite", {"broadcast view"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.broadcast_to(tl.buffer({4, 1}, DType::f32), {4, 6});
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), CompositeOptions().out(out));
  });
  expect_kernel_error("composite", {"share a buffer"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({8, 8}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 8}, DType::f32), CompositeOptions().out(a));
  });
}

TEST(Composite, TilesAndStagingMustFit) {
  for (const std::int64_t tile : {0, 9}) {
    expect_kernel_error("composite", {"1 to 8 columns", std::to_string(tile)}, [tile](tl::Context& tl, int& line) {
      const auto a = tl.zeros({4, 8}, DType::f16);
      const auto out = tl.buffer({4, 8}, DType::f32);
      line = __LINE__ + 1;
      tl.composite(a, tl.ref(b_at, {8, 8}, DType::f16), CompositeOptions().out(out).tile(tile));
    });
  }
  expect_kernel_error("composite", {"needs 1024 B", "512 B"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 32}, DType::f16);
    const auto out = tl.buffer({4, 16}, DType::f32);
    const auto staging = tl.staging(Bytes(500));
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {32, 16}, DType::f16), CompositeOptions().out(out).through(staging));
  });
  expect_kernel_error("composite", {"scope", "staging"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 8}, DType::f16);
    const auto out = tl.buffer({4, 8}, DType::f32);
    CompositeOptions options = CompositeOptions().out(out);
    {
      const auto scope = tl.scratch_scope();
      options = options.through(tl.staging(Bytes(128)));
    }
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {8, 8}, DType::f16), options);
  });
  expect_kernel_error("composite", {"scratch overflow", "staging"}, [](tl::Context& tl, int& line) {
    const auto a = tl.zeros({4, 64}, DType::f16);
    const auto staging = tl.staging(Bytes(400 << 10));
    const auto out = tl.buffer({4, 4096}, DType::f32);
    line = __LINE__ + 1;
    tl.composite(a, tl.ref(b_at, {64, 4096}, DType::f16), CompositeOptions().out(out));
    static_cast<void>(staging);
  });
  expect_kernel_error("staging", {"at least 1 byte"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.staging(Bytes(0)));
  });
}

TEST(Composite, EpiloguesHaveLimits) {
  const auto expect_step_error = [](const std::vector<std::string>& words, CompositeOptions (*with)(tl::Context&)) {
    expect_kernel_error("composite", words, [with](tl::Context& tl, int& line) {
      const auto a = tl.zeros({4, 8}, DType::f16);
      const auto out = tl.buffer({4, 6}, DType::f32);
      const auto options = with(tl).out(out);
      line = __LINE__ + 1;
      tl.composite(a, tl.ref(b_at, {8, 6}, DType::f16), options);
    });
  };
  expect_step_error({"at most 3 steps", "4"}, [](tl::Context&) {
    return CompositeOptions().then(MathOp::neg).then(MathOp::neg).then(MathOp::neg).then(MathOp::neg);
  });
  expect_step_error({"max", "cannot be a step", "4x6"},
                    [](tl::Context&) { return CompositeOptions().then(MathOp::reduce_max); });
  expect_step_error({"cast", "last step"},
                    [](tl::Context&) { return CompositeOptions().then(MathOp::cast).then(MathOp::neg); });
  expect_step_error({"mul", "one operand"}, [](tl::Context&) { return CompositeOptions().then(MathOp::mul); });
  expect_step_error({"exp2", "no operand"}, [](tl::Context&) { return CompositeOptions().then(MathOp::exp2, 1.0); });
  expect_step_error({"5", "4x6"},
                    [](tl::Context& tl) { return CompositeOptions().then(MathOp::add, tl.zeros({5}, DType::f32)); });
}

TEST(Composite, ARefMustMakeSense) {
  expect_kernel_error("ref", {"2 dimensions", "8"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.ref(b_at, {8}, DType::f16));
  });
  expect_kernel_error("ref", {"9 valid rows", "8x4"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.ref(b_at, {8, 4}, DType::f16, RefOptions().valid(9)));
  });
  expect_kernel_error("ref", {"stride", "-1"}, [](tl::Context& tl, int& line) {
    line = __LINE__ + 1;
    static_cast<void>(tl.ref(b_at, {8, 4}, DType::f16, RefOptions().strides(-1)));
  });
}

TEST(Composite, AnErrorOfTheMemoryEndsTheRunAndNamesTheComposite) {
  in_child([] {
    Simulation simulation;
    int line = 0;
    const std::string message = simulation.run_failing([&line](tl::Context& tl) {
      const auto a = tl.zeros({4, 8}, DType::f16);
      const auto out = tl.buffer({4, 32}, DType::f32);
      const HbmAddress end(CubeId(0), Bytes((std::int64_t{16} << 30) - 256));  // the second tile lies outside
      line = __LINE__ + 1;
      tl.composite(a, tl.trans(tl.ref(end, {32, 8}, DType::f16)), CompositeOptions().out(out).tile(16));
      tl.wait(out);
    });
    for (const std::string& word : {std::string("PE 0"), std::string("composite/gemm of 4x8 f16 . 8x32 f16"),
                                    ":" + std::to_string(line), std::string("TLM_ADDRESS_ERROR_RESPONSE")}) {
      EXPECT_NE(message.find(word), std::string::npos) << word << " is missing in: " << message;
    }
  });
}

}  // namespace
}  // namespace kernwave::composite_test
