#include "tests/support/attention_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <utility>

#include "kernels/attention/gqa_attention_decode_short.h"
#include "kernels/attention/gqa_attention_prefill_short.h"
#include "platform/workload/random_data.h"
#include "tests/support/child.h"
#include "tests/support/same_value.h"

namespace kernwave::testing {

namespace {

/// Where the image starts in HBM: not at 0, so that an address that was forgotten shows.
constexpr std::int64_t image_offset = 1 << 20;
/// Between tensors and between the rows of an output; exact in every type, and no kernel computes it from random data.
constexpr float guard = 1344.0F;
constexpr std::int64_t guard_elements = 256;
constexpr float unwritten = std::numeric_limits<float>::quiet_NaN();

}  // namespace

std::string name_of(AttentionKernel kernel) {
  return kernel == AttentionKernel::decode_short ? "gqa_attention_decode_short" : "gqa_attention_prefill_short";
}

std::string short_name(AttentionKernel kernel) {
  return kernel == AttentionKernel::decode_short ? "decode" : "prefill";
}

std::string parameter_name(const ::testing::TestParamInfo<AttentionKernel>& parameter) {
  return short_name(parameter.param);
}

void PrintTo(AttentionKernel kernel, std::ostream* out) { *out << name_of(kernel); }

tl::Kernel kernel_of(AttentionKernel kernel, const kernels::AttentionArgs& args) {
  if (kernel == AttentionKernel::decode_short) {
    return [args](tl::Context& tl) { kernels::gqa_attention_decode_short(tl, args); };
  }
  return [args](tl::Context& tl) { kernels::gqa_attention_prefill_short(tl, args); };
}

std::vector<float> floats_from_child(const std::function<std::vector<float>()>& body) {
  const std::string bytes = from_child([&body] {
    const std::vector<float> values = body();
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  });
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

AttentionCase::AttentionCase(const AttentionShape& shape) : shape_(shape), image_(guard_elements, guard) {
  if (shape_.scale == 0.0F) shape_.scale = 1.0F / std::sqrt(static_cast<float>(shape_.head_dim));
  args_.kv_heads = shape_.kv_heads;
  args_.group = shape_.group;
  args_.head_dim = shape_.head_dim;
  args_.dtype = shape_.dtype;
  args_.causal = shape_.causal;
  args_.scale = shape_.scale;
  args_.tile = shape_.tile;
  args_.block_queries = shape_.block_queries;
  args_.kv_buffers = shape_.kv_buffers;
  for (const Lengths& lengths : shape_.sequences) add_sequence(lengths);
}

HbmAddress AttentionCase::address(const Rows& rows) const {
  return HbmAddress(CubeId(0), Bytes(image_offset + rows.first * size_of(shape_.dtype)));
}

std::vector<AttentionCase::Rows> AttentionCase::allocate(std::int64_t tokens, std::int64_t width, std::int64_t gap,
                                                         float fill) {
  const bool head_major = shape_.layout == TokenLayout::head_major;
  const std::int64_t stride = head_major ? width + gap : shape_.kv_heads * width;
  const auto start = static_cast<std::int64_t>(image_.size());
  std::vector<Rows> heads;
  for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
    heads.push_back({start + head * (head_major ? tokens * stride : width), stride, width, tokens});
  }
  const std::int64_t size = head_major ? shape_.kv_heads * tokens * stride : tokens * stride;
  image_.resize(static_cast<std::size_t>(start + size + guard_elements), guard);
  for (const Rows& rows : heads) {
    fill_in(image_, rows, std::vector<float>(static_cast<std::size_t>(tokens * width), fill));
  }
  return heads;
}

void AttentionCase::add_sequence(const Lengths& lengths) {
  const std::int64_t width = shape_.group * shape_.head_dim;
  // The KV cache has room for more tokens than it holds.
  const std::int64_t capacity = lengths.s_kv + shape_.tile;
  const auto q = allocate(lengths.s_q, width, 0, guard);
  const auto k = allocate(capacity, shape_.head_dim, 0, shape_.beyond_kv);
  const auto v = allocate(capacity, shape_.head_dim, 0, shape_.beyond_kv);
  const auto out = allocate(lengths.s_q, width, 16, unwritten);
  for (std::size_t head = 0; head < q.size(); ++head) {
    Head rows{q[head], k[head], v[head], out[head]};
    rows.k.tokens = lengths.s_kv;
    rows.v.tokens = lengths.s_kv;
    kernels::AttentionHead entry;
    entry.q = address(rows.q);
    entry.k = address(rows.k);
    entry.v = address(rows.v);
    entry.out = address(rows.out);
    entry.q_stride = rows.q.stride;
    entry.kv_stride = rows.k.stride;
    entry.out_stride = rows.out.stride;
    entry.s_q = lengths.s_q;
    entry.s_kv = lengths.s_kv;
    args_.heads.push_back(entry);
    const auto tensor = 3 * static_cast<std::uint64_t>(heads_.size());
    const auto random = [&](std::uint64_t which, const Rows& of) {
      return platform::RandomTensor(shape_.seed, tensor + which).values(0, of.tokens * of.width, shape_.dtype);
    };
    values_.push_back({random(0, rows.q), random(1, rows.k), random(2, rows.v)});
    heads_.push_back(rows);
  }
}

void AttentionCase::fill_in(std::vector<float>& image, const Rows& rows, const std::vector<float>& values) const {
  auto from = values.begin();
  for (std::int64_t token = 0; token < rows.tokens; ++token, from += rows.width) {
    std::copy(from, from + rows.width, image.begin() + rows.first + token * rows.stride);
  }
}

void AttentionCase::run(Simulation& simulation, AttentionKernel kernel, tl::Policy policy) {
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    fill_in(image_, heads_[i].q, values_[i].q);
    fill_in(image_, heads_[i].k, values_[i].k);
    fill_in(image_, heads_[i].v, values_[i].v);
  }
  const HbmAddress base(CubeId(0), Bytes(image_offset));
  const auto size = static_cast<std::int64_t>(image_.size());
  simulation.write(base, shape_.dtype, image_);
  std::vector<float> before = std::move(image_);
  const auto sequences = static_cast<std::int64_t>(shape_.sequences.size());
  simulation.run_grid({shape_.kv_heads, sequences, 1}, kernel_of(kernel, args_), policy);
  image_ = simulation.read(base, shape_.dtype, size);
  if (simulation.system().data_mode() == DataMode::full) expect_untouched(before);
}

