// The keys that a query sees under a causal mask: plain arithmetic, no tensors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/shape.h"

namespace kernwave::kernels {

/// Keys visible to query i of `keys`: all of them, or under a causal mask the first i + 1 + diagonal, never fewer than
/// 0. Bottom-right alignment of a whole sequence: diagonal = s_kv - s_q.
[[nodiscard]] constexpr std::int64_t visible_keys(bool causal, std::int64_t diagonal, std::int64_t keys,
                                                  std::int64_t query) noexcept {
  return causal ? std::clamp<std::int64_t>(query + 1 + diagonal, 0, keys) : keys;
}

/// Queries, the first ones, that see no key: those before the diagonal, or all where there is no key.
[[nodiscard]] constexpr std::int64_t fully_masked_queries(bool causal, const AttentionHead& head) noexcept {
  if (head.s_kv == 0) return head.s_q;
  return causal ? std::clamp<std::int64_t>(-head.diagonal(), 0, head.s_q) : 0;
}

/// Tiles of keys that the queries [first, first + count) see any of.
[[nodiscard]] constexpr std::int64_t visible_tiles(bool causal, const AttentionHead& head, std::int64_t first,
                                                   std::int64_t count, std::int64_t tile) noexcept {
  return tl::cdiv(visible_keys(causal, head.diagonal(), head.s_kv, first + count - 1), tile);
}

}  // namespace kernwave::kernels
