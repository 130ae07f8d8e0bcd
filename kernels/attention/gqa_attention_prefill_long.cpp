#include "kernels/attention/gqa_attention_prefill_long.h"

#include <array>

#include "kernels/attention/online_softmax.h"
#include "kernels/attention/products.h"
#include "kernels/attention/query_block.h"
#include "kernels/attention/score_mask.h"

namespace kernwave::kernels {

namespace {

/// A block of queries of this rank, with what it has come to.
struct Block {
  Block(tl::Context& tl, const AttentionArgs& args)
      : q(tl.buffer({args.block_queries, args.group * args.head_dim}, args.dtype)),
        softmax(tl, args, args.block_queries * args.group) {}

  tl::Tensor q;
  OnlineSoftmax softmax;
  std::int64_t in_shard = 0;  ///< number of the first query in this rank's shard
  std::int64_t position = 0;  ///< and in the sequence
  std::int64_t queries = 0;   ///< 0: the ring pass has no such block
  bool begun = false;         ///< has seen a key
};

/// K and V of one tile of a chunk, in scratch.
struct KvChunk {
  Span keys;
  tl::Tensor k;
  tl::Tensor v;
};

/// One tile of each chunk of a rank; of the chunks only those that have keys there.
using KvTile = std::vector<KvChunk>;

/// One product of a block with one chunk's keys of a tile.
struct Item {
  Block* block = nullptr;
  const KvChunk* kv = nullptr;
  TileView view;
};

/// `Products` are DotProducts or CompositeProducts.
template <typename Products>
class Ring {
 public:
  Ring(tl::Context& tl, const RingArgs& args, const AttentionHead& head, const RingSequence& sequence)
      : tl_(tl),
        args_(args),
        attention_(args.attention),
        head_(head),
        sequence_(sequence),
        chunks_(static_cast<std::size_t>(sequence.keys.chunks_per_rank())),
        tiles_(ring_tiles(sequence, attention_.tile)),
        passes_(ring_passes(sequence, attention_.block_queries, args.resident_blocks)),
        // Of the other ranks' tiles, those of the nearer half in the west come from the west.
        from_west_(args.bidirectional ? args.ranks / 2 : args.ranks - 1),
        from_east_(args.ranks - 1 - from_west_),
        scores_(tl.buffers(2, {attention_.block_queries * attention_.group, attention_.tile}, DType::f32)),
        p_(tl.buffers(2, {attention_.block_queries * attention_.group, attention_.tile}, attention_.dtype)),
        mask_(tl, attention_, attention_.block_queries),
        products_(tl) {
    for (std::int64_t i = 0; i < args.resident_blocks; ++i) blocks_.emplace_back(tl, attention_);
    for (LocalBuffers& local : local_) {
      local.k = tl.buffers(sequence.keys.chunks_per_rank(), {attention_.tile, attention_.head_dim}, attention_.dtype);
      local.v = tl.buffers(sequence.keys.chunks_per_rank(), {attention_.tile, attention_.head_dim}, attention_.dtype);
    }
  }

  void run() {
    load_local(0);
    for (std::int64_t pass = 0; pass < passes_; ++pass) {
      take_blocks(pass);
      for (std::int64_t tile = 0; tile < tiles_; ++tile) {
        for (std::int64_t step = 0; step <= std::max(from_west_, from_east_); ++step) {
          take_step(pass * tiles_ + tile, tile, step);
        }
      }
      store_blocks();
    }
  }

 private:
  /// One for each chunk of this rank.
  struct LocalBuffers {
    std::vector<tl::Tensor> k;
    std::vector<tl::Tensor> v;
  };

  // ---- queries

  /// The blocks of the chunks take turns, so that each ring pass has its share of early and late queries.
  void take_blocks(std::int64_t pass) {
    const Sharding& queries = sequence_.queries;
    const auto chunks = static_cast<std::int64_t>(chunks_);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      const std::int64_t number = pass * args_.resident_blocks + static_cast<std::int64_t>(i);
      const std::int64_t chunk = number % chunks;
      const Span span = queries.chunk(args_.rank, chunk);
      const std::int64_t first = number / chunks * attention_.block_queries;
      block.queries = std::clamp<std::int64_t>(span.count - first, 0, attention_.block_queries);
      block.in_shard = queries.offset_in_shard(args_.rank, chunk) + first;
      block.position = span.first + first;
      block.begun = false;
      if (block.queries > 0) load_queries(tl_, attention_, head_, block.in_shard, block.queries, block.q);
    }
  }

