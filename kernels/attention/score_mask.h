// Hides the scores of keys that a query must not see.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Masks a block of scores: rows are (query, head of the group), columns keys of one tile. Touches only the tiles that
/// need it: those on the causal diagonal, and the last one when it is not full.
class ScoreMask {
 public:
  /// Allocates the indices of `queries` x group rows and of the tile's columns in the current scope.
  ScoreMask(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t queries);

  /// Sets to -inf, in place, what the queries first_query ... must not see of tile `tile`.
  void apply(const tl::Tensor& scores, std::int64_t first_query, std::int64_t tile) const;

 private:
  [[nodiscard]] bool cuts_diagonal(std::int64_t first_query, std::int64_t tile) const;
  [[nodiscard]] bool is_partial(std::int64_t tile) const;

  tl::Context& tl_;
  const AttentionArgs& args_;
  const AttentionHead& head_;
  tl::Tensor query_of_row_;  // rows x 1
  tl::Tensor column_;        // 1 x tile
};

}  // namespace kernwave::kernels
