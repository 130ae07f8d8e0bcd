// Triton's fused attention tutorial, its forward kernel statement by statement in this language.
//
// The names are the tutorial's. Three things differ, none in what is computed: values that a loop carries live in
// buffers that `copy_to` and `tl::out` update (a C++ loop has a scratch scope, not phi nodes); `x[:, None]` is written
// expand_dims(x, 1); a block of consecutive pointers, `M + offsets`, is its first address.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/tl/context.h"
#include "kernels/tl/launch.h"
#include "tests/support/child.h"
#include "tests/support/simulation.h"
#include "tests/support/tensors.h"

namespace kernwave::flash_attention_tutorial_test {
namespace {

using testing::get;
using testing::in_child;
using testing::nearest;
using testing::one_cube;
using testing::put;
using testing::Simulation;
using testing::tabulate;
using testing::Values;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The tutorial's arguments: tensors [Z, H, N_CTX, HEAD_DIM], M is [Z, H, N_CTX].
struct Arguments {
  HbmAddress q;
  HbmAddress k;
  HbmAddress v;
  HbmAddress o;
  HbmAddress m;
  std::int64_t z = 1;
  std::int64_t h = 1;
  std::int64_t n_ctx = 0;
  std::int64_t head_dim = 0;
  std::int64_t block_m = 0;
  std::int64_t block_n = 0;
  float sm_scale = 1.0F;
  DType dtype = DType::f16;
  int stage = 1;  ///< 3: causal, 1: not

