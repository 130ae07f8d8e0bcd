// A policy and a data mode decide when; never what, where or how much.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/policies.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::policies_test {
namespace {

using testing::all_policies;
using testing::eighths;
using testing::from_child;
using testing::one_cube;
using testing::put;
using testing::Simulation;

// ---- a set of kernels: x and y hold 128 x 128 elements in f16 each; all results lie in 256 KiB from `out` on

constexpr HbmAddress x_at(1 << 20);
constexpr HbmAddress y_at(2 << 20);
constexpr HbmAddress out_at(3 << 20);
constexpr std::int64_t out_bytes = 256 << 10;
constexpr std::int64_t n = 128;
const tl::Shape block{32, 32};

/// Block (i, j) of the matrix at `base`.
[[nodiscard]] HbmAddress block_of(HbmAddress base, std::int64_t i, std::int64_t j) {
  return base + Bytes((i * 32 * n + j * 32) * size_of(DType::f16));
}
tl::Tensor load_block(tl::Context& tl, HbmAddress base, std::int64_t i, std::int64_t j) {
  return tl.load(block_of(base, i, j), block, DType::f16, tl::LoadOptions().strides(n));
}

void vector_add(tl::Context& tl) {
  for (std::int64_t row = 0; row < 8; ++row) {
    const auto scope = tl.scratch_scope();
    const Bytes offset(row * n * 2);
    tl.store(out_at + offset, tl.load(x_at + offset, {n}, DType::f16) + tl.load(y_at + offset, {n}, DType::f16));
  }
}

void matrix_product(tl::Context& tl) {
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 2; ++j) {
      const auto scope = tl.scratch_scope();
      const auto acc = tl.zeros(block, DType::f32);
      for (std::int64_t k = 0; k < 4; ++k) {
        const auto inner = tl.scratch_scope();
        tl.dot(load_block(tl, x_at, i, k), load_block(tl, y_at, k, j), acc);
      }
      tl.store(block_of(out_at, i, j), acc.to(DType::f16), tl::StoreOptions().strides(n));
    }
  }
}

/// Tiles of x two ahead in three buffers, the loop of a kernel that streams.
void prefetched_product(tl::Context& tl) {
  constexpr std::int64_t tiles = 16;
  const auto buffers = tl.buffers(3, block, DType::f16);
  const auto acc = tl.zeros(block, DType::f32);
  const auto fetch = [&](std::int64_t t) {
    tl.load(block_of(x_at, t / 4, t % 4), block, DType::f16,
            tl::into(buffers[static_cast<std::size_t>(t % 3)]).strides(n));
  };
  fetch(0);
  fetch(1);
  for (std::int64_t t = 0; t < tiles; ++t) {
    if (t + 2 < tiles) fetch(t + 2);
    const auto& tile = buffers[static_cast<std::size_t>(t % 3)];
    tl.dot(tile, tl.trans(tile), acc);
  }
  tl.store(out_at, acc);
}

void softmax_rows(tl::Context& tl) {
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto scope = tl.scratch_scope();
    const auto x = tl.load(x_at + Bytes(i * 32 * n * 2), {32, n}, DType::f16).to(DType::f32);
    const auto e = tl.exp(x - tl.max(x, 1, true));
    tl.store(out_at + Bytes(i * 32 * n * 4), e / tl.sum(e, 1, true));
  }
}

/// Every step overwrites what the one before it has made or is still storing.
void updates_in_place(tl::Context& tl) {
  const auto x = load_block(tl, x_at, 0, 0);
  const auto y = load_block(tl, y_at, 0, 0);
  for (std::int64_t step = 0; step < 6; ++step) {
    tl.mul(x, 0.5F, tl::out(x));
    tl.store(out_at + Bytes(step * 2048), x);
    tl.add(x, y, tl::out(x));
    tl.store(out_at + Bytes(65536 + step * 2048), tl.trans(x));
    tl.copy_to(y, x);
  }
}

/// Scopes end with loads and stores in flight, and their bytes go to the next ones.
void recycled_scopes(tl::Context& tl) {
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto scope = tl.scratch_scope();
    const auto x = load_block(tl, x_at, i % 4, i / 4);
    {
      const auto inner = tl.scratch_scope();
      load_block(tl, y_at, 3, i % 4);  // never used
      tl.store(out_at + Bytes(i * 4096), x.to(DType::f32));
    }
    tl.store(out_at + Bytes(65536 + i * 4096), tl.full(block, static_cast<double>(i), DType::f32));
  }
}

