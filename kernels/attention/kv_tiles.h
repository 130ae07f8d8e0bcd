// Tiles of K and V that stream from HBM, and the two products that use them.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Keys and values of one head, tile by tile. Requests and products both run in one order of steps; a step may use any
/// tile. Keys beyond s_kv have undefined scores, which are masked, and add nothing to a product with V.
class KvTiles {
 public:
  KvTiles() = default;
  KvTiles(const KvTiles&) = delete;
  KvTiles& operator=(const KvTiles&) = delete;
  virtual ~KvTiles() = default;

  /// The number of steps that may be requested beyond the one in use.
  [[nodiscard]] virtual std::int64_t distance() const noexcept = 0;
  /// Announces that `step` will use tile `tile` (keys tile x args.tile ...).
  virtual void request_k(std::int64_t step, std::int64_t tile) = 0;
  virtual void request_v(std::int64_t step, std::int64_t tile) = 0;

  /// scores = q K^T.
  virtual void multiply_keys(std::int64_t step, std::int64_t tile, const tl::Tensor& q, const tl::Tensor& scores) = 0;
  /// O = p V (first) or O += p V.
  virtual void multiply_values(std::int64_t step, std::int64_t tile, const tl::Tensor& p, const OnlineSoftmax& softmax,
                               Output output) = 0;
};

// Each allocates in the current scope.
/// args.kv_buffers tiles of K and of V in scratch, loaded ahead of their use, and dots.
[[nodiscard]] std::unique_ptr<KvTiles> loaded_kv_tiles(tl::Context& tl, const AttentionArgs& args,
                                                       const AttentionHead& head);
/// Composites that stream K and V through args.kv_buffers slots; requests do nothing.
[[nodiscard]] std::unique_ptr<KvTiles> streamed_kv_tiles(tl::Context& tl, const AttentionArgs& args,
                                                         const AttentionHead& head);
/// The KvTiles that args.kv names.
[[nodiscard]] std::unique_ptr<KvTiles> make_kv_tiles(tl::Context& tl, const AttentionArgs& args,
                                                     const AttentionHead& head);

}  // namespace kernwave::kernels
