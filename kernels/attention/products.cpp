#include "kernels/attention/products.h"

namespace kernwave::kernels {

void DotProducts::scores(const tl::Tensor& q, const tl::Tensor& keys, const tl::Tensor& scores) {
  tl_.dot(q, keys, tl::out(scores));
}

void DotProducts::output(const tl::Tensor& p, const tl::Tensor& v, const OnlineSoftmax& softmax, Output output) {
  const tl::Tensor& out = softmax.output();
  output == Output::first ? tl_.dot(p, v, tl::out(out)) : tl_.dot(p, v, out);
}

void CompositeProducts::scores(const tl::Tensor& q, const tl::CompositeOperand& keys, const tl::Tensor& scores) {
  tl_.composite(q, keys, options().out(scores));
}

void CompositeProducts::output(const tl::Tensor& p, const tl::CompositeOperand& v, const OnlineSoftmax& softmax,
                               Output output) {
  const tl::Tensor& out = softmax.output();
  const auto along_keys = options().along(tl::CompositeAxis::k);
  tl_.composite(p, v, output == Output::first ? along_keys.out(out) : along_keys.acc(out));
}

}  // namespace kernwave::kernels
