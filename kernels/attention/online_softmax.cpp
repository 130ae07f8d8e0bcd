#include "kernels/attention/online_softmax.h"

namespace kernwave::kernels {

namespace {

constexpr float log2_e = 1.44269504088896341F;
constexpr float ln_2 = 0.693147180559945309F;
/// Below every score that counts, and finite, also after scaling: m - m' and exp2(-inf - m) stay defined for a row
/// without a key.
constexpr float lowest_maximum = -1.0e30F;

}  // namespace

OnlineSoftmax::OnlineSoftmax(tl::Context& tl, const AttentionArgs& args, std::int64_t rows)
    : tl_(tl),
      storage_(args.dtype),
      scale_log2_(args.scale * log2_e),
      m_(tl.buffer({rows, 1}, DType::f32)),
      l_(tl.buffer({rows, 1}, DType::f32)),
      out_(tl.buffer({rows, args.head_dim}, DType::f32)) {}

tl::Tensor OnlineSoftmax::exponentials(const tl::Tensor& scores, const tl::Tensor& p) const {
  tl_.fma(scores, scale_log2_, m_ * -scale_log2_, tl::out(scores));
  tl_.exp2(scores, tl::out(scores));
  tl_.cast(scores, storage_, tl::out(p));
  return tl_.sum(scores, 1, true);
}

void OnlineSoftmax::begin(const tl::Tensor& scores, const tl::Tensor& p) {
  tl_.maximum(tl_.max(scores, 1, true), lowest_maximum, tl::out(m_));
  tl_.copy_to(l_, exponentials(scores, p));
}

void OnlineSoftmax::update(const tl::Tensor& scores, const tl::Tensor& p) {
  const auto larger = tl_.maximum(m_, tl_.max(scores, 1, true));
  const auto alpha = tl_.exp2((m_ - larger) * scale_log2_);
  tl_.copy_to(m_, larger);
  tl_.fma(l_, alpha, exponentials(scores, p), tl::out(l_));
  tl_.mul(out_, alpha, tl::out(out_));
}

void OnlineSoftmax::begin_empty() {
  tl_.fill(m_, lowest_maximum);
  tl_.fill(l_, 0.0);
  tl_.fill(out_, 0.0);
}

void OnlineSoftmax::send(Direction direction) const { tl_.send(direction, {m_, l_, out_}); }

void OnlineSoftmax::merge(const tl::Tensor& message) {
  const std::int64_t rows = m_.shape()[0];
  const auto other_m = tl_.reshape(tl_.slice(message, 0, rows), m_.shape());
  const auto other_l = tl_.reshape(tl_.slice(message, rows, 2 * rows), l_.shape());
  const auto other_out = tl_.reshape(tl_.slice(message, 2 * rows, message.shape()[0]), out_.shape());
  const auto larger = tl_.maximum(m_, other_m);
  const auto mine = tl_.exp2((m_ - larger) * scale_log2_);
  const auto others = tl_.exp2((other_m - larger) * scale_log2_);
  tl_.copy_to(m_, larger);
  tl_.fma(l_, mine, other_l * others, tl::out(l_));
  tl_.mul(out_, mine, tl::out(out_));
  tl_.fma(other_out, others, out_, tl::out(out_));
}

tl::Tensor OnlineSoftmax::log_sum_exp() const { return tl_.mul(tl_.fma(m_, scale_log2_, tl_.log2(l_)), ln_2); }

tl::Tensor OnlineSoftmax::normalised() const {
  const auto reciprocal = 1.0F / tl_.where(l_ == 0.0F, 1.0F, l_);
  return tl_.mul(out_, reciprocal).to(storage_);
}

}  // namespace kernwave::kernels
