// The two products of attention, by loads and dots or by composites, with the same results.
#pragma once

#include <optional>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// The products as dots of tensors.
class DotProducts {
 public:
  explicit DotProducts(tl::Context& tl) : tl_(tl) {}

  /// scores = q keys, with the keys transposed already.
  void scores(const tl::Tensor& q, const tl::Tensor& keys, const tl::Tensor& scores);
  /// O = p v (first), or O += p v, for the O of a softmax.
  void output(const tl::Tensor& p, const tl::Tensor& v, const OnlineSoftmax& softmax, Output output);

 private:
  tl::Context& tl_;
};

/// The products as composites, which do not wait under any policy and may stream a factor from HBM.
class CompositeProducts {
 public:
  /// For factors in scratch.
  explicit CompositeProducts(tl::Context& tl) : tl_(tl) {}
  /// For keys and values in HBM.
  CompositeProducts(tl::Context& tl, const tl::Staging& staging) : tl_(tl), staging_(staging) {}

  /// The same as of DotProducts.
  void scores(const tl::Tensor& q, const tl::CompositeOperand& keys, const tl::Tensor& scores);
  void output(const tl::Tensor& p, const tl::CompositeOperand& v, const OnlineSoftmax& softmax, Output output);

 private:
  [[nodiscard]] tl::CompositeOptions options() const {
    return staging_ ? tl::CompositeOptions().through(*staging_) : tl::CompositeOptions();
  }

  tl::Context& tl_;
  std::optional<tl::Staging> staging_;
};

}  // namespace kernwave::kernels
