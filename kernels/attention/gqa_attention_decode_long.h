// Decode attention over a KV cache that is split among ranks.
#pragma once

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"
#include "models/base/direction.h"

namespace kernwave::kernels {

/// The order in which the ranks' partial results are merged at the last rank.
enum class Reduction : std::uint8_t {
  chain,  ///< each rank merges a received result into its own and sends it on: ranks - 1 hops in sequence
  tree,   ///< pairs, then pairs of pairs: ceil(log2(ranks)) merges one after another, messages relayed by the ranks
          ///< between
};

/// The arguments of one rank of a split decode.
struct SplitDecodeArgs {
  /// heads: all queries, this rank's share of the keys; `out` and `lse` of the last rank count
  AttentionArgs attention;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  Direction forward = Direction::east;  ///< from a rank to the next one
  Reduction reduction = Reduction::chain;

  /// The size of a message: m, l and O of all rows, in f32.
  [[nodiscard]] Bytes message_bytes(std::int64_t s_q) const {
    return Bytes(OnlineSoftmax::message_elements(s_q * attention.group, attention.head_dim) * size_of(DType::f32));
  }
};

/// A few queries against a KV cache of which each rank holds a part (Dao et al., Flash-Decoding, 2023). Every rank
/// computes m, l and O over its keys; the last rank ends with the m, l and O of all keys, normalises O and stores it. A
/// rank without a key adds nothing.
void gqa_attention_decode_long(tl::Context& tl, const SplitDecodeArgs& args);

}  // namespace kernwave::kernels
