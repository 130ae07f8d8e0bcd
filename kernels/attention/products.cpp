#include "kernels/attention/products.h"

namespace kernwave::kernels {

void Products::scores(const tl::Tensor& q, const tl::CompositeOperand& keys, const tl::Tensor& scores) {
  if (kv_ == KvSource::load) {
    tl_.dot(q, keys.tensor(), tl::out(scores));
  } else {
    tl_.composite(q, keys, options().out(scores));
  }
}

void Products::output(const tl::Tensor& p, const tl::CompositeOperand& v, const OnlineSoftmax& softmax, Output output) {
  const tl::Tensor& out = softmax.output();
  const bool first = output == Output::first;
  if (kv_ == KvSource::load) {
    first ? tl_.dot(p, v.tensor(), tl::out(out)) : tl_.dot(p, v.tensor(), out);
  } else {
    const auto along_keys = options().along(tl::CompositeAxis::k);
    tl_.composite(p, v, first ? along_keys.out(out) : along_keys.acc(out));
  }
}

}  // namespace kernwave::kernels
