#include "platform/workload/attention_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/tl/scratch_arena.h"
#include "platform/config/units.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

namespace {

constexpr std::int64_t rows_of_a_block = 128;
constexpr std::int64_t smallest_tile = 16;

/// Sums buffers as the arena lays them out.
class Budget {
 public:
  Budget& add(std::int64_t count, std::int64_t elements, std::int64_t bytes_each) {
    const std::int64_t alignment = tl::ScratchArena::alignment;
    total_ += count * ((elements * bytes_each + alignment - 1) / alignment * alignment);
    return *this;
  }
  [[nodiscard]] Bytes total() const { return Bytes(total_); }

 private:
  std::int64_t total_ = 0;
};

}  // namespace

Bytes scratch_need(AttentionKernel kernel, const kernels::AttentionArgs& args, std::int64_t rows) {
  constexpr std::int64_t f32 = 4;
  constexpr std::int64_t small_temporaries = 12;  // rows x 1, of one step
  const std::int64_t storage = size_of(args.dtype);
  const std::int64_t scores = rows * args.tile;
  const std::int64_t output = rows * args.head_dim;
  // Prefill works on a block while the next one starts.
  const std::int64_t in_flight = kernel == AttentionKernel::prefill_short ? 2 : 1;
  Budget budget;
  budget
      .add(2 * args.kv_buffers, args.tile * args.head_dim, storage)  // K and V
      .add(in_flight, output, storage)                               // Q
      .add(in_flight, scores, f32)
      .add(in_flight, scores, storage)  // p
      .add(in_flight, output, f32)      // O
      .add(2 * in_flight, rows, f32)    // m, l
      .add(2, rows, f32)                // indices of the mask
      .add(1, args.tile, f32)
      .add(small_temporaries, rows, f32)
      // At the end of a step: the mask, or the normalised output in f32 and in the storage type.
      .add(1, std::max(scores, output * (f32 + storage)), 1);
  return budget.total();
}

std::string plan_attention(const AttentionPlanRequest& request, kernels::AttentionArgs& args) {
  const bool decode = request.kernel == AttentionKernel::decode_short;
  const std::int64_t queries_of_a_block = std::max<std::int64_t>(1, rows_of_a_block / args.group);
  if (decode && request.longest_s_q > queries_of_a_block) {
    throw WorkloadError(
        fmt::format("a decode takes at most {} queries with {} query heads a KV head ({} rows a block), "
                    "not {}; use gqa_attention_prefill_short",
                    queries_of_a_block, args.group, rows_of_a_block, request.longest_s_q));
  }
  args.block_queries = std::min(queries_of_a_block, request.longest_s_q);
  const std::int64_t rows = args.block_queries * args.group;
  const std::int64_t usual_tile = decode ? 512 : 128;
  args.tile = request.tile.value_or(std::min(usual_tile, std::max<std::int64_t>(request.longest_s_kv, 1)));
  args.kv_buffers = 3;

  const auto fits = [&] { return scratch_need(request.kernel, args, rows) <= request.scratch; };
  if (!fits()) args.kv_buffers = 2;
  while (!fits() && !request.tile && args.tile > smallest_tile) args.tile = std::max(smallest_tile, args.tile / 2);
  if (!fits()) {
    throw WorkloadError(
        fmt::format("{} rows of head_dim {} with tiles of {} keys need {} of scratch; pe.scratch.capacity is {}", rows,
                    args.head_dim, args.tile, format_quantity(scratch_need(request.kernel, args, rows)),
                    format_quantity(request.scratch)));
  }
  return fmt::format(
      "blocks of {} queries x {} heads = {} rows, tiles of {} keys, {} buffers each of K and V: "
      "{} of {} scratch",
      args.block_queries, args.group, rows, args.tile, args.kv_buffers,
      format_quantity(scratch_need(request.kernel, args, rows)), format_quantity(request.scratch));
}

}  // namespace kernwave::platform
