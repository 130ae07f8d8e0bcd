// A right result is never called wrong, whatever the shape and the machine, nor a wrong one right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "models/protocol/connector.h"
#include "models/run/run.h"
#include "platform/run/simulate.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/float_format.h"
#include "platform/workload/hbm_tensor.h"
#include "platform/workload/random_data.h"
#include "platform/workload/workload.h"
#include "tests/property/machine.h"
#include "tests/support/child.h"
#include "tests/support/policies.h"

namespace kernwave::platform::right_results_test {
namespace {

using testing::Machine;

constexpr const char* decode_short = "gqa_attention_decode_short";
constexpr const char* decode_long = "gqa_attention_decode_long";
constexpr const char* prefill_short = "gqa_attention_prefill_short";
constexpr const char* prefill_long = "gqa_attention_prefill_long";
const std::vector<DType> float_types{DType::f16, DType::bf16, DType::f32};

[[nodiscard]] WorkloadRequest product(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
  WorkloadRequest request;
  request.kernel = "gemm";
  request.m = m;
  request.n = n;
  request.k = k;
  request.dtype = dtype;
  return request;
}

[[nodiscard]] WorkloadRequest attention(const std::string& kernel, std::int64_t kv_heads, std::int64_t group,
                                        std::int64_t head_dim) {
  WorkloadRequest request;
  request.kernel = kernel;
  request.model = ModelShape{"a test's", kv_heads * group, kv_heads, head_dim};
  request.lse = true;
  return request;
}

[[nodiscard]] Json error_of(const WorkloadRequest& request, const SystemConfig& config,
                            tl::Policy policy = tl::Policy::lazy) {
  const auto workload = make_workload(request, config);
  return simulate_isolated({{"a test's", config, {}}, request.kernel, policy, DataMode::full, ""}, *workload)
      .at("error");
}

void expect_right(const WorkloadRequest& request, const SystemConfig& config, tl::Policy policy = tl::Policy::lazy) {
  const Json error = error_of(request, config, policy);
  EXPECT_TRUE(error.at("within_tolerance").as_bool())
      << request.kernel << " in " << name_of(request.dtype) << ", seed " << request.seed << ": " << to_text(error, 0);
  if (request.kernel == "gemm") {
    EXPECT_TRUE(error.at("bitwise").as_bool());
  }
}

// ---- shapes that were once called wrong ----------------------------------------------------------------------------

TEST(RightResults, AreCalledRightForProductsWithManyRowsOrASingleColumn) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    WorkloadRequest request = product(2048, 512, 512, DType::f32);
    request.seed = seed;
    expect_right(request, SystemConfig());
  }
  expect_right(product(200, 1, 256, DType::f16), SystemConfig());
}

// N16
TEST(RightResults, AreCalledRightForHeadDimensionsOfOneToFour) {
  for (const char* kernel : {decode_short, decode_long, prefill_short, prefill_long}) {
    for (std::int64_t head_dim = 1; head_dim <= 4; ++head_dim) {
      for (const DType dtype : float_types) {
        WorkloadRequest request = attention(kernel, 2, 4, head_dim);
        request.s_kv = {200};
        request.dtype = dtype;
        SystemConfig config;
        config.cubes = 2;
        config.pes_per_cube = 2;
        expect_right(request, config);
      }
    }
  }
}

// ---- shapes and machines at random ---------------------------------------------------------------------------------

/// The same draws on every host: std::uniform_int_distribution is not pinned by the standard.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}

  [[nodiscard]] std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(last - first + 1));
  }
  /// Small numbers as often as large ones.
  [[nodiscard]] std::int64_t up_to(std::int64_t most) { return between(1, between(1, most)); }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <typename Choices>
  [[nodiscard]] typename Choices::value_type of(const Choices& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 generator_;
};

[[nodiscard]] SystemConfig random_machine(Draw& draw) {
  Machine machine;
  machine.cubes = draw.between(1, 4);
  machine.pes_per_cube = draw.between(1, 4);
  for (const testing::Knob& knob : testing::knobs()) {
    if (draw.one_in(4)) machine.*knob.member = draw.of(knob.choices);
  }
  SystemConfig config = machine.config();
  config.pe.ipcq.slot_bytes = Bytes(0);  // as large as the kernel's messages
  config.pe.scratch.capacity = Bytes(draw.of(std::vector<std::int64_t>{64, 256, 1024}) << 10);
  return config;
}

[[nodiscard]] WorkloadRequest random_product(Draw& draw) {
  WorkloadRequest request =
      product(draw.up_to(160), draw.up_to(160), draw.up_to(draw.one_in(8) ? 5000 : 300), draw.of(float_types));
  request.seed = static_cast<std::uint64_t>(draw.between(1, 1'000'000));
  return request;
}