void AttentionCase::expect_untouched(const std::vector<float>& before) const {
  std::vector<float> expected = before;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const auto sequence = static_cast<std::int64_t>(i) / shape_.kv_heads;
    fill_in(expected, heads_[i].out, output(static_cast<std::int64_t>(i) % shape_.kv_heads, sequence));
  }
  const auto different = std::mismatch(expected.begin(), expected.end(), image_.begin(), same_value);
  EXPECT_EQ(different.first, expected.end())
      << "element " << different.first - expected.begin() << " outside the outputs changed from " << *different.first
      << " to " << *different.second;
}

std::vector<float> AttentionCase::output(std::int64_t kv_head, std::int64_t sequence) const {
  const Rows& rows = heads_.at(index(kv_head, sequence)).out;
  std::vector<float> values;
  for (std::int64_t token = 0; token < rows.tokens; ++token) {
    const auto from = image_.begin() + rows.first + token * rows.stride;
    values.insert(values.end(), from, from + rows.width);
  }
  return values;
}

platform::AttentionReference AttentionCase::reference(std::int64_t kv_head, std::int64_t sequence) const {
  const Lengths& lengths = shape_.sequences.at(static_cast<std::size_t>(sequence));
  const HeadValues& head = values_.at(index(kv_head, sequence));
  const platform::AttentionArithmetic arithmetic{shape_.dtype,
                                                 std::max<std::int64_t>(1, lengths.s_kv),
                                                 shape_.tile,
                                                 ceil_div(lengths.s_kv, shape_.tile),
                                                 {lengths.s_kv}};
  return platform::attention_reference({lengths.s_q, lengths.s_kv, shape_.group, shape_.head_dim, shape_.causal,
                                        static_cast<double>(shape_.scale), arithmetic},
                                       head.q, head.k, head.v);
}

platform::NumericError AttentionCase::error() const {
  platform::NumericError error;
  for (std::size_t sequence = 0; sequence < shape_.sequences.size(); ++sequence) {
    for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
      const auto y = static_cast<std::int64_t>(sequence);
      platform::AttentionReference expected = reference(head, y);
      error.merge(platform::numeric_error(output(head, y),
                                          {std::move(expected.out), std::move(expected.out_bounds), shape_.dtype, {}},
                                          shape_.head_dim));
    }
  }
  return error;
}

void AttentionCase::expect_right() const {
  const platform::NumericError found = error();
  EXPECT_TRUE(found.is_right()) << found.wrong << " wrong elements, " << found.max_of_bound << " of the bound";
}

}  // namespace kernwave::testing