  void store_blocks() {
    for (const Block& block : blocks_) {
      if (block.queries == 0) continue;
      auto scope = tl_.scratch_scope();
      if (block.begun) {
        store_queries(tl_, attention_, head_, block.in_shard, block.queries, block.softmax);
      } else {
        store_fully_masked(tl_, attention_, head_, block.in_shard, block.queries);
      }
    }
  }

  // ---- keys

  /// Keys of one chunk in a rank's tile.
  [[nodiscard]] Span keys_of(std::int64_t origin, std::size_t chunk, std::int64_t tile) const {
    const Span span = sequence_.keys.chunk(origin, static_cast<std::int64_t>(chunk));
    const std::int64_t first = tile * attention_.tile;
    return {span.first + first, std::clamp<std::int64_t>(span.count - first, 0, attention_.tile)};
  }

  /// Starts to load this rank's tile number `number`, counted over all ring passes. What is not a key stays poisoned
  /// in K, whose scores are masked, and is 0 in V.
  void load_local(std::int64_t number) {
    if (number == tiles_ * passes_) return;
    const std::int64_t tile = number % tiles_;
    const LocalBuffers& local = local_[static_cast<std::size_t>(number % 2)];
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::int64_t keys = keys_of(args_.rank, chunk, tile).count;
      if (keys == 0) continue;
      const std::int64_t in_shard =
          sequence_.keys.offset_in_shard(args_.rank, static_cast<std::int64_t>(chunk)) + tile * attention_.tile;
      const Bytes offset(in_shard * head_.kv_stride * size_of(attention_.dtype));
      const auto options = tl::LoadOptions().strides(head_.kv_stride).valid({keys, attention_.head_dim});
      const tl::Shape shape{attention_.tile, attention_.head_dim};
      tl_.load(head_.k + offset, shape, attention_.dtype, options.into(local.k[chunk]));
      tl_.load(head_.v + offset, shape, attention_.dtype, options.into(local.v[chunk]).other(0.0F));
    }
  }

