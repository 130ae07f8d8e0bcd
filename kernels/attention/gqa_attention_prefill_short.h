// Prefill attention in one cube: each program computes all queries of one KV head of one sequence.
#pragma once

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Many queries, in blocks of args.block_queries, against keys and values in the cube's own HBM. Bound by the products.
void gqa_attention_prefill_short(tl::Context& tl, const AttentionArgs& args);

}  // namespace kernwave::kernels
