#include "kernels/attention/kv_stream.h"

#include <algorithm>

namespace kernwave::kernels {

KvStream::KvStream(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head)
    : tl_(tl),
      args_(args),
      head_(head),
      k_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)),
      v_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)) {}

void KvStream::request(std::int64_t step, std::int64_t tile) {
  const std::int64_t first = tile * args_.tile;
  const std::int64_t keys = std::min(args_.tile, head_.s_kv - first);
  const Bytes offset(first * head_.kv_stride * size_of(args_.dtype));
  const tl::Shape shape{args_.tile, args_.head_dim};
  const auto options = tl::LoadOptions().strides(head_.kv_stride).valid({keys, args_.head_dim});
  tl_.load(head_.k + offset, shape, args_.dtype, options.into(k_[slot(step)]));
  tl_.load(head_.v + offset, shape, args_.dtype, options.into(v_[slot(step)]).other(0.0F));
}

}  // namespace kernwave::kernels
