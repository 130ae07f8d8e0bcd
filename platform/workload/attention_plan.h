// The planner of the attention kernels: chooses tile and block sizes by the scratch capacity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/attention/attention_args.h"
#include "kernels/attention/gqa_attention_prefill_long.h"
#include "models/base/quantity.h"
#include "models/config/system_config.h"

namespace kernwave::platform {

enum class AttentionKernel : std::uint8_t { decode_short, decode_long, prefill_short, prefill_long };

[[nodiscard]] constexpr bool is_decode(AttentionKernel kernel) noexcept {
  return kernel == AttentionKernel::decode_short || kernel == AttentionKernel::decode_long;
}
/// Whether the keys of a sequence are split among cubes.
[[nodiscard]] constexpr bool is_long(AttentionKernel kernel) noexcept {
  return kernel == AttentionKernel::decode_long || kernel == AttentionKernel::prefill_long;
}

/// The input of the planner besides the head shape.
struct AttentionPlanRequest {
  AttentionKernel kernel = AttentionKernel::decode_short;
  std::int64_t longest_s_q = 1;
  std::int64_t longest_s_kv = 1;
  std::optional<std::int64_t> tile;  ///< fixed by the user
  Bytes scratch;
  Bytes slots;                     ///< bytes of it that the slots of queues take
  std::int64_t staging_slots = 2;  ///< of composites
};

/// Scratch that a kernel needs with these arguments, its temporaries included.
[[nodiscard]] Bytes scratch_need(AttentionKernel kernel, const kernels::AttentionArgs& args, std::int64_t rows);

/// Plans the kernels other than prefill_long: fills in tile, block_queries and kv_buffers. A block has at most 128
/// rows; tiles start at 512 keys (decode) or 128 (prefill) and three buffers, and shrink until they fit. Throws
/// WorkloadError when nothing fits, or when a decode has more rows than one block holds. Returns the budget as text
/// for users.
[[nodiscard]] std::string plan_attention(const AttentionPlanRequest& request, kernels::AttentionArgs& args);

/// The input of the planner of a ring besides head shape and sharding.
struct RingPlanRequest {
  std::optional<std::int64_t> tile;  ///< fixed by the user
  Bytes scratch;
  IpcqConfig ipcq;
};

/// Scratch that a ring needs: slots of queues, two tiles of its own, one block's scores and temporaries, and the
/// resident blocks' Q, m, l and O.
[[nodiscard]] Bytes ring_scratch_need(const kernels::RingArgs& args, const IpcqConfig& ipcq);

/// Scratch that the slots of one direction take. Throws WorkloadError when the configured slots are smaller than the
/// message.
[[nodiscard]] Bytes slots_need(const IpcqConfig& ipcq, Bytes message);

/// Plans a ring: fills in tile, block_queries and resident_blocks. Blocks have at most 128 rows; where possible, a
/// rank's rows make at least two blocks, so that the products of one hide the softmax of the other. The tile is 128
/// keys of each chunk, or fewer until one block of each chunk fits; then as many blocks stay resident as fit. Throws
/// WorkloadError when nothing fits. Returns the budget as text for users.
[[nodiscard]] std::string plan_ring(const RingPlanRequest& request, kernels::RingArgs& args);

}  // namespace kernwave::platform
