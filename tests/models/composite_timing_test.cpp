// Composites take the time of their formulas, to the picosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/pe/composite_parts.h"
#include "tests/support/child.h"
#include "tests/support/contended_machine.h"
#include "tests/support/simulation.h"

namespace kernwave::composite_timing_test {
namespace {

using testing::contended_machine;
using testing::from_child;
using testing::in_child;
using testing::one_cube;
using testing::Simulation;

constexpr Picoseconds cycle(1000);
constexpr Picoseconds issue_composite = 12 * cycle;
constexpr Picoseconds dispatch = 2 * cycle;
constexpr std::int64_t depth_of_k = 64;
constexpr std::int64_t tile_keys = 128;  // 128 x 64 f16: 16 KiB
const HbmAddress keys(0x100000);

/// Rows of the left factor and lanes of the vector engine decide what a tile's product and its epilogue take; its read
/// takes 20 + 100 + 128 ns.
struct Case {
  const char* name = "";
  std::int64_t rows = 0;
  std::int64_t lanes = 256;
  std::vector<MathOp> steps;
};

/// M x 64 times 64 x 128 on 64 x 64: 2 M cycles; operands M 128 B + 16 KiB + M 512 B at 512 B a cycle.
[[nodiscard]] Picoseconds product(std::int64_t rows) {
  return std::max(2 * rows, ceil_div(rows * 128 + 16384 + rows * 512, 512)) * cycle;
}

/// The steps of a tile with a dispatch each.
[[nodiscard]] Picoseconds epilogue(const Case& c) {
  Picoseconds sum;
  for (const MathOp op : c.steps) {
    const std::int64_t cycles = op == MathOp::exp2 ? 4 : 1;
    sum += dispatch + cycles * ceil_div(c.rows * tile_keys, c.lanes) * cycle;
  }
  return sum;
}

struct Machine {
  bool overlap = true;
  std::int64_t depth = 2;
};

/// The formula of docs/timing.md, "Composites": from taking the command to its completion.
struct Pipeline {
  Picoseconds first_read;  ///< with its dispatch
  Picoseconds product;     ///< likewise
  Picoseconds epilogue;    ///< likewise, all steps
  Picoseconds period;      ///< of a pipeline that never waits for a slot
  Picoseconds turn;        ///< of a slot: from the dispatch of a read to the end of the product that uses it

