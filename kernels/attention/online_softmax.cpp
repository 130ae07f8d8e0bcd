#include "kernels/attention/online_softmax.h"

namespace kernwave::kernels {

namespace {

constexpr float log2_e = 1.44269504088896341F;
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

void OnlineSoftmax::begin_output(const tl::Tensor& p, const tl::Tensor& v) { tl_.dot(p, v, tl::out(out_)); }

void OnlineSoftmax::update_output(const tl::Tensor& p, const tl::Tensor& v) { tl_.dot(p, v, out_); }

tl::Tensor OnlineSoftmax::normalised() const {
  const auto reciprocal = 1.0F / tl_.where(l_ == 0.0F, 1.0F, l_);
  return tl_.mul(out_, reciprocal).to(storage_);
}

}  // namespace kernwave::kernels