[[nodiscard]] WorkloadRequest random_attention(Draw& draw, const SystemConfig& config) {
  const std::vector<const char*> kernels{decode_short, decode_long, prefill_short, prefill_long};
  const char* kernel = draw.of(kernels);
  WorkloadRequest request = attention(kernel, draw.up_to(3), draw.up_to(4), draw.up_to(draw.one_in(4) ? 128 : 16));
  request.dtype = draw.of(float_types);
  request.seed = static_cast<std::uint64_t>(draw.between(1, 1'000'000));
  request.batch = draw.between(1, 2);
  const bool decodes = kernel == decode_short || kernel == decode_long;
  for (std::int64_t i = 0; i < request.batch; ++i) {
    request.s_q.push_back(draw.up_to(decodes ? 5 : 70));
    request.s_kv.push_back(draw.up_to(decodes ? 600 : 90));
  }
  if (draw.one_in(2)) request.causal = draw.one_in(2);
  if (draw.one_in(2)) request.tile = draw.up_to(64);
  if (draw.one_in(2)) request.kv_layout = KvLayout::tokens_first;
  if (draw.one_in(3)) request.kv = kernels::KvSource::composite;
  if (kernel == decode_long) {
    request.ranks = draw.between(1, config.cubes);
    request.reduction = draw.one_in(2) ? kernels::Reduction::chain : kernels::Reduction::tree;
  }
  if (kernel == prefill_long) {
    request.sharding = draw.one_in(2) ? RingSharding::zigzag : RingSharding::contiguous;
    request.bidirectional = draw.one_in(2);
  }
  return request;
}

/// Draws runs until `count` of them are possible on their machines: too little scratch, or no ring, is refused.
void expect_right_at_random(int count, const std::function<WorkloadRequest(Draw&, const SystemConfig&)>& request_of) {
  int runs = 0;
  for (std::uint64_t seed = 1; runs < count; ++seed) {
    ASSERT_LT(seed, 4 * static_cast<std::uint64_t>(count)) << "most of the draws were refused";
    Draw draw(seed);
    const SystemConfig config = random_machine(draw);
    const WorkloadRequest request = request_of(draw, config);
    const tl::Policy policy = draw.of(testing::all_policies);
    try {
      (void)make_workload(request, config);
    } catch (const WorkloadError&) {
      continue;
    }
    SCOPED_TRACE(fmt::format("draw {}", seed));
    expect_right(request, config, policy);
    ++runs;
  }
}

TEST(RightResults, AreCalledRightForRandomProductsOnRandomMachines) {
  expect_right_at_random(150, [](Draw& draw, const SystemConfig& /*config*/) { return random_product(draw); });
}

TEST(RightResults, AreCalledRightForRandomAttentionOnRandomMachines) { expect_right_at_random(250, random_attention); }

// ---- planted errors ------------------------------------------------------------------------------------------------

/// The neighbour of a value of the type, away from 0.
[[nodiscard]] float next(float value, DType dtype) {
  const double spacing = 2.0 * FloatFormat::of(dtype).half_spacing(std::abs(static_cast<double>(value)));
  return static_cast<float>(static_cast<double>(value) + std::copysign(spacing, static_cast<double>(value)));
}

/// Given a right product, when one element is changed by one unit in its last place, then it is found and named.
TEST(WrongResults, OfOneUnitInTheLastPlaceOfOneElementOfAProductAreFound) {
  for (const DType dtype : float_types) {
    testing::in_child([dtype] {
      constexpr std::int64_t m = 37;
      constexpr std::int64_t n = 53;
      constexpr std::int64_t k = 300;
      const SystemConfig config;
      const auto workload = make_workload(product(m, n, k, dtype), config);
      Connector connector;
      System system("system", config, DataMode::full, connector);
      workload->place_data(system);
      workload->launch(system, tl::Policy::lazy);
      ASSERT_EQ(run_to_end(system.ledger()), RunEnd::finished);
      ASSERT_TRUE(workload->verify(system).is_right());
      // A, B and C follow one another in cube 0, each at a multiple of 4096 bytes.
      const auto pages = [&](std::int64_t elements) { return ceil_div(elements * size_of(dtype), 4096) * 4096; };
      const HbmTensor c{HbmAddress(CubeId(0), Bytes(pages(m * k) + pages(k * n))), m, n, n, dtype};
      const std::vector<float> right = read(system, c);
      for (const std::int64_t element : {std::int64_t{0}, n - 1, 17 * n + 5, m * n - 1}) {
        std::vector<float> wrong = right;
        float& planted = wrong[static_cast<std::size_t>(element)];
        planted = next(planted, dtype);
        write(system, c, wrong);
        const NumericError error = workload->verify(system);
        EXPECT_EQ(error.bitwise, false) << name_of(dtype);
        EXPECT_EQ(error.wrong, 1);
        ASSERT_TRUE(error.first_wrong.has_value());
        EXPECT_EQ(error.first_wrong->where, fmt::format("C[{}, {}]", element / n, element % n));
      }
    });
  }
}

