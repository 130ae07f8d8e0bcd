#include "kernels/attention/gqa_attention_decode_long.h"

#include <algorithm>

#include "kernels/attention/decode_attention.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/attention/query_block.h"

namespace kernwave::kernels {

namespace {

/// The ranks' exchange of partial results.
class PartialResults {
 public:
  PartialResults(tl::Context& tl, const SplitDecodeArgs& args, std::int64_t rows, OnlineSoftmax& mine)
      : tl_(tl), args_(args), elements_(OnlineSoftmax::message_elements(rows, args.attention.head_dim)), mine_(mine) {}

  void chain() {
    if (args_.rank > 0) merge();
    if (args_.rank < args_.ranks - 1) mine_.send(args_.forward);
  }

  /// Round k joins blocks of 2^k ranks in pairs. The last rank of the first block sends, the last rank of the second
  /// one merges, and the ranks between pass the message on.
  void tree() {
    for (std::int64_t half = 1; half < args_.ranks; half *= 2) {
      const std::int64_t begin = args_.rank / (2 * half) * (2 * half);
      const std::int64_t middle = begin + half;
      const std::int64_t root = std::min(begin + 2 * half, args_.ranks) - 1;
      if (middle > root) continue;  // no second block
      if (args_.rank == middle - 1) mine_.send(args_.forward);
      if (args_.rank >= middle && args_.rank < root) relay();
      if (args_.rank == root) merge();
    }
  }

 private:
  [[nodiscard]] tl::Tensor receive() { return tl_.recv(opposite(args_.forward), {elements_}, DType::f32); }

  void merge() {
    auto scope = tl_.scratch_scope();
    mine_.merge(receive());
  }

  void relay() {
    auto scope = tl_.scratch_scope();
    tl_.send(args_.forward, receive());
  }

  tl::Context& tl_;
  const SplitDecodeArgs& args_;
  std::int64_t elements_;
  OnlineSoftmax& mine_;
};

}  // namespace

void gqa_attention_decode_long(tl::Context& tl, const SplitDecodeArgs& args) {
  const AttentionHead& head = args.attention.head(tl.program_id(0), tl.program_id(1));
  OnlineSoftmax softmax = decode_attention(tl, args.attention, head);
  PartialResults partial(tl, args, head.s_q * args.attention.group, softmax);
  args.reduction == Reduction::chain ? partial.chain() : partial.tree();
  if (args.rank == args.ranks - 1) store_queries(tl, args.attention, head, 0, head.s_q, softmax);
}

}  // namespace kernwave::kernels
