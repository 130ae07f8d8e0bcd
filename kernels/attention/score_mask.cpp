#include "kernels/attention/score_mask.h"

#include <limits>

#include "kernels/attention/causality.h"

namespace kernwave::kernels {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

}  // namespace

ScoreMask::ScoreMask(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t queries)
    : tl_(tl),
      args_(args),
      head_(head),
      query_of_row_(tl.expand_dims(tl.floor_div(tl.arange(0, queries * args.group), args.group), 1)),
      column_(tl.expand_dims(tl.arange(0, args.tile), 0)) {}

bool ScoreMask::cuts_diagonal(std::int64_t first_query, std::int64_t tile) const {
  if (!args_.causal) return false;
  // The first query of the block sees the fewest keys.
  const std::int64_t seen_by_first = first_query + 1 + head_.s_kv - head_.s_q;
  return (tile + 1) * args_.tile > seen_by_first;
}

bool ScoreMask::is_partial(std::int64_t tile) const { return (tile + 1) * args_.tile > head_.s_kv; }

void ScoreMask::apply(const tl::Tensor& scores, std::int64_t first_query, std::int64_t tile) const {
  const std::int64_t first_key = tile * args_.tile;
  if (cuts_diagonal(first_query, tile)) {
    // Key first_key + column is seen by query first_query + q when it is <= first_query + q + s_kv - s_q. A key beyond
    // s_kv is beyond that for every query.
    const auto last_column = query_of_row_ + (first_query + head_.s_kv - head_.s_q - first_key);
    tl_.where(column_ <= last_column, scores, minus_infinity, tl::out(scores));
  } else if (is_partial(tile)) {
    tl_.where(column_ < head_.s_kv - first_key, scores, minus_infinity, tl::out(scores));
  }
}

}  // namespace kernwave::kernels
