#include "kernels/attention/score_mask.h"

#include <algorithm>
#include <limits>

namespace kernwave::kernels {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

}  // namespace

ScoreMask::ScoreMask(tl::Context& tl, const AttentionArgs& args, std::int64_t queries)
    : tl_(tl),
      causal_(args.causal),
      tile_(args.tile),
      query_of_row_(tl.expand_dims(tl.floor_div(tl.arange(0, queries * args.group), args.group), 1)),
      column_(tl.expand_dims(tl.arange(0, args.tile), 0)) {}

void ScoreMask::apply(const tl::Tensor& scores, const TileView& view) const {
  const bool cuts_diagonal = causal_ && view.diagonal < tile_ - 1;  // the first query sees the fewest columns
  if (!cuts_diagonal) {
    if (view.keys < tile_) tl_.where(column_ < view.keys, scores, minus_infinity, tl::out(scores));
    return;
  }
  const auto last_column = query_of_row_ + view.diagonal;
  const bool diagonal_leaves_keys = view.diagonal + view.queries > view.keys;
  if (view.keys < tile_ && diagonal_leaves_keys) tl_.minimum(last_column, view.keys - 1, tl::out(last_column));
  tl_.where(column_ <= last_column, scores, minus_infinity, tl::out(scores));
}

TileView view_of(const AttentionHead& head, std::int64_t first, std::int64_t queries, std::int64_t tile,
                 std::int64_t tile_size) {
  const std::int64_t first_key = tile * tile_size;
  return {std::min(tile_size, head.s_kv - first_key), first + head.diagonal() - first_key,
          std::min(queries, head.s_q - first)};
}

}  // namespace kernwave::kernels