  Pipeline(const Case& c, const Machine& machine) {
    const Picoseconds setup(20'000);
    const Picoseconds latency(100'000);
    const Picoseconds transfer(128'000);
    first_read = dispatch + setup + latency + transfer;
    product = dispatch + composite_timing_test::product(c.rows);
    epilogue = composite_timing_test::epilogue(c);
    period = std::max({machine.overlap ? std::max(setup, transfer) : first_read, product, epilogue});
    turn = first_read + product;
  }

  [[nodiscard]] Picoseconds time(std::int64_t tiles, std::int64_t depth) const {
    const std::int64_t turns = (tiles - 1) / depth;
    const std::int64_t rest = (tiles - 1) % depth;
    return first_read + product + epilogue + turns * std::max(turn, depth * period) + rest * period;
  }
};

[[nodiscard]] SystemConfig configured(const Case& c, const Machine& machine) {
  SystemConfig config = one_cube();
  config.pe.dma.overlap_commands = machine.overlap;
  config.pe.scheduler.prefetch_depth = machine.depth;
  config.pe.math.lanes = c.lanes;
  return config;
}

[[nodiscard]] tl::CompositeOptions with_steps(tl::CompositeOptions options, const Case& c) {
  for (const MathOp op : c.steps) options = op == MathOp::exp2 ? options.then(op) : options.then(op, 0.5);
  return options;
}

/// a . b^T, b in HBM, by tiles of its rows.
void scores(tl::Context& tl, const Case& c, std::int64_t tiles) {
  const auto a = tl.buffer({c.rows, depth_of_k}, DType::f16);
  const auto out = tl.buffer({c.rows, tiles * tile_keys}, DType::f32);
  const auto b = tl.ref(keys, {tiles * tile_keys, depth_of_k}, DType::f16);
  tl.composite(a, tl.trans(b), with_steps(tl::CompositeOptions().out(out).tile(tile_keys), c));
}

[[nodiscard]] Picoseconds latency_of(const tl::Kernel& kernel, const SystemConfig& config,
                                     tl::Policy policy = tl::Policy::lazy) {
  const std::string text = from_child([&] {
    Simulation simulation(config, DataMode::none);
    simulation.run(kernel, policy);
    return std::to_string(simulation.latency().count());
  });
  return Picoseconds(text.empty() ? -1 : std::stoll(text));
}

void expect_formula(const Case& c, const Machine& machine) {
  const Pipeline pipeline(c, machine);
  for (const std::int64_t tiles : {1, 2, 3, 4, 7, 10}) {
    EXPECT_EQ(latency_of([&](tl::Context& tl) { scores(tl, c, tiles); }, configured(c, machine)),
              issue_composite + pipeline.time(tiles, machine.depth))
        << c.name << ", " << tiles << " tiles, depth " << machine.depth << (machine.overlap ? "" : ", no overlap");
  }
}

// Which stage a tile spends most time in, with overlap (a transfer of 128) and without (a read of 250).
const Case by_reads{"reads", 16, 256, {MathOp::mul}};
const Case by_products{"products", 128, 256, {MathOp::mul}};
const Case by_epilogues{"epilogues", 64, 64, {MathOp::mul, MathOp::exp2}};
const Case without_epilogue{"no epilogue", 100, 256, {}};
const Case balanced{"balanced", 63, 64, {MathOp::mul}};
const Case balanced_without_overlap{"balanced without overlap", 124, 64, {MathOp::mul}};

TEST(CompositeTiming, TheCasesAreWhatTheyAreCalled) {
  const Picoseconds transfer(128'000);
  const Picoseconds read(250'000);
  const Pipeline reads(by_reads, {});
  EXPECT_GT(transfer, std::max(reads.product, reads.epilogue));
  const Pipeline products(by_products, {});
  EXPECT_GT(products.product, std::max(read, products.epilogue));
  const Pipeline epilogues(by_epilogues, {});
  EXPECT_GT(epilogues.epilogue, std::max(read, epilogues.product));
  const Pipeline even(balanced, {});
  EXPECT_EQ(even.product, transfer);
  EXPECT_EQ(even.epilogue, transfer);
  const Pipeline even_without(balanced_without_overlap, {false, 2});
  EXPECT_EQ(even_without.product, read);
  EXPECT_EQ(even_without.epilogue, read);
}

TEST(CompositeTiming, WithoutOverlapTilesTakeTheSlowestStage) {
  for (const Case* c : {&by_reads, &by_products, &by_epilogues, &without_epilogue, &balanced_without_overlap}) {
    for (const std::int64_t depth : {2, 3}) {
      const Machine machine{false, depth};
      const Pipeline pipeline(*c, machine);
      // (d + dma) + (d + gemm) + (d + math) + (n - 1) max of them: two slots are enough.
      ASSERT_LE(pipeline.turn, depth * pipeline.period);
      EXPECT_EQ(pipeline.time(10, depth), pipeline.first_read + pipeline.product + pipeline.epilogue +
                                              9 * std::max({pipeline.first_read, pipeline.product, pipeline.epilogue}));
      expect_formula(*c, machine);
    }
  }
}

TEST(CompositeTiming, WithOverlapSetupAndLatencyHideFromThreeSlotsOn) {
  for (const Case* c : {&by_reads, &by_products, &by_epilogues, &without_epilogue, &balanced}) {
    const Pipeline pipeline(*c, {true, 3});
    ASSERT_LE(pipeline.turn, 3 * pipeline.period);
    EXPECT_EQ(pipeline.time(10, 3), pipeline.first_read + pipeline.product + pipeline.epilogue +
                                        9 * std::max({Picoseconds(128'000), pipeline.product, pipeline.epilogue}));
    expect_formula(*c, {true, 3});
  }
}

TEST(CompositeTiming, WithOverlapTwoSlotsMayRunDry) {
  for (const Case* c : {&by_reads, &by_products, &by_epilogues, &without_epilogue, &balanced}) {
    expect_formula(*c, {true, 2});
  }
  // Where they do, two tiles take a turn of their slots.
  const Pipeline dry(by_reads, {});
  ASSERT_GT(dry.turn, 2 * dry.period);
  EXPECT_EQ(dry.time(11, 2), dry.first_read + dry.product + dry.epilogue + 5 * dry.turn);
  // Where they do not, the slowest stage counts.
  const Pipeline covered(by_products, {});
  ASSERT_LE(covered.turn, 2 * covered.period);
}

TEST(CompositeTiming, OneSlotTakesATurnATile) {
  expect_formula(by_reads, {true, 1});
  expect_formula(by_products, {false, 1});
}

TEST(CompositeTiming, ShortQueuesOfTheEnginesCostNothing) {
  for (const Case* c : {&by_reads, &by_products, &by_epilogues}) {
    SystemConfig config = configured(*c, {true, 3});
    config.pe.dma.queue_depth = 1;
    config.pe.gemm.queue_depth = 1;
    config.pe.math.queue_depth = 1;
    const Picoseconds expected = issue_composite + Pipeline(*c, {true, 3}).time(8, 3);
    // The read channel sets the next command up only when it has taken it: with one place, not under the data.
    if (c != &by_reads) {
      EXPECT_EQ(latency_of([&](tl::Context& tl) { scores(tl, *c, 8); }, config), expected) << c->name;
    }
    config.pe.dma.queue_depth = 3;
    EXPECT_EQ(latency_of([&](tl::Context& tl) { scores(tl, *c, 8); }, config), expected) << c->name;
  }
}

TEST(CompositeTiming, AlongKTheEpilogueRunsOnceAtTheEnd) {
  // 128 x 1024 times 1024 x 128 by tiles of 64 of k, a in scratch, b's tiles 64 x 128: products of 256 cycles, or of
  // their operands, (16 + 16 + 64) KiB / 512 = 192 at first and 320 with the accumulator's second pass.
  constexpr std::int64_t tiles = 16;
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({128, tiles * 64}, DType::f16);
    const auto out = tl.buffer({128, 128}, DType::f32);
    tl.composite(a, tl.ref(keys, {tiles * 64, 128}, DType::f16),
                 tl::CompositeOptions().out(out).tile(64).along(tl::CompositeAxis::k).then(MathOp::mul, 2.0));
  };
  // 128 x 128 elements on 256 lanes: 64 cycles, once.
  const Picoseconds expected = issue_composite + (dispatch + Picoseconds(248'000)) + (dispatch + 256 * cycle) +
                               (tiles - 1) * (dispatch + 320 * cycle) + (dispatch + 64 * cycle);
  EXPECT_EQ(latency_of(kernel, one_cube()), expected);
}

TEST(CompositeTiming, TwoFactorsInHbmAreReadOneAfterTheOther) {
  // a: 128 x 64 f16 tiles, 16 KiB, strided by rows; b: 64 x 128. Both transfers count, one setup and latency.
  constexpr std::int64_t tiles = 6;
  const auto kernel = [](tl::Context& tl) {
    const auto out = tl.buffer({128, 128}, DType::f32);
    tl.composite(tl.trans(tl.ref(HbmAddress(0), {tiles * 64, 128}, DType::f16)),
                 tl.ref(keys, {tiles * 64, 128}, DType::f16),
                 tl::CompositeOptions().out(out).tile(64).along(tl::CompositeAxis::k));
  };
  SystemConfig config = one_cube();
  config.pe.scheduler.prefetch_depth = 3;
  const Picoseconds period = std::max(2 * Picoseconds(128'000), dispatch + 320 * cycle);
  EXPECT_EQ(latency_of(kernel, config), issue_composite + (dispatch + Picoseconds(248'000 + 128'000)) +
                                            (dispatch + 256 * cycle) + (tiles - 1) * period);
  // Without overlap each of the two has a dispatch, a setup and a latency of its own.
  config.pe.dma.overlap_commands = false;
  const Picoseconds reads = 2 * (dispatch + Picoseconds(248'000));
  EXPECT_EQ(latency_of(kernel, config), issue_composite + reads + (dispatch + 320 * cycle) + (tiles - 1) * reads);
}

TEST(CompositeTiming, FactorsInScratchHaveNoReads) {
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({128, 64}, DType::f16);
    const auto b = tl.buffer({64, 4 * 128}, DType::f16);
    const auto out = tl.buffer({128, 4 * 128}, DType::f32);
    tl.composite(a, b, tl::CompositeOptions().out(out).tile(128).then(MathOp::mul, 2.0));
  };
  // The dispatch of the composite is that of the first product.
  EXPECT_EQ(latency_of(kernel, one_cube()), issue_composite + 4 * (dispatch + 256 * cycle) + (dispatch + 64 * cycle));
}

// ---- composites queue

TEST(CompositeTiming, CompositesThatShareAStagingAreaAreOnePipeline) {
  for (const Case* c : {&by_reads, &by_products, &by_epilogues}) {
    for (const std::int64_t depth : {2, 3}) {
      in_child([c, depth] {
        const Machine machine{true, depth};
        Simulation simulation(configured(*c, machine), DataMode::none);
        constexpr std::int64_t tiles = 5;
        simulation.run([&](tl::Context& tl) {
          const auto a = tl.buffer({c->rows, depth_of_k}, DType::f16);
          const auto staging = tl.staging(Bytes(tile_keys * depth_of_k * 2));
          const auto out = tl.buffers(2, {c->rows, tiles * tile_keys}, DType::f32);
          for (std::int64_t half = 0; half < 2; ++half) {
            const auto b = tl.ref(keys + Bytes(half * tiles * 16384), {tiles * tile_keys, depth_of_k}, DType::f16);
            const auto options = tl::CompositeOptions().out(out[static_cast<std::size_t>(half)]).tile(tile_keys);
            tl.composite(a, tl.trans(b), with_steps(options.through(staging), *c));
          }
        });
        // As one composite of twice as many tiles: the second one's reads go on under the first one's products.
        EXPECT_EQ(simulation.latency(), issue_composite + Pipeline(*c, machine).time(2 * tiles, depth)) << c->name;
        Picoseconds first_complete;
        Picoseconds second_reads;
        for (const traces::OperationRow& row : simulation.rows()) {
          const OperationId& id = row.descriptor.id;
          if (id.sequence == 0 && id.part == 0) first_complete = row.end;
          if (id.sequence == 1 && id.part == 1) second_reads = row.start;
        }
        EXPECT_EQ(first_complete, issue_composite + Pipeline(*c, machine).time(tiles, depth)) << c->name;
        EXPECT_LT(second_reads, first_complete) << c->name;
      });
    }
  }
}

TEST(CompositeTiming, AStagingAreaOfItsOwnIsFreeAtOnce) {
  // Two composites of one tile each: the second read follows the first on the channel.
  const Case& c = by_reads;
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({c.rows, depth_of_k}, DType::f16);
    const auto out = tl.buffers(2, {c.rows, tile_keys}, DType::f32);
    const auto b = tl.trans(tl.ref(keys, {tile_keys, depth_of_k}, DType::f16));
    for (const auto& result : out) tl.composite(a, b, tl::CompositeOptions().out(result));
  };
  const Pipeline pipeline(c, {});
  EXPECT_EQ(latency_of(kernel, configured(c, {true, 1})),
            issue_composite + pipeline.first_read + Picoseconds(128'000) + pipeline.product);
}

TEST(CompositeTiming, AShortCompositeMayEndBeforeALongerOneThatWasIssuedEarlier) {
  in_child([] {
    SystemConfig config = one_cube();
    config.pe.math.lanes = 1;
    Simulation simulation(config, DataMode::none);
    simulation.run([](tl::Context& tl) {
      const auto a = tl.buffer({64, 64}, DType::f16);
      const auto long_one = tl.buffer({64, 64}, DType::f32);
      const auto short_one = tl.buffer({64, 64}, DType::f32);
      const auto third = tl.buffer({64, 64}, DType::f32);
      tl.composite(a, a, tl::CompositeOptions().out(long_one).then(MathOp::mul, 2.0));
      tl.composite(a, a, tl::CompositeOptions().out(short_one));
      tl.wait(short_one);
      tl.composite(a, a, tl::CompositeOptions().out(third));
    });
    // Two products one after the other; the epilogue of the first takes 4096 cycles.
    std::vector<std::int64_t> ended;
    for (const traces::OperationRow& row : simulation.rows()) {
      if (row.descriptor.id.part == 0) ended.push_back(row.descriptor.id.sequence);
    }
    EXPECT_EQ(ended, (std::vector<std::int64_t>{1, 2, 0}));
    EXPECT_EQ(simulation.latency(), issue_composite + (dispatch + 64 * cycle) + (dispatch + 4096 * cycle));
    EXPECT_EQ(simulation.time(TimeCause::composite),  // from the second's issue to its end
              2 * (dispatch + 64 * cycle) - issue_composite);
  });
}

// ---- the kernel's own operations and parts share the engines

/// When the product of the kernel's own and the first product of the composite start, the kernel's being dispatched
/// `issue_dot` + 2 cycles after the composite was taken.
struct Starts {
  Picoseconds own;
  Picoseconds part;
};

[[nodiscard]] Starts starts_of_products(std::int64_t issue_dot) {
  SystemConfig config = one_cube();
  config.pe.issue.dot = Cycles(issue_dot);
  Simulation simulation(config, DataMode::none);
  simulation.run(
      [](tl::Context& tl) {
        const auto square = tl.buffer({64, 64}, DType::f16);
        scores(tl, by_reads, 1);
        tl.dot(square, square);
      },
      tl::Policy::stall_on_use);
  Starts starts;
  for (const traces::OperationRow& row : simulation.rows()) {
    if (row.descriptor.engine != Engine::gemm) continue;
    (row.descriptor.id.part == 0 ? starts.own : starts.part) = row.start;
  }
  return starts;
}

TEST(CompositeTiming, InOneInstantTheKernelsOwnCommandGoesFirst) {
  // Taken at 12; the read is presented at 14 and ends at 262, the product is presented at 264.
  constexpr std::int64_t same_instant = 264 - 12 - 2;
  for (const std::int64_t before : {1, 0}) {
    in_child([before] {
      const Starts starts = starts_of_products(same_instant - before);
      EXPECT_EQ(starts.own, (264 - before) * cycle);
      EXPECT_EQ(starts.part, (264 - before + 64) * cycle);  // behind 64 cycles
    });
  }
  in_child([] {
    const Starts starts = starts_of_products(same_instant + 1);
    EXPECT_EQ(starts.part, 264 * cycle);
    EXPECT_EQ(starts.own, 264 * cycle + product(by_reads.rows));
  });
}

TEST(CompositeTiming, EnginesServeKernelAndCompositeInTheOrderOfArrival) {
  // Products of 256 cycles bind. The kernel's own product of 64, dispatched during the second one, delays the third by
  // 64, less the dispatch that it hides.
  const auto kernel = [](bool with_dot) {
    return [with_dot](tl::Context& tl) {
      const auto square = tl.buffer({64, 64}, DType::f16);
      scores(tl, by_products, 6);
      if (with_dot) tl.dot(square, square);
    };
  };
  SystemConfig config = configured(by_products, {true, 2});
  config.pe.issue.dot = Cycles(600);
  const Picoseconds alone = latency_of(kernel(false), config, tl::Policy::stall_on_use);
  EXPECT_EQ(latency_of(kernel(true), config, tl::Policy::stall_on_use), alone + 64 * cycle - dispatch);
}

TEST(CompositeTiming, MathIsSharedLikewise) {
  // The first tile's product ends at 12 + 250 + 54; its step is presented 2 later. A MATH operation of the kernel's own
  // of 32 cycles that is dispatched in that instant goes first.
  const std::int64_t step_at = 12 + 250 + 54 + 2;
  SystemConfig config = configured(by_reads, {true, 2});
  config.pe.issue.math = Cycles(step_at - 12 - 2);
  in_child([&] {
    Simulation simulation(config, DataMode::none);
    simulation.run(
        [](tl::Context& tl) {
          const auto own = tl.buffer({64, 128}, DType::f32);
          scores(tl, by_reads, 1);
          tl.fill(own, 1.0);
        },
        tl::Policy::stall_on_use);
    for (const traces::OperationRow& row : simulation.rows()) {
      if (row.descriptor.engine != Engine::math) continue;
      EXPECT_EQ(row.start, (step_at + (row.descriptor.id.part == 0 ? 0 : 32)) * cycle);
    }
  });
}

TEST(CompositeTiming, LoadsOfTheKernelsOwnQueueBehindReadsThatWereThereFirst) {
  in_child([] {
    Simulation simulation(configured(by_products, {true, 2}), DataMode::none);
    simulation.run([](tl::Context& tl) {
      scores(tl, by_products, 4);
      tl.load(HbmAddress(0), {64, 128}, DType::f16);
    });
    // Two tiles are requested at once, the load 8 + 2 cycles later: behind them, before the third.
    for (const traces::OperationRow& row : simulation.rows()) {
      if (row.descriptor.id.sequence != 1) continue;
      EXPECT_EQ(row.end, issue_composite + dispatch + Picoseconds(248'000 + 2 * 128'000));
    }
  });
}

// ---- what is logged and counted

TEST(CompositeTiming, PartsAreLoggedUnderTheirComposite) {
  in_child([] {
    Simulation simulation(configured(by_epilogues, {true, 2}), DataMode::none);
    constexpr std::int64_t tiles = 3;
    simulation.run([](tl::Context& tl) {
      tl.load(HbmAddress(0), {64, 128}, DType::f16);
      scores(tl, by_epilogues, tiles);
    });
    const auto rows = simulation.rows();
    ASSERT_EQ(rows.size(), 1U + 1U + tiles * 4U);  // read, product, two steps
    std::vector<std::string> names(tiles * 4 + 1);
    for (const traces::OperationRow& row : rows) {
      if (row.descriptor.id.sequence != 1) continue;
      names.at(static_cast<std::size_t>(row.descriptor.id.part)) = name_of(row.descriptor);
      EXPECT_EQ(std::string(row.where.file), __FILE__);
      EXPECT_LE(row.issued, row.start);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"gemm", "dma_read", "dot", "mul", "exp2", "dma_read", "dot", "mul",
                                               "exp2", "dma_read", "dot", "mul", "exp2"}));
    const auto whole = std::find_if(rows.begin(), rows.end(),
                                    [](const auto& row) { return row.descriptor.engine == Engine::composite; });
    const auto read =
        std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.descriptor.id.part == 1; });
    ASSERT_NE(whole, rows.end());
    ASSERT_NE(read, rows.end());
    EXPECT_EQ(whole->start, read->start);
    EXPECT_EQ(whole->end, simulation.latency());
    EXPECT_EQ(transferred_bytes(whole->descriptor), Bytes(tiles * 16384));
    EXPECT_EQ(flops_of(whole->descriptor), 64 * tiles * tile_keys * (2 * 64 + 2));
    EXPECT_EQ(describe(whole->descriptor),
              "composite/gemm of 64x64 f16 . 64x384 f16 at cube 0, offset 0x100000 by tiles of 128 columns, mul, exp2");
    const CompositeStatistics& statistics = simulation.pe().scheduler().composite_statistics();
    EXPECT_EQ(statistics.composites, 1);
    EXPECT_EQ(statistics.reads, tiles);
    EXPECT_EQ(simulation.pe().statistics(Engine::dma_read).operations, tiles + 1);
  });
}

TEST(CompositeTiming, ATailTakesItsOwnTime) {
  // 128 + 40 rows of b: the second read has 40 x 128 B.
  const auto kernel = [](tl::Context& tl) {
    const auto a = tl.buffer({64, 64}, DType::f16);
    const auto out = tl.buffer({64, 168}, DType::f32);
    tl.composite(a, tl.trans(tl.ref(keys, {168, 64}, DType::f16)), tl::CompositeOptions().out(out).tile(128));
  };
  // The first product (128 cycles) ends 2 + 248 + 2 + 128 after it was taken, the second read 40 ns after the first.
  // 64 x 64 x 40 multiply-accumulates: 40 cycles; (8,192 + 5,120 + 10,240) B / 512 = 46.
  EXPECT_EQ(latency_of(kernel, one_cube()), issue_composite + (2 + 248 + 2 + 128 + 2 + 46) * cycle);
}

// ---- nothing depends on who runs first

/// Composites of all kinds and the kernel's own loads, products and MATH, on six PEs that contend for memory.
void contending_kernel(tl::Context& tl) {
  const std::int64_t program = tl.program_id(0);
  const CubeId cube(program / 3);
  const auto q = tl.load(HbmAddress(cube, Bytes(0x8000)), {32, 64}, DType::f16);
  const auto square = tl.load(HbmAddress(cube, Bytes(0x10000)), {32, 32}, DType::f16);
  const auto results = tl.buffers(4, {32, 96}, DType::f32);
  const auto staging = tl.staging(Bytes(32 * 64 * 2));
  for (std::int64_t round = 0; round < 6; ++round) {
    auto scope = tl.scratch_scope();
    const HbmAddress base(cube, Bytes(0x20000 + round * 0x4000));
    const auto b = tl.trans(tl.ref(base, {96, 64}, DType::f16));
    const auto& result = results[static_cast<std::size_t>(round % 4)];
    auto options = tl::CompositeOptions().out(result).tile(32).then(MathOp::mul, 0.25);
    if (round % 2 == 0) options = options.through(staging).then(MathOp::exp2);
    tl.composite(q, b, options);
    const auto c = tl.dot(square, square) + 1.0F;
    tl.load(HbmAddress(cube, Bytes(0x60000 + round * 0x1000)), {32, 32}, DType::f16);
    tl.store(HbmAddress(cube, Bytes(0x100000 + (program * 6 + round) * 4096)), c);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    tl.store(HbmAddress(cube, Bytes(0x200000 + (program * 4 + i) * 0x4000)), results[static_cast<std::size_t>(i)]);
  }
}

[[nodiscard]] std::string contended_log(std::int64_t queues, ConstructionOrder order, DataMode mode,
                                        tl::Policy policy) {
  return from_child([&] {
    SystemConfig config = contended_machine();
    config.pe.scheduler.queue_depth = 2 * queues;
    config.pe.dma.queue_depth = queues;
    config.pe.gemm.queue_depth = queues;
    config.pe.math.queue_depth = queues;
    Simulation simulation(config, mode, order);
    simulation.run_grid({6, 1, 1}, contending_kernel, policy);
    return std::to_string(simulation.latency().count()) + " ps\n" + simulation.log_text();
  });
}

TEST(CompositeTiming, TheLogIsTheSameInEveryConstructionOrderAndDataMode) {
  for (const std::int64_t queues : {1, 2, 16}) {
    for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
      const std::string expected = contended_log(queues, ConstructionOrder::ascending, DataMode::full, policy);
      EXPECT_GT(std::count(expected.begin(), expected.end(), '\n'), 6 * 6 * 10);
      for (const ConstructionOrder order : {ConstructionOrder::descending, ConstructionOrder::interleaved}) {
        EXPECT_EQ(contended_log(queues, order, DataMode::full, policy), expected) << queues << ' ' << name_of(policy);
      }
      EXPECT_EQ(contended_log(queues, ConstructionOrder::ascending, DataMode::none, policy), expected)
          << queues << ' ' << name_of(policy);
    }
  }
}

}  // namespace
}  // namespace kernwave::composite_timing_test
