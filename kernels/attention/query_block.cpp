#include "kernels/attention/query_block.h"

#include <algorithm>
#include <limits>

namespace kernwave::kernels {

tl::Tensor load_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        std::int64_t count, const tl::Tensor& buffer) {
  const std::int64_t queries = buffer.shape()[0];
  const std::int64_t width = args.group * args.head_dim;
  const Bytes offset(first * head.q_stride * size_of(args.dtype));
  tl.load(head.q + offset, buffer.shape(), args.dtype,
          tl::into(buffer).strides(head.q_stride).valid({count, width}).other(0.0F));
  return tl.reshape(buffer, {queries * args.group, args.head_dim});
}

namespace {

void store_rows(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                std::int64_t count, const tl::Tensor& out) {
  const std::int64_t width = args.group * args.head_dim;
  const Bytes offset(first * head.out_stride * size_of(args.dtype));
  tl.store(head.out + offset, tl.reshape(out, {out.shape()[0] / args.group, width}),
           tl::StoreOptions().strides(head.out_stride).valid({count, width}));
}

void store_lse(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
               std::int64_t count, const tl::Tensor& lse) {
  const Bytes offset(first * head.lse_stride * size_of(DType::f32));
  tl.store(head.lse + offset, tl.reshape(lse, {lse.shape()[0] / args.group, args.group}),
           tl::StoreOptions().strides(head.lse_stride).valid({count, args.group}));
}

}  // namespace

void store_queries(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                   std::int64_t count, const OnlineSoftmax& softmax) {
  store_rows(tl, args, head, first, count, softmax.normalised());
  if (args.store_lse) store_lse(tl, args, head, first, count, softmax.log_sum_exp());
}

void store_fully_masked(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head, std::int64_t first,
                        std::int64_t count) {
  if (count == 0) return;
  auto scope = tl.scratch_scope();
  const std::int64_t block = std::min(count, args.block_queries);
  const auto zeros = tl.zeros({block * args.group, args.head_dim}, args.dtype);
  for (std::int64_t i = 0; i < count; i += block) {
    store_rows(tl, args, head, first + i, std::min(block, count - i), zeros);
  }
  if (!args.store_lse) return;
  const auto nothing = tl.full({block * args.group, 1}, -std::numeric_limits<double>::infinity(), DType::f32);
  for (std::int64_t i = 0; i < count; i += block) {
    store_lse(tl, args, head, first + i, std::min(block, count - i), nothing);
  }
}

}  // namespace kernwave::kernels
