// Tiles of K and V on their way from HBM, ahead of their use.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Persistent buffers for tiles of K and V. Requests and uses both run in one order of steps; with later steps
/// requested before one is used, the DMA streams while the engines compute.
class KvStream {
 public:
  /// Allocates in the current scope.
  KvStream(tl::Context& tl, const AttentionArgs& args, const AttentionHead& head);

  /// How many steps may be requested beyond the one in use.
  [[nodiscard]] std::int64_t distance() const noexcept { return static_cast<std::int64_t>(k_.size()) - 1; }

  /// Loads tile `tile` (keys tile * args.tile ...) for step `step`. Keys beyond s_kv are left poisoned in K, since
  /// their scores are masked, and are 0 in V, since 0 times poison is poison.
  void request_k(std::int64_t step, std::int64_t tile);
  void request_v(std::int64_t step, std::int64_t tile);

  [[nodiscard]] const tl::Tensor& k(std::int64_t step) const { return k_[slot(step)]; }
  [[nodiscard]] const tl::Tensor& v(std::int64_t step) const { return v_[slot(step)]; }

 private:
  void request(HbmAddress base, std::int64_t tile, const tl::LoadOptions& options);
  [[nodiscard]] std::size_t slot(std::int64_t step) const { return static_cast<std::size_t>(step) % k_.size(); }

  tl::Context& tl_;
  const AttentionArgs& args_;
  const AttentionHead& head_;
  std::vector<tl::Tensor> k_;
  std::vector<tl::Tensor> v_;
};

}  // namespace kernwave::kernels
