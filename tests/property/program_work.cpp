#include "tests/property/program_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tests/property/program_state.h"

namespace kernwave::testing {

namespace {

[[nodiscard]] auto as_tuple(const OperationCounts& c) {
  return std::tie(c.loads, c.stores, c.dots, c.maths, c.sends, c.receives, c.composites, c.part_reads, c.part_products,
                  c.part_steps);
}

/// The least that the resources of one PE have to do.
struct Demand {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t gemm_cycles = 0;  ///< of the engine's own clock
  std::int64_t math_cycles = 0;
  std::int64_t issue_cycles = 0;
};

[[nodiscard]] std::int64_t bytes_of(const Place& place, DType dtype) {
  return place.valid.rows() * place.valid.cols() * size_of(dtype);
}

/// Summed over the programs's steps.
class Accountant {
 public:
  explicit Accountant(const Program& program)
      : program_(program),
        config_(program.machine.config()),
        state_(program),
        counts_(static_cast<std::size_t>(program.machine.pes())),
        demands_(counts_.size()),
        cube_bytes_(static_cast<std::size_t>(program.machine.cubes)) {}

  void add(const Step& step) {
    state_.apply(step);
    const auto pe = static_cast<std::size_t>(step.pe);
    add(step, counts_[pe], demands_[pe]);
  }

  [[nodiscard]] Work work() const;

 private:
  void add(const Step& step, OperationCounts& counts, Demand& demand);
  void add_composite(const Step& step, OperationCounts& counts, Demand& demand);
  void add_product(Demand& demand, std::int64_t m, std::int64_t k, std::int64_t n, DType dtype, bool accumulate) const;
  void add_vectors(Demand& demand, MathOp op, std::int64_t elements) const;
  void touch(const Place& place, std::int64_t bytes, std::int64_t& of_port);
  [[nodiscard]] const View& result_of(const Step& step) const {
    return state_.view(step.target != no_value ? step.target : step.result);
  }

