// Prefill attention over a KV cache that is split among ranks, on a ring that passes KV tiles on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/sharding.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// The shards of the tokens of one sequence.
struct RingSequence {
  Sharding queries;
  Sharding keys;  ///< as many chunks a rank as the queries
};

/// The arguments of one rank of a ring. `attention.heads`: this rank's queries, keys and values, the chunks of its
/// shards one after another; `attention.tile` is the number of keys of one chunk in a message.
struct RingArgs {
  AttentionArgs attention;
  std::vector<RingSequence> sequences;
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  bool bidirectional = false;        ///< tiles travel both ways around, each half of the ranks
  std::int64_t resident_blocks = 1;  ///< blocks of queries whose m, l and O stay in scratch; a multiple of the chunks

  /// The size of a message: K and V of one tile of each chunk.
  [[nodiscard]] Bytes message_bytes() const {
    const std::int64_t chunks = sequences.front().keys.chunks_per_rank();
    return Bytes(2 * chunks * attention.tile * attention.head_dim * size_of(attention.dtype));
  }
};

/// Messages around the ring for one sequence: tiles of the longest chunk.
[[nodiscard]] constexpr std::int64_t ring_tiles(const RingSequence& sequence, std::int64_t tile) noexcept {
  return tl::cdiv(sequence.keys.longest_chunk(), tile);
}

/// The number of times that all keys go around: ceil(blocks of the rank that has most / resident blocks).
[[nodiscard]] constexpr std::int64_t ring_passes(const RingSequence& sequence, std::int64_t block_queries,
                                                 std::int64_t resident_blocks) noexcept {
  const Sharding& queries = sequence.queries;
  const std::int64_t blocks = queries.chunks_per_rank() * tl::cdiv(queries.longest_chunk(), block_queries);
  return std::max<std::int64_t>(1, tl::cdiv(blocks, resident_blocks));
}

/// Each rank holds a share of the queries and of the keys. For every tile of its keys: the ranks compute attention over
/// their own tile, send the tile to the east, and continue with the tiles that come from the west, until every rank has
/// used the tile of each rank (Liu et al., Ring Attention, 2023, with tiles in place of whole shards: scratch holds a
/// tile, however long the sequence). The output stays where the queries are.
///
/// With kv = composite the products are composites of tensors: K and V are in scratch, because they are sent on.
///
/// Queries that do not stay resident take further ring passes. Under a causal mask, a tile that no query of a block
/// sees is passed on without computation. If a rank has no keys in a tile (fewer keys than ranks, a shorter last
/// chunk), no keys are sent for it.
void gqa_attention_prefill_long(tl::Context& tl, const RingArgs& args);

}  // namespace kernwave::kernels
