#include "kernels/attention/gqa_attention_prefill_short.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/attention/causality.h"
#include "kernels/attention/kv_tiles.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/attention/query_block.h"
#include "kernels/attention/score_mask.h"

namespace kernwave::kernels {

namespace {

/// One tile of keys for one block of queries.
struct Step {
  std::int64_t block = 0;  ///< counted among the blocks that see any key
  std::int64_t first_query = 0;
  std::int64_t tile = 0;
  bool first_of_block = false;
  bool last_of_block = false;
};

/// All steps in order: blocks of queries, and in each the tiles of keys that it sees. Steps are walked with a cursor
/// rather than listed: their number grows with the square of the sequence.
class StepCursor {
 public:
  StepCursor(const AttentionArgs& args, const AttentionHead& head) : args_(args), head_(head) { enter_block(); }

  [[nodiscard]] bool done() const noexcept { return step_.first_query >= head_.s_q; }
  [[nodiscard]] const Step& operator*() const noexcept { return step_; }
  [[nodiscard]] const Step* operator->() const noexcept { return &step_; }

  void advance() {
    if (!step_.last_of_block) {
      set_tile(step_.tile + 1);
      return;
    }
    step_.first_query += args_.block_queries;
    ++step_.block;
    enter_block();
  }

 private:
  /// Blocks that see no key are passed over.
  void enter_block() {
    while (!done()) {
      const std::int64_t queries = std::min(args_.block_queries, head_.s_q - step_.first_query);
      tiles_ = visible_tiles(args_.causal, head_, step_.first_query, queries, args_.tile);
      if (tiles_ > 0) break;
      step_.first_query += args_.block_queries;
    }
    set_tile(0);
  }

  void set_tile(std::int64_t tile) noexcept {
    step_.tile = tile;
    step_.first_of_block = tile == 0;
    step_.last_of_block = tile == tiles_ - 1;
  }

  const AttentionArgs& args_;
  const AttentionHead& head_;
  Step step_;
  std::int64_t tiles_ = 0;
};

/// Software pipeline over the steps. In step n: K and V of later steps are on their way, Q K^T of step n + 1 is issued
/// before the softmax of step n, and a finished block is normalised and stored after the next block's first P V is
/// issued, so that the matrix engine never waits for the vector engine. All of it crosses from block to block.
///
/// V is requested one step later than K: its buffer is free only when the P V that still runs has read it.
class PrefillPipeline {
 public:
  PrefillPipeline(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head)
      : tl_(tl),
        args_(args),
        head_(head),
        rows_(args.block_queries * args.group),
        kv_(make_kv_tiles(tl, args, head)),
        mask_(tl, args, args.block_queries),
        queries_(tl.buffers(query_buffers(), {args.block_queries, args.group * args.head_dim}, args.dtype)),
        scores_(tl.buffers(2, {rows_, args.tile}, DType::f32)),
        p_(tl.buffers(2, {rows_, args.tile}, args.dtype)),
        softmax_{OnlineSoftmax(tl, args, rows_), OnlineSoftmax(tl, args, rows_)},
        requested_k_(args, head),
        requested_v_(args, head),
        multiplied_(args, head) {}

  void run() {
    for (std::int64_t i = 0; i < kv_->distance(); ++i) request_next_k();
    for (std::int64_t i = 0; i < kv_->distance() - 1; ++i) request_next_v();
    multiply_next();
    std::int64_t number = 0;
    for (StepCursor step(args_, head_); !step.done(); step.advance()) {
      auto scope = tl_.scratch_scope();
      request_next_k();
      multiply_next();
      request_next_v();
      attend(*step, number++);
      if (finished_) store_finished();
      if (step->last_of_block) finished_ = *step;
    }
    store_finished();
  }

 private:
  /// One for the block being multiplied and one for each that is requested meanwhile: a block may be one tile long.
  [[nodiscard]] std::int64_t query_buffers() const { return std::max<std::int64_t>(2, kv_->distance()); }

  /// Buffers are used in turn.
  [[nodiscard]] static const tl::Tensor& nth(const std::vector<tl::Tensor>& buffers, std::int64_t number) {
    return buffers[static_cast<std::size_t>(number) % buffers.size()];
  }
  [[nodiscard]] OnlineSoftmax& softmax_of(std::int64_t block) { return softmax_[static_cast<std::size_t>(block % 2)]; }

  /// With a block's first K come its queries.
  void request_next_k() {
    if (requested_k_.done()) return;
    if (requested_k_->first_of_block) {
      const std::int64_t first = requested_k_->first_query;
      load_queries(tl_, args_, head_, first, std::min(args_.block_queries, head_.s_q - first),
                   nth(queries_, requested_k_->block));
    }
    kv_->request_k(k_requests_++, requested_k_->tile);
    requested_k_.advance();
  }

  void request_next_v() {
    if (requested_v_.done()) return;
    kv_->request_v(v_requests_++, requested_v_->tile);
    requested_v_.advance();
  }

  void multiply_next() {
    if (multiplied_.done()) return;
    const auto q = tl_.reshape(nth(queries_, multiplied_->block), {rows_, args_.head_dim});
    kv_->multiply_keys(products_, multiplied_->tile, q, nth(scores_, products_));
    ++products_;
    multiplied_.advance();
  }

  void attend(const Step& step, std::int64_t number) {
    const tl::Tensor& scores = nth(scores_, number);
    const tl::Tensor& p = nth(p_, number);
    OnlineSoftmax& softmax = softmax_of(step.block);
    mask_.apply(scores, view_of(head_, step.first_query, args_.block_queries, step.tile, args_.tile));
    step.first_of_block ? softmax.begin(scores, p) : softmax.update(scores, p);
    kv_->multiply_values(number, step.tile, p, softmax, step.first_of_block ? Output::first : Output::later);
  }

  void store_finished() {
    const std::int64_t count = std::min(args_.block_queries, head_.s_q - finished_->first_query);
    store_queries(tl_, args_, head_, finished_->first_query, count, softmax_of(finished_->block));
    finished_.reset();
  }

  tl::Context& tl_;
  const AttentionArgs& args_;
  const AttentionHead& head_;
  std::int64_t rows_;
  std::unique_ptr<KvTiles> kv_;
  ScoreMask mask_;
  std::vector<tl::Tensor> queries_;
  std::vector<tl::Tensor> scores_;
  std::vector<tl::Tensor> p_;
  std::array<OnlineSoftmax, 2> softmax_;
  StepCursor requested_k_;
  StepCursor requested_v_;
  StepCursor multiplied_;
  std::int64_t k_requests_ = 0;
  std::int64_t v_requests_ = 0;
  std::int64_t products_ = 0;
  std::optional<Step> finished_;
};

}  // namespace

void gqa_attention_prefill_short(tl::Context& tl, const AttentionArgs& args) {
  const AttentionHead& head = args.head(tl.program_id(0), tl.program_id(1));
  if (args.kv == KvSource::load && args.kv_buffers < 2) {
    throw tl::KernelError(
        "gqa_attention_prefill_short: kv_buffers must be at least 2: a tile's Q K^T runs ahead of the "
        "P V of the tile before");
  }
  const std::int64_t masked = fully_masked_queries(args.causal, head);
  // Whole blocks; one that is masked in part goes through the pipeline.
  const std::int64_t stored = masked == head.s_q ? masked : masked / args.block_queries * args.block_queries;
  store_fully_masked(tl, args, head, 0, stored);
  if (stored == head.s_q) return;
  PrefillPipeline(tl, args, head).run();
}

}  // namespace kernwave::kernels