  const Program& program_;
  SystemConfig config_;
  ProgramState state_;
  std::vector<OperationCounts> counts_;
  std::vector<Demand> demands_;
  std::vector<std::int64_t> cube_bytes_;  // reads and writes share the channels
};

void Accountant::touch(const Place& place, std::int64_t bytes, std::int64_t& of_port) {
  of_port += bytes;
  cube_bytes_.at(static_cast<std::size_t>(program_.areas.at(static_cast<std::size_t>(place.area)).cube)) += bytes;
}

/// The matrix engine at its ideal rate, or its operands' way through scratch.
void Accountant::add_product(Demand& demand, std::int64_t m, std::int64_t k, std::int64_t n, DType dtype,
                             bool accumulate) const {
  const GemmConfig& gemm = config_.pe.gemm;
  const std::int64_t rate = dtype == DType::f32   ? gemm.f32_cycles
                            : dtype == DType::f16 ? gemm.f16_cycles
                                                  : gemm.bf16_cycles;
  const std::int64_t moved = (m * k + k * n) * size_of(dtype) + m * n * 4 * (accumulate ? 2 : 1);
  demand.gemm_cycles +=
      std::max(ceil_div(m * k * n * rate, gemm.rows * gemm.cols), ceil_div(moved, config_.pe.scratch.bytes_per_cycle));
}

void Accountant::add_vectors(Demand& demand, MathOp op, std::int64_t elements) const {
  const std::int64_t cycles = op == MathOp::exp2 ? config_.pe.math.cycles.exp.count() : 1;
  demand.math_cycles += cycles * ceil_div(elements, config_.pe.math.lanes);
}

void Accountant::add(const Step& step, OperationCounts& counts, Demand& demand) {
  const IssueCosts& issue = config_.pe.issue;
  switch (step.kind) {
    case StepKind::load:
      ++counts.loads;
      demand.issue_cycles += issue.load.count();
      return touch(step.place, bytes_of(step.place, step.dtype), demand.read_bytes);
    case StepKind::store:
      ++counts.stores;
      demand.issue_cycles += issue.store.count();
      return touch(step.place, bytes_of(step.place, state_.view(step.operands[0].value).dtype), demand.written_bytes);
    case StepKind::dot: {
      ++counts.dots;
      demand.issue_cycles += issue.dot.count();
      const View& a = state_.view(step.operands[0].value);
      const View& b = state_.view(step.operands[1].value);
      return add_product(demand, a.shape[0], a.shape[1], b.shape[1], a.dtype, step.accumulate);
    }
    case StepKind::math:
    case StepKind::reduce: {
      ++counts.maths;
      demand.issue_cycles += issue.math.count();
      const View& counted = step.kind == StepKind::reduce ? state_.view(step.operands[0].value) : result_of(step);
      return add_vectors(demand, step.op, counted.shape.elements());
    }
    case StepKind::composite:
      return add_composite(step, counts, demand);
    case StepKind::send:
      ++counts.sends;
      demand.issue_cycles += issue.send.count();
      return;
    case StepKind::receive:
    case StepKind::receive_async:
      ++counts.receives;
      demand.issue_cycles += issue.receive.count();
      return;
    default:
      return;
  }
}

void Accountant::add_composite(const Step& step, OperationCounts& counts, Demand& demand) {
  ++counts.composites;
  demand.issue_cycles += config_.pe.issue.composite.count();
  const View& out = state_.view(step.target);
  const Factor& a = step.factors[0];
  const std::int64_t m = out.shape[0];
  const std::int64_t n = out.shape[1];
  const std::int64_t k = a.value != no_value ? state_.view(a.value).shape[1] : shape_of(a)[1];
  const std::int64_t extent = step.axis == 0 ? n : k;
  const std::int64_t tiles = ceil_div(extent, step.end);
  DType dtype = DType::f32;
  for (const Factor& factor : step.factors) {
    if (factor.value != no_value) {
      dtype = state_.view(factor.value).dtype;
      continue;
    }
    dtype = program_.areas[static_cast<std::size_t>(factor.place.area)].dtype;
    counts.part_reads += tiles;
    touch(factor.place, bytes_of(factor.place, dtype), demand.read_bytes);
  }
  counts.part_products += tiles;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t size = std::min(step.end, extent - tile * step.end);
    const bool adds = step.accumulate || (step.axis == 1 && tile > 0);
    step.axis == 0 ? add_product(demand, m, k, size, dtype, adds) : add_product(demand, m, size, n, dtype, adds);
    if (step.axis == 1 && tile > 0) continue;
    for (const EpilogueStep& part : step.epilogue) add_vectors(demand, part.op, m * (step.axis == 0 ? size : n));
    counts.part_steps += static_cast<std::int64_t>(step.epilogue.size());
  }
}

Work Accountant::work() const {
  Work work{counts_, {}};
  const auto cycles = [this](std::int64_t count, std::int64_t multiple) {
    return Picoseconds(count * 1'000'000'000'000 / (config_.pe.clock.count() * multiple));
  };
  const auto stream = [](std::int64_t bytes, Bandwidth bandwidth) {
    return Picoseconds(
        static_cast<std::int64_t>(static_cast<double>(bytes) * 1e12 / static_cast<double>(bandwidth.count())));
  };
  for (std::size_t pe = 0; pe < demands_.size(); ++pe) {
    const Demand& demand = demands_[pe];
    const auto add = [&](const char* resource, Picoseconds time) {
      work.bounds.push_back({fmt::format("{} of PE {}", resource, pe), time});
    };
    add("dma_read", stream(demand.read_bytes, config_.pe.dma.bandwidth));
    add("dma_write", stream(demand.written_bytes, config_.pe.dma.bandwidth));
    add("gemm", cycles(demand.gemm_cycles, config_.pe.gemm.clock_multiple));
    add("math", cycles(demand.math_cycles, config_.pe.math.clock_multiple));
    add("issue", cycles(demand.issue_cycles, 1));
  }
  for (std::size_t cube = 0; cube < cube_bytes_.size(); ++cube) {
    work.bounds.push_back({fmt::format("hbm of cube {}", cube), stream(cube_bytes_[cube], config_.hbm.bandwidth)});
  }
  return work;
}

}  // namespace

bool operator==(const OperationCounts& a, const OperationCounts& b) { return as_tuple(a) == as_tuple(b); }

std::string to_text(const OperationCounts& c) {
  return fmt::format(
      "{} loads, {} stores, {} dots, {} math, {} sends, {} receives, {} composites of {} reads, {} products, {} steps",
      c.loads, c.stores, c.dots, c.maths, c.sends, c.receives, c.composites, c.part_reads, c.part_products,
      c.part_steps);
}

Work work_of(const Program& program) {
  Accountant accountant(program);
  for (const Step& step : program.steps) accountant.add(step);
  return accountant.work();
}

}  // namespace kernwave::testing
