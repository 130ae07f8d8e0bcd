#include "kernels/attention/decode_attention.h"

#include "kernels/attention/causality.h"
#include "kernels/attention/kv_tiles.h"
#include "kernels/attention/query_block.h"
#include "kernels/attention/score_mask.h"

namespace kernwave::kernels {

namespace {

/// The softmax of one tile's scores, into `p`.
void take_in(OnlineSoftmax& softmax, const tl::Tensor& scores, const tl::Tensor& p, Output output) {
  output == Output::first ? softmax.begin(scores, p) : softmax.update(scores, p);
}

[[nodiscard]] constexpr Output output_of(std::int64_t tile) noexcept {
  return tile == 0 ? Output::first : Output::later;
}

/// Tiles are loaded ahead of their use; the products wait for them.
[[nodiscard]] OnlineSoftmax attend_loaded(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head,
                                          std::int64_t tiles) {
  const std::int64_t rows = head.s_q * args.group;
  const auto q_buffer = tl.buffer({head.s_q, args.group * args.head_dim}, args.dtype);
  const auto q = load_queries(tl, args, head, 0, head.s_q, q_buffer);
  const auto kv = loaded_kv_tiles(tl, args, head);
  const auto request = [&](std::int64_t tile) {
    if (tile >= tiles) return;
    kv->request_k(tile, tile);
    kv->request_v(tile, tile);
  };
  for (std::int64_t j = 0; j < kv->distance(); ++j) request(j);

  const ScoreMask mask(tl, args, head.s_q);
  OnlineSoftmax softmax(tl, args, rows);
  const auto p = tl.buffer({rows, args.tile}, args.dtype);

  for (std::int64_t j = 0; j < tiles; ++j) {
    auto scope = tl.scratch_scope();
    request(j + kv->distance());
    const auto scores = tl.buffer({rows, args.tile}, DType::f32);
    kv->multiply_keys(j, j, q, scores);  // waits for this tile of K; the next ones stream meanwhile
    mask.apply(scores, view_of(head, 0, head.s_q, j, args.tile));
    take_in(softmax, scores, p, output_of(j));
    kv->multiply_values(j, j, p, softmax, output_of(j));
  }
  return softmax;
}

/// Composites stream the tiles. Q K^T of the next tile is issued before the softmax of this one, so that K streams
/// while the kernel waits for scores, and V while it works on them.
[[nodiscard]] OnlineSoftmax attend_streamed(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head,
                                            std::int64_t tiles) {
  const std::int64_t rows = head.s_q * args.group;
  const auto q_buffer = tl.buffer({head.s_q, args.group * args.head_dim}, args.dtype);
  const auto q = load_queries(tl, args, head, 0, head.s_q, q_buffer);
  const auto kv = streamed_kv_tiles(tl, args, head);
  const auto scores = tl.buffers(2, {rows, args.tile}, DType::f32);
  const auto p = tl.buffers(2, {rows, args.tile}, args.dtype);
  const auto nth = [](const std::vector<tl::Tensor>& buffers, std::int64_t tile) -> const tl::Tensor& {
    return buffers[static_cast<std::size_t>(tile % 2)];
  };
  kv->multiply_keys(0, 0, q, nth(scores, 0));
  const ScoreMask mask(tl, args, head.s_q);
  OnlineSoftmax softmax(tl, args, rows);

  for (std::int64_t j = 0; j < tiles; ++j) {
    auto scope = tl.scratch_scope();
    if (j + 1 < tiles) kv->multiply_keys(j + 1, j + 1, q, nth(scores, j + 1));
    mask.apply(nth(scores, j), view_of(head, 0, head.s_q, j, args.tile));
    take_in(softmax, nth(scores, j), nth(p, j), output_of(j));
    kv->multiply_values(j, j, nth(p, j), softmax, output_of(j));
  }
  return softmax;
}

}  // namespace

OnlineSoftmax decode_attention(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head) {
  const std::int64_t tiles = visible_tiles(args.causal, head, 0, head.s_q, args.tile);
  if (tiles > 0) {
    return args.kv == KvSource::load ? attend_loaded(tl, args, head, tiles) : attend_streamed(tl, args, head, tiles);
  }
  OnlineSoftmax softmax(tl, args, head.s_q * args.group);
  softmax.begin_empty();
  return softmax;
}

}  // namespace kernwave::kernels
