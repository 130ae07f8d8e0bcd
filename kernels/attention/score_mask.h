// The mask of attention scores: hides the scores of keys that a query must not see.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// The part of one tile of keys that a block of queries sees.
struct TileView {
  std::int64_t keys = 0;      ///< columns of the tile that are keys
  std::int64_t diagonal = 0;  ///< causal: query q of the block sees columns up to diagonal + q
  std::int64_t queries = 1;   ///< of the block that are queries

  [[nodiscard]] constexpr bool sees_any(bool causal) const noexcept {
    return keys > 0 && queries > 0 && (!causal || diagonal + queries > 0);
  }
};

/// Masks a block of scores: rows are (query, head of the group), columns keys of one tile. Touches only the tiles that
/// need it: those on the causal diagonal, and those that are not full.
class ScoreMask {
 public:
  /// Allocates the indices of `queries` x group rows and of the tile's columns in the current scope.
  ScoreMask(tl::Context& tl, const AttentionArgs& args, std::int64_t queries);

  /// Sets hidden scores to -inf, in place.
  void apply(const tl::Tensor& scores, const TileView& view) const;

 private:
  tl::Context& tl_;
  bool causal_;
  std::int64_t tile_;
  tl::Tensor query_of_row_;  // rows x 1
  tl::Tensor column_;        // 1 x tile
};

/// The part of tile `tile` of a head that the queries first ... first + queries - 1 see.
[[nodiscard]] TileView view_of(const AttentionHead& head, std::int64_t first, std::int64_t queries, std::int64_t tile,
                               std::int64_t tile_size);

}  // namespace kernwave::kernels