  /// This rank's own tile number `number`, counted over all ring passes, where `load_local` puts it.
  [[nodiscard]] KvTile local_tile(std::int64_t number) const {
    const LocalBuffers& local = local_[static_cast<std::size_t>(number % 2)];
    KvTile own;
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const Span keys = keys_of(args_.rank, chunk, number % tiles_);
      if (keys.count > 0) own.push_back({keys, local.k[chunk], local.v[chunk]});
    }
    return own;
  }

  /// The tile of the rank `distance` steps away in that direction, in the slot in which it landed. Of a tile without
  /// keys there is no message.
  [[nodiscard]] KvTile receive(Direction from, std::int64_t distance, std::int64_t tile) {
    const std::int64_t origin = from == Direction::west ? args_.rank - distance : args_.rank + distance;
    std::vector<Span> spans;
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const Span keys = keys_of((origin + args_.ranks) % args_.ranks, chunk, tile);
      if (keys.count > 0) spans.push_back(keys);
    }
    KvTile received;
    if (spans.empty()) return received;
    const std::int64_t rows = attention_.tile;
    const auto chunks = static_cast<std::int64_t>(spans.size());
    const auto slot = tl_.recv(from, {2 * chunks * rows, attention_.head_dim}, attention_.dtype);
    for (std::int64_t i = 0; i < chunks; ++i) {
      received.push_back({spans[static_cast<std::size_t>(i)], tl_.slice(slot, i * rows, (i + 1) * rows),
                          tl_.slice(slot, (chunks + i) * rows, (chunks + i + 1) * rows)});
    }
    return received;
  }

  /// K of all chunks, then V of all chunks.
  void send(Direction to, const KvTile& tile) {
    if (tile.empty()) return;
    std::vector<tl::Tensor> parts;
    for (const KvChunk& chunk : tile) parts.push_back(chunk.k);
    for (const KvChunk& chunk : tile) parts.push_back(chunk.v);
    tl_.send(to, parts);
  }

  // ---- one step

  /// Step 0 attends to this rank's tile, step n to those of the ranks n away. Received tiles live as long as the step.
  void take_step(std::int64_t number, std::int64_t tile, std::int64_t step) {
    auto scope = tl_.scratch_scope();
    std::vector<KvTile> tiles;
    const bool eastward = step < from_west_;  // somebody in the east waits for what comes from the west
    const bool westward = step < from_east_;
    if (step == 0) tiles.push_back(local_tile(number));
    if (step > 0 && step <= from_west_) tiles.push_back(receive(Direction::west, step, tile));
    if (step > 0 && step <= from_east_) tiles.push_back(receive(Direction::east, step, tile));
    const std::vector<Item> items = visible_items(tiles);

    if (!items.empty()) multiply(items.front());  // the matrix engine works while the messages leave
    if (eastward) send(Direction::east, tiles.front());
    if (westward) send(Direction::west, tiles.back());
    if (step == 0) load_local(number + 1);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i + 1 < items.size()) multiply(items[i + 1]);
      attend(items[i]);
    }
  }

  [[nodiscard]] std::vector<Item> visible_items(const std::vector<KvTile>& tiles) {
    const std::int64_t before_first_query = sequence_.keys.tokens() - sequence_.queries.tokens();
    std::vector<Item> items;
    for (const KvTile& tile : tiles) {
      for (const KvChunk& kv : tile) {
        for (Block& block : blocks_) {
          const TileView view{kv.keys.count, block.position + before_first_query - kv.keys.first, block.queries};
          if (view.sees_any(attention_.causal)) items.push_back({&block, &kv, view});
        }
      }
    }
    return items;
  }

  [[nodiscard]] static const tl::Tensor& nth(const std::vector<tl::Tensor>& buffers, std::int64_t number) {
    return buffers[static_cast<std::size_t>(number % 2)];
  }

  void multiply(const Item& item) {
    const auto q = tl_.reshape(item.block->q, {attention_.block_queries * attention_.group, attention_.head_dim});
    products_.scores(q, tl_.trans(item.kv->k), nth(scores_, multiplied_++));
  }

  void attend(const Item& item) {
    auto scope = tl_.scratch_scope();
    const tl::Tensor& scores = nth(scores_, attended_);
    const tl::Tensor& p = nth(p_, attended_++);
    Block& block = *item.block;
    mask_.apply(scores, item.view);
    block.begun ? block.softmax.update(scores, p) : block.softmax.begin(scores, p);
    products_.output(p, item.kv->v, block.softmax, block.begun ? Output::later : Output::first);
    block.begun = true;
  }

  tl::Context& tl_;
  const RingArgs& args_;
  const AttentionArgs& attention_;
  const AttentionHead& head_;
  const RingSequence& sequence_;
  std::size_t chunks_;
  std::int64_t tiles_;
  std::int64_t passes_;
  std::int64_t from_west_;
  std::int64_t from_east_;
  std::vector<tl::Tensor> scores_;
  std::vector<tl::Tensor> p_;
  ScoreMask mask_;
  Products products_;
  std::vector<Block> blocks_;
  std::array<LocalBuffers, 2> local_;
  std::int64_t multiplied_ = 0;
  std::int64_t attended_ = 0;
};

}  // namespace

void gqa_attention_prefill_long(tl::Context& tl, const RingArgs& args) {
  const std::int64_t sequence = tl.program_id(1);
  const AttentionHead& head = args.attention.head(tl.program_id(0), sequence);
  const RingSequence& tokens = args.sequences.at(static_cast<std::size_t>(sequence));
  args.attention.kv == KvSource::load ? Ring<DotProducts>(tl, args, head, tokens).run()
                                      : Ring<CompositeProducts>(tl, args, head, tokens).run();
}

}  // namespace kernwave::kernels
