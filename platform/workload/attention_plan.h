// Tile and block sizes of the attention kernels from the scratch capacity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/attention/attention_args.h"
#include "models/base/quantity.h"

namespace kernwave::platform {

enum class AttentionKernel : std::uint8_t { decode_short, prefill_short };

/// What the planner is given besides the head shape.
struct AttentionPlanRequest {
  AttentionKernel kernel = AttentionKernel::decode_short;
  std::int64_t longest_s_q = 1;
  std::int64_t longest_s_kv = 1;
  std::optional<std::int64_t> tile;  ///< fixed by the user
  Bytes scratch;
};

/// Scratch that a kernel needs with these arguments, its temporaries included.
[[nodiscard]] Bytes scratch_need(AttentionKernel kernel, const kernels::AttentionArgs& args, std::int64_t rows);

/// Fills in tile, block_queries and kv_buffers. A block has at most 128 rows; tiles start at 512 keys (decode) or 128
/// (prefill) and three buffers, and shrink until they fit. Throws WorkloadError when nothing fits, or when a decode has
/// more rows than one block holds.
/// Returns the budget, for people.
[[nodiscard]] std::string plan_attention(const AttentionPlanRequest& request, kernels::AttentionArgs& args);

}  // namespace kernwave::platform
