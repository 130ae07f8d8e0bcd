// Decode attention over a KV cache that is split among ranks.
#pragma once

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"
#include "models/base/direction.h"

namespace kernwave::kernels {

/// How the ranks' partial results come together at the last rank.
enum class Reduction : std::uint8_t {
  chain,  ///< each rank merges what it receives and sends it on: ranks - 1 hops one after another
  tree,   ///< pairs, then pairs of pairs: ceil(log2(ranks)) merges one after another, messages relayed by the ranks
          ///< between
};

/// What one rank of a split decode is given.
struct SplitDecodeArgs {
  /// heads: all queries, this rank's share of the keys; `out` and `lse` of the last rank count
  AttentionArgs attention;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  Direction forward = Direction::east;  ///< from a rank to the next one
  Reduction reduction = Reduction::chain;

  /// Of a message: m, l and O of all rows, in f32.
  [[nodiscard]] Bytes message_bytes(std::int64_t s_q) const {
    return Bytes(OnlineSoftmax::message_elements(s_q * attention.group, attention.head_dim) * size_of(DType::f32));
  }
};

/// A few queries against a KV cache of which each rank holds a part (Dao et al., Flash-Decoding, 2023). Every rank
/// computes m, l and O over its keys; the last one ends with those of all keys, normalises and stores. A rank without a
/// key takes part with nothing.
void gqa_attention_decode_long(tl::Context& tl, const SplitDecodeArgs& args);

}  // namespace kernwave::kernels
