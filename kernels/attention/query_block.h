// A block of query rows: loads of the queries and stores of the outputs, between HBM and scratch.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Loads `count` queries from `first` on into `buffer`, queries x (group head_dim), and returns it as (queries group) x
/// head_dim: row r is head r mod group of query r / group. The rest of the buffer is 0.
tl::Tensor load_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        std::int64_t count, const tl::Tensor& buffer);

/// Stores the results of `count` queries: O / l, and the LSE if args.store_lse. Rows are laid out as `load_queries`
/// returns them; tokens of output and LSE from head.out and head.lse + `first` on.
void store_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                   std::int64_t count, const OnlineSoftmax& softmax);

/// The output of `count` queries that see no key: 0, and an LSE of -inf.
void store_fully_masked(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        std::int64_t count);

}  // namespace kernwave::kernels