/// A decode of `keys` keys of head_dim 128 on one PE, as decode_short plans it, and its correctly rounded result.
struct Decode {
  Decode(DType dtype, std::int64_t keys) : type(dtype) {
    problem.s_kv = keys;
    problem.group = 4;
    problem.head_dim = 128;
    problem.scale = 1.0 / std::sqrt(128.0);
    constexpr std::int64_t tile = 512;
    problem.arithmetic = {dtype, keys, std::min(tile, keys), ceil_div(keys, tile) - 1, {keys}};
    q = RandomTensor(1, 0).values(0, 4 * 128, dtype);
    k = RandomTensor(1, 1).values(0, keys * 128, dtype);
    v = RandomTensor(1, 2).values(0, keys * 128, dtype);
    AttentionReference reference = attention_reference(problem, q, k, v);
    expected = {reference.out, reference.out_bounds, dtype, {}};
    right = rounded(reference.out);
  }

  [[nodiscard]] std::vector<float> rounded(const std::vector<double>& values) const {
    std::vector<float> result;
    for (const double value : values) result.push_back(FloatFormat::of(type).round(value));
    return result;
  }
  [[nodiscard]] NumericError error(const std::vector<float>& output) const {
    return numeric_error(output, expected, problem.head_dim);
  }
  /// Root mean square of an element's row.
  [[nodiscard]] double row_size(std::size_t element) const {
    const auto first = expected.values.begin() + static_cast<std::ptrdiff_t>(element / 128 * 128);
    double sum = 0.0;
    for (auto value = first; value != first + 128; ++value) sum += *value * *value;
    return std::sqrt(sum / 128.0);
  }

  DType type;
  AttentionProblem problem;
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
  ExpectedOutput expected;
  std::vector<float> right;
};

/// docs/results.md states these figures: the smallest error, as a share of the row's root mean square, that is found in
/// whichever element it is planted.
struct SmallestFound {
  DType dtype;
  std::int64_t keys;
  double share;
};

void PrintTo(const SmallestFound& found, std::ostream* out) {
  *out << name_of(found.dtype) << " of " << found.keys << " keys";
}

class SmallestError : public ::testing::TestWithParam<SmallestFound> {};

TEST_P(SmallestError, OfAttentionIsFoundInEveryElementAndHalfOfItIsNot) {
  const auto& [dtype, keys, share] = GetParam();
  const Decode decode(dtype, keys);
  ASSERT_TRUE(decode.error(decode.right).is_right());
  bool half_is_found_everywhere = true;
  for (std::size_t i = 0; i < decode.right.size(); ++i) {
    const auto planted = [&](double size) {
      std::vector<float> output = decode.right;
      output[i] = static_cast<float>(static_cast<double>(output[i]) + size * decode.row_size(i));
      return decode.error(output);
    };
    EXPECT_EQ(planted(share).wrong, 1) << "element " << i << ", " << planted(share).max_of_bound << " of the bound";
    half_is_found_everywhere = half_is_found_everywhere && !planted(share / 2.0).is_right();
  }
  EXPECT_FALSE(half_is_found_everywhere) << "the stated error is not the smallest one";
}

INSTANTIATE_TEST_SUITE_P(
    Types, SmallestError,
    ::testing::Values(SmallestFound{DType::f16, 128, 0.009}, SmallestFound{DType::f16, 8192, 0.029},
                      SmallestFound{DType::bf16, 128, 0.062}, SmallestFound{DType::bf16, 8192, 0.21},
                      SmallestFound{DType::f32, 128, 0.0008}, SmallestFound{DType::f32, 8192, 0.0042}),
    [](const auto& parameter) {
      return fmt::format("{}Of{}Keys", name_of(parameter.param.dtype), parameter.param.keys);
    });

/// Faults that a kernel may have, each correctly rounded: none passes for right at a length of one tile.
TEST(WrongResults, OfAttentionWithAFaultAreFoundInEveryType) {
  for (const DType dtype : float_types) {
    const Decode decode(dtype, 128);
    const auto wrong = [&](const std::function<void(Decode & faulty)>& plant) {
      Decode faulty = decode;
      plant(faulty);
      const AttentionReference result = attention_reference(faulty.problem, faulty.q, faulty.k, faulty.v);
      return decode.error(decode.rounded(result.out)).wrong;
    };
    EXPECT_EQ(wrong([](Decode&) {}), 0);
    EXPECT_GT(wrong([](Decode& faulty) {  // the last key is not seen
                faulty.problem.s_kv -= 1;
                faulty.problem.arithmetic.consecutive = {};
                faulty.k.resize(faulty.k.size() - 128);
                faulty.v.resize(faulty.v.size() - 128);
              }),
              0);
    EXPECT_GT(wrong([](Decode& faulty) { faulty.problem.scale *= 1.25; }), 0) << name_of(dtype);
    EXPECT_GT(
        wrong([](Decode& faulty) { std::swap_ranges(faulty.v.begin(), faulty.v.begin() + 128, faulty.v.end() - 128); }),
        0);
    EXPECT_GT(wrong([](Decode& faulty) { std::fill(faulty.k.begin(), faulty.k.begin() + 128, 0.0F); }), 0);
  }
}

}  // namespace
}  // namespace kernwave::platform::right_results_test
