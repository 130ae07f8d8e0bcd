// The loop that the decode kernels share: attention of a few queries over the keys that one PE holds.
#pragma once

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// All s_q x group rows of a head against its s_kv keys, tile by tile, as one block: m, l and O, in the current scope.
/// Without a visible key: as `OnlineSoftmax::begin_empty`.
[[nodiscard]] OnlineSoftmax decode_attention(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head);

}  // namespace kernwave::kernels