/// What is loaded has just been stored, and is stored over at once.
void through_memory(tl::Context& tl) {
  tl.store(out_at, load_block(tl, x_at, 1, 1));
  for (std::int64_t step = 0; step < 5; ++step) {
    const auto old = tl.load(out_at, block, DType::f16);
    tl.store(out_at + Bytes(1024), load_block(tl, y_at, step % 4, 0));  // the second half of what `old` reads
    tl.store(out_at + Bytes(4096 + step * 2048), old * 2.0F);
  }
}

void strides_and_transposes(tl::Context& tl) {
  const auto column = tl.load(x_at, {n}, DType::f16, tl::LoadOptions().strides(n));
  const auto diagonal = tl.load(y_at, {n}, DType::f16, tl::LoadOptions().strides(n + 1));
  const auto outer = tl.expand_dims(column, 1) * tl.expand_dims(diagonal, 0);
  tl.store(out_at, tl.trans(outer));
  tl.store(out_at + Bytes(65536), diagonal, tl::StoreOptions().strides(3));
}

void masked_tails(tl::Context& tl) {
  const auto x = tl.make_tensor_descriptor(x_at, {100, 100}, {n, 1}, block, DType::f16);
  const auto out = tl.make_tensor_descriptor(out_at, {100, 100}, {n, 1}, block, DType::f16);
  for (std::int64_t i = 0; i < n; i += 32) {
    for (std::int64_t j = 0; j < n; j += 32) {
      const auto scope = tl.scratch_scope();
      const auto tile = x.load({i, j});
      const auto rows = tl.expand_dims(tl.arange(i, i + 32), 1);
      const auto cols = tl.expand_dims(tl.arange(j, j + 32), 0);
      out.store({i, j}, tl.where(rows >= cols, tile, -tile));
    }
  }
}

void normalised_rows(tl::Context& tl) {
  const auto x = tl.load(x_at, {64, n}, DType::f16).to(DType::f32);
  const auto mean = tl.sum(x, 1, true) / static_cast<double>(n);
  const auto centred = x - mean;
  const auto variance = tl.sum(centred * centred, 1, true) / static_cast<double>(n);
  tl.store(out_at, (centred * tl.rsqrt(variance + 1e-5)).to(DType::bf16));
}

void integers_and_masks(tl::Context& tl) {
  const auto i = tl.arange(0, 256);
  const auto odd = (i - tl.floor_div(i, 2) * 2) == 1;
  const auto square = i * i;
  tl.store(out_at, tl.where(odd & (square < 40000), square, -i));
  tl.store(out_at + Bytes(4096), tl.sum(odd, 0));
}

/// The recurrence of attention with everything that a loop carries in persistent scratch.
void attention(tl::Context& tl) {
  const auto q = tl.load(x_at, {16, n}, DType::f16);
  const auto m = tl.full({16, 1}, -1e30, DType::f32);
  const auto l = tl.zeros({16, 1}, DType::f32);
  const auto o = tl.zeros({16, n}, DType::f32);
  for (std::int64_t tile = 0; tile < 4; ++tile) {
    const auto scope = tl.scratch_scope();
    const Bytes offset(tile * 32 * n * 2);
    const auto k = tl.load(x_at + offset, {32, n}, DType::f16);
    const auto v = tl.load(y_at + offset, {32, n}, DType::f16);
    const auto s = tl.dot(q, tl.trans(k)) * 0.0884F;
    const auto larger = tl.maximum(m, tl.max(s, 1, true));
    const auto p = tl.exp(s - larger);
    const auto alpha = tl.exp(m - larger);
    tl.fma(l, alpha, tl.sum(p, 1, true), tl::out(l));
    tl.mul(o, alpha, tl::out(o));
    tl.dot(p.to(DType::f16), v, o);
    tl.copy_to(m, larger);
  }
  tl.store(out_at, (o / l).to(DType::f16));
}

struct NamedKernel {
  const char* name;
  void (*kernel)(tl::Context&);
};

