#include "kernels/attention/decode_attention.h"

#include "kernels/attention/causality.h"
#include "kernels/attention/kv_stream.h"
#include "kernels/attention/query_block.h"
#include "kernels/attention/score_mask.h"

namespace kernwave::kernels {

namespace {

[[nodiscard]] OnlineSoftmax attend(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head,
                                   std::int64_t tiles) {
  const std::int64_t rows = head.s_q * args.group;
  const auto q_buffer = tl.buffer({head.s_q, args.group * args.head_dim}, args.dtype);
  const auto q = load_queries(tl, args, head, 0, head.s_q, q_buffer);
  KvStream kv(tl, args, head);
  const auto request = [&](std::int64_t tile) {
    if (tile >= tiles) return;
    kv.request_k(tile, tile);
    kv.request_v(tile, tile);
  };
  for (std::int64_t j = 0; j < kv.distance(); ++j) request(j);

  const ScoreMask mask(tl, args, head.s_q);
  OnlineSoftmax softmax(tl, args, rows);
  const auto p = tl.buffer({rows, args.tile}, args.dtype);

  for (std::int64_t j = 0; j < tiles; ++j) {
    auto scope = tl.scratch_scope();
    request(j + kv.distance());
    const auto scores = tl.dot(q, tl.trans(kv.k(j)));  // waits for this tile of K; the next ones stream meanwhile
    mask.apply(scores, view_of(head, 0, head.s_q, j, args.tile));
    if (j == 0) {
      softmax.begin(scores, p);
      softmax.begin_output(p, kv.v(j));
    } else {
      softmax.update(scores, p);
      softmax.update_output(p, kv.v(j));
    }
  }
  return softmax;
}

}  // namespace

OnlineSoftmax decode_attention(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head) {
  const std::int64_t tiles = visible_tiles(args.causal, head, 0, head.s_q, args.tile);
  if (tiles > 0) return attend(tl, args, head, tiles);
  OnlineSoftmax softmax(tl, args, head.s_q * args.group);
  softmax.begin_empty();
  return softmax;
}

}  // namespace kernwave::kernels
