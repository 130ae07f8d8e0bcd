// The two products of attention.
#pragma once

#include <optional>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/online_softmax.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Issues Q K^T and P V as args.kv says: as dots on tensors, or as composites, which do not wait under any policy and
/// may stream a factor from HBM. The results are the same.
class Products {
 public:
  Products(tl::Context& tl, const AttentionArgs& args) : tl_(tl), kv_(args.kv) {}
  /// For factors in HBM.
  Products(tl::Context& tl, const AttentionArgs& args, const tl::Staging& staging)
      : tl_(tl), kv_(args.kv), staging_(staging) {}

  /// scores = q keys, with the keys transposed already.
  void scores(const tl::Tensor& q, const tl::CompositeOperand& keys, const tl::Tensor& scores);
  /// O = p v, or O += p v, for the O of a softmax.
  void output(const tl::Tensor& p, const tl::CompositeOperand& v, const OnlineSoftmax& softmax, Output output);

 private:
  [[nodiscard]] tl::CompositeOptions options() const {
    return staging_ ? tl::CompositeOptions().through(*staging_) : tl::CompositeOptions();
  }

  tl::Context& tl_;
  KvSource kv_;
  std::optional<tl::Staging> staging_;
};

}  // namespace kernwave::kernels
