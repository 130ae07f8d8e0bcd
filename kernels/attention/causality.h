// Which keys a query sees: plain arithmetic, no tensors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/shape.h"

namespace kernwave::kernels {

/// Keys visible to query i: all of them, or the first i + 1 + s_kv - s_q (bottom-right alignment), never fewer than 0.
[[nodiscard]] constexpr std::int64_t visible_keys(bool causal, std::int64_t s_q, std::int64_t s_kv,
                                                  std::int64_t query) noexcept {
  return causal ? std::clamp<std::int64_t>(query + 1 + s_kv - s_q, 0, s_kv) : s_kv;
}

/// Queries, the first ones, that see no key: causal with more queries than keys, or no keys at all.
[[nodiscard]] constexpr std::int64_t blind_queries(bool causal, std::int64_t s_q, std::int64_t s_kv) noexcept {
  if (s_kv == 0) return s_q;
  return causal ? std::clamp<std::int64_t>(s_q - s_kv, 0, s_q) : 0;
}

/// Tiles of keys that the queries [first, first + count) see any of.
[[nodiscard]] constexpr std::int64_t visible_tiles(bool causal, const AttentionHead& head, std::int64_t first,
                                                   std::int64_t count, std::int64_t tile) noexcept {
  return tl::cdiv(visible_keys(causal, head.s_q, head.s_kv, first + count - 1), tile);
}

}  // namespace kernwave::kernels
