// Queries and outputs of a block of rows, between HBM and scratch.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Loads the queries first ... into `buffer`, queries x (group head_dim), and returns it as (queries group) x head_dim:
/// row r is head r mod group of query r / group. Queries beyond s_q are 0.
tl::Tensor load_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        const tl::Tensor& buffer);

/// Stores `count` queries' rows of `out`, laid out as `load_queries` returns them.
void store_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                   std::int64_t count, const tl::Tensor& out);

/// The output of `count` queries that see no key.
void store_zeros(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                 std::int64_t count);

}  // namespace kernwave::kernels