constexpr std::array<NamedKernel, 12> kernels = {
    NamedKernel{"vector_add", vector_add},
    NamedKernel{"matrix_product", matrix_product},
    NamedKernel{"prefetched_product", prefetched_product},
    NamedKernel{"softmax_rows", softmax_rows},
    NamedKernel{"updates_in_place", updates_in_place},
    NamedKernel{"recycled_scopes", recycled_scopes},
    NamedKernel{"through_memory", through_memory},
    NamedKernel{"strides_and_transposes", strides_and_transposes},
    NamedKernel{"masked_tails", masked_tails},
    NamedKernel{"normalised_rows", normalised_rows},
    NamedKernel{"integers_and_masks", integers_and_masks},
    NamedKernel{"attention", attention},
};

// ---- what a run leaves, as text: it has to come out of another process

[[nodiscard]] std::string place(const ScratchOperand& tensor) {
  return fmt::format(" {:#x}[{}x{}:{},{}]", tensor.address.count(), tensor.rows, tensor.cols,
                     static_cast<std::int64_t>(tensor.row_stride), static_cast<std::int64_t>(tensor.col_stride));
}

/// Every operation in program order, with the scratch addresses of its operands.
[[nodiscard]] std::string program_text(const Simulation& simulation) {
  std::vector<traces::OperationRow> rows = simulation.rows();
  std::sort(rows.begin(), rows.end(), [](const traces::OperationRow& a, const traces::OperationRow& b) {
    return a.descriptor.id.sequence < b.descriptor.id.sequence;
  });
  std::string text;
  for (const traces::OperationRow& row : rows) {
    const Descriptor& descriptor = row.descriptor;
    text += describe(descriptor);
    if (descriptor.engine == Engine::gemm) {
      text += place(descriptor.gemm().a) + place(descriptor.gemm().b) + place(descriptor.gemm().out);
    } else if (descriptor.engine == Engine::math) {
      const MathDescriptor& math = descriptor.math();
      for (std::size_t i = 0; i < math.inputs; ++i) {
        text += math.in[i].is_immediate ? fmt::format(" {}", math.in[i].immediate) : place(math.in[i].tensor);
      }
      text += place(math.out);
    } else {
      text += place(descriptor.dma().local);
    }
    text += '\n';
  }
  return text;
}

[[nodiscard]] std::string result_text(Simulation& simulation) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(out_bytes));
  simulation.system().cube(CubeId(0)).hbm().read(out_at.offset(), bytes.data(), Bytes(out_bytes));
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

using Observation = std::function<std::string(Simulation&)>;

[[nodiscard]] std::string observe(const NamedKernel& kernel, tl::Policy policy, DataMode mode,
                                  const Observation& observation) {
  return from_child([&] {
    Simulation simulation(one_cube(), mode);
    put(simulation, x_at, eighths({n, n}, DType::f16, 11));
    put(simulation, y_at, eighths({n, n}, DType::f16, 12));
    simulation.run(kernel.kernel, policy);
    return observation(simulation);
  });
}

[[nodiscard]] std::int64_t latency(const NamedKernel& kernel, tl::Policy policy) {
  return std::stoll(observe(kernel, policy, DataMode::none,
                            [](Simulation& simulation) { return std::to_string(simulation.latency().count()); }));
}

TEST(Policies, ResultsAreTheSameToTheBit) {
  for (const NamedKernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    const std::string expected = observe(kernel, tl::Policy::blocking, DataMode::full, result_text);
    EXPECT_NE(expected.find_first_not_of('0'), std::string::npos) << "the kernel has stored nothing";
    for (const tl::Policy policy : {tl::Policy::lazy, tl::Policy::stall_on_use}) {
      EXPECT_TRUE(observe(kernel, policy, DataMode::full, result_text) == expected) << tl::name_of(policy);
    }
  }
}

TEST(Policies, OperationsAndScratchAddressesAreTheSameInEveryPolicyAndDataMode) {
  for (const NamedKernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    const Observation program_and_peak = [](Simulation& simulation) {
      return program_text(simulation) + std::to_string(simulation.pe().scratch().peak().count());
    };
    const std::string expected = observe(kernel, tl::Policy::blocking, DataMode::full, program_and_peak);
    for (const tl::Policy policy : all_policies) {
      for (const DataMode mode : {DataMode::full, DataMode::none}) {
        EXPECT_EQ(observe(kernel, policy, mode, program_and_peak), expected) << tl::name_of(policy);
      }
    }
  }
}

