// The arguments of a grouped-query attention kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/address.h"
#include "models/base/dtype.h"

namespace kernwave::kernels {

/// Query and output of one program in its cube's HBM, with the keys and values that it attends to.
///
/// Tokens stand `stride` elements apart. Of each query token, the `group` heads that share the KV head follow one
/// another: [token][group][head_dim]. K and V: one row of head_dim elements a token, so that [H, S, D] has
/// kv_stride = D and [S, H, D] has kv_stride = H D.
struct AttentionHead {
  HbmAddress q;
  HbmAddress k;
  HbmAddress v;
  HbmAddress out;
  std::int64_t q_stride = 0;
  std::int64_t kv_stride = 0;
  std::int64_t out_stride = 0;
  std::int64_t s_q = 1;
  std::int64_t s_kv = 1;
  std::int64_t later_keys = 0;  ///< of the sequence, that stand elsewhere: after those of a shard
  HbmAddress lse;               ///< f32, [token][group]; written when `AttentionArgs::store_lse`
  std::int64_t lse_stride = 0;

  /// Causal, bottom-right aligned over the whole sequence: query i sees these keys up to number i + diagonal.
  [[nodiscard]] constexpr std::int64_t diagonal() const noexcept { return s_kv + later_keys - s_q; }
};

/// The way in which keys and values get to the matrix engine.
enum class KvSource : std::uint8_t {
  load,       ///< the kernel loads tiles into scratch and multiplies them
  composite,  ///< composites, which stream them from HBM where they lie there
};

/// Attention of `heads.size()` pairs of a sequence and a KV head: program (x, y) works on KV head x of sequence y.
/// out = softmax(scale Q K^T) V, causal with bottom-right alignment: query i sees keys 0 ... i + s_kv - s_q. A query
/// that sees no key gives 0.
struct AttentionArgs {
  std::vector<AttentionHead> heads;  ///< [sequence][KV head]
  std::int64_t kv_heads = 1;
  std::int64_t group = 1;  ///< query heads that share a KV head; they are packed into rows of one product
  std::int64_t head_dim = 128;
  DType dtype = DType::f16;  ///< of Q, K, V and the output: f16, bf16 or f32
  bool causal = false;
  float scale = 1.0F;              ///< usually 1 / sqrt(head_dim); above 0
  std::int64_t tile = 128;         ///< keys a step
  std::int64_t block_queries = 1;  ///< query tokens a block; a block has block_queries x group rows
  KvSource kv = KvSource::load;
  /// `load`: tiles of K and of V in scratch, one in use, the others on their way; prefill needs 2. `composite`: slots
  /// of the staging area (pe.scheduler.prefetch_depth).
  std::int64_t kv_buffers = 3;
  bool store_lse = false;  ///< also ln(sum(exp(scaled scores))) of every row; -inf of a row that sees no key

  [[nodiscard]] const AttentionHead& head(std::int64_t kv_head, std::int64_t sequence) const {
    return heads.at(static_cast<std::size_t>(kv_head + kv_heads * sequence));
  }
};

}  // namespace kernwave::kernels