  [[nodiscard]] std::int64_t rows() const { return z * h * n_ctx; }
};

/// What the inner function takes and, in the tutorial, returns.
struct Carried {
  tl::Tensor acc;
  tl::Tensor l_i;
  tl::Tensor m_i;
};

void attn_fwd_inner(tl::Context& tl, const Carried& carried, const tl::Tensor& q, const tl::TensorDescriptor& desc_k,
                    const tl::TensorDescriptor& desc_v, std::int64_t offset_y, std::int64_t start_m, float qk_scale,
                    int stage, const tl::Tensor& offs_m, const tl::Tensor& offs_n, const Arguments& args) {
  const auto& [acc, l_i, m_i] = carried;
  // The range of keys that this stage handles: 1 is off the diagonal, 2 on it, 3 is everything.
  std::int64_t lo = 0;
  std::int64_t hi = args.n_ctx;
  if (stage == 1) hi = start_m * args.block_m;
  if (stage == 2) {
    lo = start_m * args.block_m;
    hi = (start_m + 1) * args.block_m;
  }
  std::int64_t offsetkv_y = offset_y + lo;
  for (std::int64_t start_n = lo; start_n < hi; start_n += args.block_n) {
    const auto scope = tl.scratch_scope();
    const auto k = tl.trans(desc_k.load({offsetkv_y, 0}));
    auto qk = tl.dot(q, k);
    auto m_ij = m_i;
    if (stage == 2) {
      const auto mask = tl.expand_dims(offs_m, 1) >= (start_n + tl.expand_dims(offs_n, 0));
      qk = qk * qk_scale + tl.where(mask, 0, -1.0e6);
      m_ij = tl.maximum(m_i, tl.max(qk, 1));
      qk = qk - tl.expand_dims(m_ij, 1);
    } else {
      m_ij = tl.maximum(m_i, tl.max(qk, 1) * qk_scale);
      qk = qk * qk_scale - tl.expand_dims(m_ij, 1);
    }
    auto p = tl.exp2(qk);
    const auto l_ij = tl.sum(p, 1);
    const auto alpha = tl.exp2(m_i - m_ij);
    tl.copy_to(l_i, l_i * alpha + l_ij);
    tl.mul(acc, tl.expand_dims(alpha, 1), tl::out(acc));
    const auto v = desc_v.load({offsetkv_y, 0});
    p = p.to(args.dtype);
    tl.dot(p, v, acc);
    tl.copy_to(m_i, m_ij);
    offsetkv_y += args.block_n;
  }
}

void attn_fwd(tl::Context& tl, const Arguments& args) {
  const std::int64_t start_m = tl.program_id(0);
  const std::int64_t off_hz = tl.program_id(1);
  const std::int64_t off_z = off_hz / args.h;
  const std::int64_t off_h = off_hz % args.h;

  const tl::Shape whole{args.rows(), args.head_dim};
  const std::array<std::int64_t, 2> strides{args.head_dim, 1};
  const auto desc_q = tl.make_tensor_descriptor(args.q, whole, strides, {args.block_m, args.head_dim}, args.dtype);
  const auto desc_k = tl.make_tensor_descriptor(args.k, whole, strides, {args.block_n, args.head_dim}, args.dtype);
  const auto desc_v = tl.make_tensor_descriptor(args.v, whole, strides, {args.block_n, args.head_dim}, args.dtype);
  const auto desc_o = tl.make_tensor_descriptor(args.o, whole, strides, {args.block_m, args.head_dim}, args.dtype);

  const std::int64_t offset_y = off_z * (args.n_ctx * args.h) + off_h * args.n_ctx;
  const std::int64_t qo_offset_y = offset_y + start_m * args.block_m;
  const auto offs_m = start_m * args.block_m + tl.arange(0, args.block_m);
  const auto offs_n = tl.arange(0, args.block_n);
  const auto m_i = tl.zeros({args.block_m}, DType::f32) - infinity;
  const auto l_i = tl.zeros({args.block_m}, DType::f32) + 1.0;
  const auto acc = tl.zeros({args.block_m, args.head_dim}, DType::f32);
  float qk_scale = args.sm_scale;
  qk_scale *= 1.44269504F;  // 1 / log(2)
  const auto q = desc_q.load({qo_offset_y, 0});

  const Carried carried{acc, l_i, m_i};
  if ((args.stage & 1) != 0) {
    attn_fwd_inner(tl, carried, q, desc_k, desc_v, offset_y, start_m, qk_scale, 4 - args.stage, offs_m, offs_n, args);
  }
  if ((args.stage & 2) != 0) {
    attn_fwd_inner(tl, carried, q, desc_k, desc_v, offset_y, start_m, qk_scale, 2, offs_m, offs_n, args);
  }

  const auto m = m_i + tl.log2(l_i);
  const auto o = acc / tl.expand_dims(l_i, 1);
  tl.store(args.m + Bytes((off_hz * args.n_ctx + start_m * args.block_m) * size_of(DType::f32)), m);
  desc_o.store({qo_offset_y, 0}, o.to(args.dtype));
}

// ---- the reference, in float64

struct Reference {
  std::vector<double> o;  ///< one row
  double m = 0.0;         ///< log2 of the sum of exp2
};

/// Row `row` of head `head`, by the definition of attention.
[[nodiscard]] Reference attention(const Values& q, const Values& k, const Values& v, const Arguments& args,
                                  std::int64_t head, std::int64_t row) {
  const std::int64_t first = head * args.n_ctx;
  const std::int64_t keys = args.stage == 3 ? row + 1 : args.n_ctx;
  std::vector<double> score(static_cast<std::size_t>(keys));
  for (std::int64_t j = 0; j < keys; ++j) {
    double sum = 0.0;
    for (std::int64_t d = 0; d < args.head_dim; ++d) sum += q.at(first + row, d) * k.at(first + j, d);
    score[static_cast<std::size_t>(j)] = sum * double{args.sm_scale};
  }
  const double largest = *std::max_element(score.begin(), score.end());
  double total = 0.0;
  for (const double s : score) total += std::exp(s - largest);
  Reference result;
  result.o.assign(static_cast<std::size_t>(args.head_dim), 0.0);
  for (std::int64_t j = 0; j < keys; ++j) {
    const double weight = std::exp(score[static_cast<std::size_t>(j)] - largest) / total;
    for (std::int64_t d = 0; d < args.head_dim; ++d) {
      result.o[static_cast<std::size_t>(d)] += weight * v.at(first + j, d);
    }
  }
  result.m = (largest + std::log(total)) / std::log(2.0);
  return result;
}

/// Values in [-1, 1] of the storage type, without a period that tiles would share.
[[nodiscard]] Values spread(const Arguments& args, double frequency) {
  return tabulate({args.rows(), args.head_dim}, args.dtype, [&args, frequency](std::int64_t row, std::int64_t col) {
    return nearest(args.dtype, std::sin(frequency * static_cast<double>(row * 197 + col * 31 + 1)));
  });
}

/// Runs the kernel on 4 PEs and compares every element. |v| <= 1, so P, rounded to the storage type, adds at most half
/// its relative spacing to an element; rounding O adds as much again; a tenth more is left for the f32 arithmetic.
void expect_attention(Arguments args) {
  in_child([&args] {
    constexpr std::int64_t room = 16 << 20;
    args.q = HbmAddress(1 * room);
    args.k = HbmAddress(2 * room);
    args.v = HbmAddress(3 * room);
    args.o = HbmAddress(4 * room);
    args.m = HbmAddress(5 * room);
    const Values q = spread(args, 0.37);
    const Values k = spread(args, 0.73);
    const Values v = spread(args, 1.19);
    Simulation simulation(one_cube(4));
    put(simulation, args.q, q);
    put(simulation, args.k, k);
    put(simulation, args.v, v);
    simulation.run_grid({tl::cdiv(args.n_ctx, args.block_m), args.z * args.h, 1},
                        [&args](tl::Context& tl) { attn_fwd(tl, args); });
    const Values o = get(simulation, args.o, q.shape, args.dtype);
    const Values m = get(simulation, args.m, {args.rows()}, DType::f32);
    const double half_spacing = args.dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
    const double tolerance = 2.2 * half_spacing;
    for (std::int64_t head = 0; head < args.z * args.h; ++head) {
      for (std::int64_t row = 0; row < args.n_ctx; ++row) {
        const Reference expected = attention(q, k, v, args, head, row);
        const std::int64_t at = head * args.n_ctx + row;
        // f32: a sum of head_dim products, a sum of up to n_ctx weights.
        ASSERT_NEAR(m.at(0, at), expected.m, 2e-5 * std::max(1.0, std::abs(expected.m)))
            << "head " << head << " row " << row;
        for (std::int64_t d = 0; d < args.head_dim; ++d) {
          ASSERT_NEAR(o.at(at, d), expected.o[static_cast<std::size_t>(d)], tolerance)
              << "head " << head << " row " << row << " column " << d;
        }
      }
    }
  });
}

[[nodiscard]] Arguments problem(DType dtype, std::int64_t head_dim, bool causal) {
  Arguments args;
  args.n_ctx = 256;
  args.head_dim = head_dim;
  args.block_m = 128;
  args.block_n = 64;
  args.sm_scale = 0.5F;  // the tutorial's test; well above 1/sqrt(head_dim), so that the softmax is peaked
  args.dtype = dtype;
  args.stage = causal ? 3 : 1;
  return args;
}

TEST(FlashAttentionTutorial, NotCausal) {
  expect_attention(problem(DType::f16, 64, false));
  expect_attention(problem(DType::f16, 128, false));
}

TEST(FlashAttentionTutorial, Causal) {
  expect_attention(problem(DType::f16, 64, true));
  expect_attention(problem(DType::f16, 128, true));
}

TEST(FlashAttentionTutorial, InBf16) {
  expect_attention(problem(DType::bf16, 64, false));
  expect_attention(problem(DType::bf16, 128, true));
}

TEST(FlashAttentionTutorial, SeveralBatchesAndHeadsThroughProgramIdOne) {
  Arguments args = problem(DType::f16, 64, true);
  args.z = 2;
  args.h = 3;
  args.n_ctx = 128;
  args.block_m = 64;
  args.block_n = 32;
  expect_attention(args);
  args.stage = 1;
  expect_attention(args);
}

TEST(FlashAttentionTutorial, BlocksOfOneSizeAndAWholeSequenceInOneBlock) {
  Arguments args = problem(DType::f16, 128, true);
  args.block_m = 128;
  args.block_n = 128;
  expect_attention(args);
  args.n_ctx = 64;
  args.block_m = 64;
  args.block_n = 64;
  expect_attention(args);
}

TEST(FlashAttentionTutorial, CausalSkipsTheBlocksAboveTheDiagonal) {
  in_child([] {
    Arguments args = problem(DType::f16, 64, true);
    args.q = HbmAddress(1 << 20);
    args.k = HbmAddress(2 << 20);
    args.v = HbmAddress(3 << 20);
    args.o = HbmAddress(4 << 20);
    args.m = HbmAddress(5 << 20);
    Simulation simulation(one_cube(), DataMode::none);
    simulation.run_grid({2, 1, 1}, [&args](tl::Context& tl) { attn_fwd(tl, args); });
    // Two blocks of 128 queries see 128 and 256 keys, in blocks of 64: 2 + 4 of the 8. Each loads K and V and makes two
    // products; each program loads Q once and stores M and O.
    EXPECT_EQ(simulation.count(Engine::dma_read), 2 + 2 * 6);
    EXPECT_EQ(simulation.count(Engine::gemm), 2 * 6);
    EXPECT_EQ(simulation.count(Engine::dma_write), 2 * 2);
  });
}

}  // namespace
}  // namespace kernwave::flash_attention_tutorial_test
