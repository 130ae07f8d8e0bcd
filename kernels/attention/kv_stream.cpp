#include "kernels/attention/kv_stream.h"

#include <algorithm>

namespace kernwave::kernels {

KvStream::KvStream(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head)
    : tl_(tl),
      args_(args),
      head_(head),
      k_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)),
      v_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)) {}

void KvStream::request_k(std::int64_t step, std::int64_t tile) { request(head_.k, tile, tl::into(k_[slot(step)])); }

void KvStream::request_v(std::int64_t step, std::int64_t tile) {
  request(head_.v, tile, tl::into(v_[slot(step)]).other(0.0F));
}

void KvStream::request(HbmAddress base, std::int64_t tile, const tl::LoadOptions& options) {
  const std::int64_t first = tile * args_.tile;
  const std::int64_t keys = std::min(args_.tile, head_.s_kv - first);
  tl_.load(base + Bytes(first * head_.kv_stride * size_of(args_.dtype)), {args_.tile, args_.head_dim}, args_.dtype,
           options.strides(head_.kv_stride).valid({keys, args_.head_dim}));
}

}  // namespace kernwave::kernels
