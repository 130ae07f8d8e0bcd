#include "kernels/attention/gqa_attention_decode_short.h"

#include "kernels/attention/causality.h"
#include "kernels/attention/decode_attention.h"
#include "kernels/attention/query_block.h"

namespace kernwave::kernels {

void gqa_attention_decode_short(tl::Context& tl, const AttentionArgs& args) {
  const AttentionHead& head = args.head(tl.program_id(0), tl.program_id(1));
  if (fully_masked_queries(args.causal, head) == head.s_q) return store_fully_masked(tl, args, head, 0, head.s_q);
  store_queries(tl, args, head, 0, head.s_q, decode_attention(tl, args, head));
}

}  // namespace kernwave::kernels
