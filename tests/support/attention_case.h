// An attention problem laid out in a simulated machine's HBM, with everything around it under watch.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "platform/workload/attention_reference.h"
#include "platform/workload/numeric_error.h"
#include "tests/support/simulation.h"

namespace kernwave::testing {

enum class AttentionKernel : std::uint8_t { decode_short, prefill_short };
[[nodiscard]] std::string name_of(AttentionKernel kernel);
/// "decode" or "prefill".
[[nodiscard]] std::string short_name(AttentionKernel kernel);
[[nodiscard]] std::string parameter_name(const ::testing::TestParamInfo<AttentionKernel>& parameter);
void PrintTo(AttentionKernel kernel, std::ostream* out);

/// How tokens and heads lie in HBM.
enum class TokenLayout : std::uint8_t {
  head_major,   ///< K, V: [H, S, D]; Q and output: [H, S, group D], with a gap between the output's rows
  token_major,  ///< K, V: [S, H, D]; Q and output: [S, H, group D]
};

struct Lengths {
  std::int64_t s_q = 1;
  std::int64_t s_kv = 1;
};

/// What a test varies.
struct AttentionShape {
  DType dtype = DType::f16;
  std::int64_t kv_heads = 1;
  std::int64_t group = 4;
  std::int64_t head_dim = 128;
  std::vector<Lengths> sequences{{1, 256}};
  bool causal = false;
  float scale = 0.0F;  ///< 0: 1 / sqrt(head_dim)
  TokenLayout layout = TokenLayout::head_major;
  std::int64_t tile = 128;
  std::int64_t block_queries = 16;
  std::int64_t kv_buffers = 3;
  std::uint64_t seed = 1;
  /// What stands in the KV cache beyond a sequence's last token.
  float beyond_kv = std::numeric_limits<float>::quiet_NaN();
};

/// Values of one KV head of one sequence, exact in the storage type: q [s_q][group][d], k and v [s_kv][d].
struct HeadValues {
  std::vector<float> q;
  std::vector<float> k;
  std::vector<float> v;
};

/// Random values, to be changed before `place`. In HBM every tensor is followed by a gap, outputs are NaN.
class AttentionCase {
 public:
  explicit AttentionCase(const AttentionShape& shape);

  [[nodiscard]] const AttentionShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const kernels::AttentionArgs& args() const noexcept { return args_; }
  [[nodiscard]] HeadValues& values(std::int64_t kv_head = 0, std::int64_t sequence = 0) {
    return values_.at(index(kv_head, sequence));
  }

  /// Places the data, runs the kernel on all PEs of the simulation, and expects that nothing but the outputs changed.
  void run(Simulation& simulation, AttentionKernel kernel, tl::Policy policy = tl::Policy::lazy);

  /// After `run`: [s_q][group][d].
  [[nodiscard]] std::vector<float> output(std::int64_t kv_head = 0, std::int64_t sequence = 0) const;
  [[nodiscard]] platform::AttentionReference reference(std::int64_t kv_head = 0, std::int64_t sequence = 0) const;
  /// Over all heads.
  [[nodiscard]] platform::NumericError error() const;
  /// Expects that the arithmetic explains every element's error.
  void expect_right() const;

 private:
  /// [tokens][width] of one head, in elements from the start of the image.
  struct Rows {
    std::int64_t first = 0;
    std::int64_t stride = 0;
    std::int64_t width = 0;
    std::int64_t tokens = 0;
  };
  struct Head {
    Rows q;
    Rows k;
    Rows v;
    Rows out;
  };

  [[nodiscard]] std::size_t index(std::int64_t kv_head, std::int64_t sequence) const {
    return static_cast<std::size_t>(kv_head + shape_.kv_heads * sequence);
  }
  [[nodiscard]] HbmAddress address(const Rows& rows) const;
  /// Lays out one tensor of all heads of a sequence, filled with `fill`; returns the rows of each head.
  [[nodiscard]] std::vector<Rows> allocate(std::int64_t tokens, std::int64_t width, std::int64_t gap, float fill);
  void add_sequence(const Lengths& lengths);
  void fill_in(std::vector<float>& image, const Rows& rows, const std::vector<float>& values) const;
  void expect_untouched(const std::vector<float>& before) const;

  AttentionShape shape_;
  kernels::AttentionArgs args_;
  std::vector<HeadValues> values_;
  std::vector<Head> heads_;
  std::vector<float> image_;  // HBM, element by element; after `run`, as the kernel left it
};

/// Numbers that a simulation in a process of its own returns; empty when it failed.
[[nodiscard]] std::vector<float> floats_from_child(const std::function<std::vector<float>()>& body);

/// The kernel as a function of a context.
[[nodiscard]] tl::Kernel kernel_of(AttentionKernel kernel, const kernels::AttentionArgs& args);

}  // namespace kernwave::testing
