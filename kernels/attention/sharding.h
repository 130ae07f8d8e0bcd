// The tokens of a sequence that each rank holds: plain arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kernwave::kernels {

/// Consecutive tokens.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A sequence in ranks x chunks_per_rank chunks whose lengths differ by one token at most, the longer ones first.
///
/// One chunk a rank: rank r holds chunk r (contiguous). Two: it holds the chunks r and 2 ranks - 1 - r (zigzag), so
/// that under a causal mask every rank has an early and a late part and the same work (Zhu, ring-flash-attention, 2024;
/// Brandon et al., Striped Attention, 2023, balance the same way). Chunks, and whole shards, may be empty.
class Sharding {
 public:
  constexpr Sharding() noexcept = default;
  constexpr Sharding(std::int64_t tokens, std::int64_t ranks, std::int64_t chunks_per_rank) noexcept
      : tokens_(tokens), ranks_(ranks), chunks_(chunks_per_rank) {}

  [[nodiscard]] constexpr std::int64_t tokens() const noexcept { return tokens_; }
  [[nodiscard]] constexpr std::int64_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] constexpr std::int64_t chunks_per_rank() const noexcept { return chunks_; }

  [[nodiscard]] constexpr Span chunk(std::int64_t rank, std::int64_t index) const noexcept {
    const std::int64_t number = index == 0 ? rank : 2 * ranks_ - 1 - rank;
    const std::int64_t base = tokens_ / (ranks_ * chunks_);
    const std::int64_t longer = tokens_ % (ranks_ * chunks_);
    return Span{number * base + std::min(number, longer), base + (number < longer ? 1 : 0)};
  }

  /// Tokens of all chunks of a rank.
  [[nodiscard]] constexpr std::int64_t shard(std::int64_t rank) const noexcept {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < chunks_; ++i) sum += chunk(rank, i).count;
    return sum;
  }

  /// The position of a chunk's first token in its rank's shard, whose chunks follow one another.
  [[nodiscard]] constexpr std::int64_t offset_in_shard(std::int64_t rank, std::int64_t index) const noexcept {
    return index == 0 ? 0 : chunk(rank, 0).count;
  }

  /// The longest chunk: rank 0's first.
  [[nodiscard]] constexpr std::int64_t longest_chunk() const noexcept { return chunk(0, 0).count; }

 private:
  std::int64_t tokens_ = 0;
  std::int64_t ranks_ = 1;
  std::int64_t chunks_ = 1;
};

}  // namespace kernwave::kernels