TEST(Policies, LatencyStallsAndOpLogAreTheSameInBothDataModes) {
  for (const NamedKernel& kernel : kernels) {
    for (const tl::Policy policy : all_policies) {
      SCOPED_TRACE(std::string(kernel.name) + ", " + std::string(tl::name_of(policy)));
      const Observation times = [](Simulation& simulation) {
        std::string text = simulation.log_text() + std::to_string(simulation.latency().count());
        for (std::size_t cause = 0; cause < time_cause_count; ++cause) {
          text += ' ' + std::to_string(simulation.time(static_cast<TimeCause>(cause)).count());
        }
        return text;
      };
      EXPECT_EQ(observe(kernel, policy, DataMode::none, times), observe(kernel, policy, DataMode::full, times));
    }
  }
}

TEST(Policies, WaitingLaterIsNeverSlowerForAKernelThatPrefetches) {
  const NamedKernel kernel{"prefetched_product", prefetched_product};
  const std::int64_t blocking = latency(kernel, tl::Policy::blocking);
  const std::int64_t lazy = latency(kernel, tl::Policy::lazy);
  const std::int64_t stall_on_use = latency(kernel, tl::Policy::stall_on_use);
  EXPECT_GT(blocking, lazy);
  EXPECT_GE(lazy, stall_on_use);
}

/// Each load is used at once and waited for there, whatever the policy.
void used_at_once(tl::Context& tl) {
  const auto acc = tl.zeros(block, DType::f32);
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto scope = tl.scratch_scope();
    const auto tile = load_block(tl, x_at, i / 4, i % 4);
    tl.add(acc, tile, tl::out(acc));
  }
  tl.store(out_at, acc);
}

TEST(Policies, ALoadThatIsUsedAtOnceCostsWhatABlockingOneCosts) {
  const NamedKernel kernel{"used_at_once", used_at_once};
  const std::int64_t blocking = latency(kernel, tl::Policy::blocking);
  EXPECT_EQ(latency(kernel, tl::Policy::lazy), blocking);
  EXPECT_LE(latency(kernel, tl::Policy::stall_on_use), blocking);
  // By hand: fill 2 + 2 + 4; a load: issue 8, dispatch 2, 2 KiB in 32 rows of 64 B; an addition: 2 + 2 + 4; the store:
  // 8 + 2 and 4 KiB. Rows 256 B apart fall on one channel each, two of the 32 on every channel: 128 B at 51.2 GB/s are
  // 2.5 ns, below the port's 2048 B at 128 GB/s, 16 ns.
  const SystemConfig config = one_cube();
  const std::int64_t load = (config.pe.dma.setup + config.hbm.latency).count() + 16000;
  const std::int64_t store = testing::isolated_transfer(config, Bytes(4096)).count();
  EXPECT_EQ(blocking, 8000 + 8 * (10000 + load + 8000) + 10000 + store);
}

TEST(Policies, NamesAndSetsOfKindsThatDoNotWait) {
  EXPECT_EQ(tl::name_of(tl::Policy::blocking), "blocking");
  EXPECT_EQ(tl::name_of(tl::Policy::lazy), "lazy");
  EXPECT_EQ(tl::name_of(tl::Policy::stall_on_use), "stall_on_use");
  using Kind = tl::OperationKind;
  for (const Kind kind : {Kind::load, Kind::store, Kind::send, Kind::dot, Kind::math}) {
    const bool transfer = kind == Kind::load || kind == Kind::store || kind == Kind::send;
    EXPECT_TRUE(tl::waits_at_issue(tl::Policy::blocking, kind));
    EXPECT_EQ(tl::waits_at_issue(tl::Policy::lazy, kind), !transfer);
    EXPECT_FALSE(tl::waits_at_issue(tl::Policy::stall_on_use, kind));
  }
  // Asynchronous by name, and waiting by name: under every policy.
  for (const tl::Policy policy : {tl::Policy::blocking, tl::Policy::lazy, tl::Policy::stall_on_use}) {
    EXPECT_TRUE(tl::waits_at_issue(policy, Kind::receive));
    EXPECT_FALSE(tl::waits_at_issue(policy, Kind::receive_async));
    EXPECT_FALSE(tl::waits_at_issue(policy, Kind::composite));
  }
}

}  // namespace
}  // namespace kernwave::policies_test
