// Decode attention in one cube: each program computes one KV head of one sequence.
#pragma once

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// A few queries (usually one) against a KV cache in the cube's own HBM. Bound by reading K and V once.
/// All s_q x group rows are one block; they must fit in scratch.
void gqa_attention_decode_short(tl::Context& tl, const AttentionArgs& args);

}  // namespace kernwave::kernels
