#include "kernels/attention/query_block.h"

#include <algorithm>

namespace kernwave::kernels {

tl::Tensor load_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        const tl::Tensor& buffer) {
  const std::int64_t queries = buffer.shape()[0];
  const std::int64_t width = args.group * args.head_dim;
  const Bytes offset(first * head.q_stride * size_of(args.dtype));
  tl.load(head.q + offset, buffer.shape(), args.dtype,
          tl::into(buffer).strides(head.q_stride).valid({std::min(queries, head.s_q - first), width}).other(0.0F));
  return tl.reshape(buffer, {queries * args.group, args.head_dim});
}

void store_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                   std::int64_t count, const tl::Tensor& out) {
  const std::int64_t width = args.group * args.head_dim;
  const Bytes offset(first * head.out_stride * size_of(args.dtype));
  tl.store(head.out + offset, tl.reshape(out, {out.shape()[0] / args.group, width}),
           tl::StoreOptions().strides(head.out_stride).valid({count, width}));
}

void store_zeros(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                 std::int64_t count) {
  auto scope = tl.scratch_scope();
  const std::int64_t block = std::min(count, args.block_queries);
  const auto zeros = tl.zeros({block * args.group, args.head_dim}, args.dtype);
  for (std::int64_t i = 0; i < count; i += block) {
    store_queries(tl, args, head, first + i, std::min(block, count - i), zeros);
  }
}

}  // namespace kernwave::kernels
