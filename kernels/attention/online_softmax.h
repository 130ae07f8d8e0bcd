// The FlashAttention recurrence: softmax over tiles of keys, without the whole row of scores.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_args.h"
#include "kernels/tl/context.h"

namespace kernwave::kernels {

/// Whether a product with V starts O or adds to it.
enum class Output : std::uint8_t { first, later };

/// Running maximum m, sum l and output O of a block of rows, in f32, in persistent scratch.
///
/// For each tile of scores S (raw, without the scale), with c = scale log2(e):
///   m' = max(m, rowmax S), p = exp2(c S - c m'), alpha = exp2(c m - c m'), l' = alpha l + rowsum p, O' = alpha O + p V
/// (Dao, FlashAttention-2, 2023, algorithm 1, in base 2). The result is O / l. A row without a key keeps l = 0 and
/// gives 0: m is bounded below by a finite number, so that exp2(-inf - m) is 0 and never NaN.
class OnlineSoftmax {
 public:
  /// Allocates in the current scope.
  OnlineSoftmax(tl::Context& tl, const AttentionArgs& args, std::int64_t rows);

  /// Turns the first tile's scores into probabilities in `p` (of the storage type); scores are overwritten.
  void begin(const tl::Tensor& scores, const tl::Tensor& p);
  /// The same for a later tile; rescales O.
  void update(const tl::Tensor& scores, const tl::Tensor& p);
  /// O, to which the caller adds p V: `Output::first` after `begin`, `Output::later` after `update`.
  [[nodiscard]] const tl::Tensor& output() const noexcept { return out_; }

  /// No key so far: m is the lowest maximum, l and O are 0.
  void begin_empty();

  /// Another block's m, l and O for the same rows, as one message.
  [[nodiscard]] static std::int64_t message_elements(std::int64_t rows, std::int64_t head_dim) {
    return rows * (head_dim + 2);
  }
  /// Sends m, l and O.
  void send(Direction direction) const;
  /// Takes the keys of a message's sender into account (Dao, Flash-Decoding, 2023):
  ///   m' = max(m, n), a = exp2(c m - c m'), b = exp2(c n - c m'), l' = a l + b k, O' = a O + b P
  /// for n, k, P of the message. Where neither has a key, m' is the lowest maximum and l' stays 0.
  void merge(const tl::Tensor& message);

  /// ln(l) + m scale: the natural logarithm of the sum of the exponentials, rows x 1; -inf without a key.
  [[nodiscard]] tl::Tensor log_sum_exp() const;
  /// O / l in the storage type, in the current scope.
  [[nodiscard]] tl::Tensor normalised() const;

 private:
  /// p = exp2(c S - c m) in place and in the storage type; returns the row sums.
  [[nodiscard]] tl::Tensor exponentials(const tl::Tensor& scores, const tl::Tensor& p) const;

  tl::Context& tl_;
  DType storage_;
  float scale_log2_;
  tl::Tensor m_;    // rows x 1
  tl::Tensor l_;    // rows x 1
  tl::Tensor out_;  // rows x head_dim
};

}  // namespace kernwave::kernels
