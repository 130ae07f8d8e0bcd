#include "kernels/attention/kv_tiles.h"

#include <algorithm>
#include <vector>

#include "kernels/attention/products.h"

namespace kernwave::kernels {

namespace {

class LoadedKv : public KvTiles {
 public:
  LoadedKv(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head)
      : tl_(tl),
        args_(args),
        head_(head),
        products_(tl),
        k_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)),
        v_(tl.buffers(args.kv_buffers, {args.tile, args.head_dim}, args.dtype)) {}

  [[nodiscard]] std::int64_t distance() const noexcept override { return static_cast<std::int64_t>(k_.size()) - 1; }

  /// What lies beyond s_kv is left poisoned in K and is 0 in V, since 0 times poison is poison.
  void request_k(std::int64_t step, std::int64_t tile) override { request(head_.k, tile, tl::into(k_[slot(step)])); }
  void request_v(std::int64_t step, std::int64_t tile) override {
    request(head_.v, tile, tl::into(v_[slot(step)]).other(0.0F));
  }

  void multiply_keys(std::int64_t step, std::int64_t /*tile*/, const tl::Tensor& q, const tl::Tensor& scores) override {
    products_.scores(q, tl_.trans(k_[slot(step)]), scores);
  }
  void multiply_values(std::int64_t step, std::int64_t /*tile*/, const tl::Tensor& p, const OnlineSoftmax& softmax,
                       Output output) override {
    products_.output(p, v_[slot(step)], softmax, output);
  }

 private:
  void request(HbmAddress base, std::int64_t tile, const tl::LoadOptions& options) {
    const std::int64_t first = tile * args_.tile;
    const std::int64_t keys = std::min(args_.tile, head_.s_kv - first);
    tl_.load(base + Bytes(first * head_.kv_stride * size_of(args_.dtype)), {args_.tile, args_.head_dim}, args_.dtype,
             options.strides(head_.kv_stride).valid({keys, args_.head_dim}));
  }
  [[nodiscard]] std::size_t slot(std::int64_t step) const { return static_cast<std::size_t>(step) % k_.size(); }

  tl::Context& tl_;
  const AttentionArgs& args_;
  const AttentionHead& head_;
  DotProducts products_;
  std::vector<tl::Tensor> k_;
  std::vector<tl::Tensor> v_;
};

class StreamedKv : public KvTiles {
 public:
  StreamedKv(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head)
      : tl_(tl),
        args_(args),
        head_(head),
        products_(tl, tl.staging(Bytes(args.tile * args.head_dim * size_of(args.dtype)))) {}

  [[nodiscard]] std::int64_t distance() const noexcept override { return 2; }  // of queries, loaded by the kernel
  void request_k(std::int64_t /*step*/, std::int64_t /*tile*/) override {}
  void request_v(std::int64_t /*step*/, std::int64_t /*tile*/) override {}

  void multiply_keys(std::int64_t /*step*/, std::int64_t tile, const tl::Tensor& q, const tl::Tensor& scores) override {
    products_.scores(q, tl_.trans(ref(head_.k, tile)), scores);
  }
  void multiply_values(std::int64_t /*step*/, std::int64_t tile, const tl::Tensor& p, const OnlineSoftmax& softmax,
                       Output output) override {
    products_.output(p, ref(head_.v, tile), softmax, output);
  }

 private:
  [[nodiscard]] tl::Ref ref(HbmAddress base, std::int64_t tile) const {
    const std::int64_t first = tile * args_.tile;
    return tl_.ref(base + Bytes(first * head_.kv_stride * size_of(args_.dtype)), {args_.tile, args_.head_dim},
                   args_.dtype,
                   tl::RefOptions().strides(head_.kv_stride).valid(std::min(args_.tile, head_.s_kv - first)));
  }

  tl::Context& tl_;
  const AttentionArgs& args_;
  const AttentionHead& head_;
  CompositeProducts products_;
};

}  // namespace

std::unique_ptr<KvTiles> loaded_kv_tiles(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head) {
  return std::make_unique<LoadedKv>(tl, args, head);
}

std::unique_ptr<KvTiles> streamed_kv_tiles(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head) {
  return std::make_unique<StreamedKv>(tl, args, head);
}

std::unique_ptr<KvTiles> make_kv_tiles(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head) {
  return args.kv == KvSource::load ? loaded_kv_tiles(tl, args, head) : streamed_kv_tiles(tl, args, head);
}

}  // namespace kernwave::kernels
