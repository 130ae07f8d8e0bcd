#include "platform/workload/attention_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/tl/scratch_arena.h"
#include "platform/text/units.h"
#include "platform/workload/workload.h"

namespace kernwave::platform {

namespace {

constexpr std::int64_t rows_of_a_block = 128;
constexpr std::int64_t smallest_tile = 16;

/// Sums buffers as the arena lays them out.
class Budget {
 public:
  Budget& add(std::int64_t count, std::int64_t elements, std::int64_t bytes_each) {
    total_ += align_up(Bytes(elements * bytes_each), scratch_alignment) * count;
    return *this;
  }
  [[nodiscard]] Bytes total() const { return total_; }

 private:
  Bytes total_;
};

}  // namespace

Bytes scratch_need(AttentionKernel kernel, const kernels::AttentionArgs& args, std::int64_t rows) {
  constexpr std::int64_t f32 = 4;
  constexpr std::int64_t int32 = 4;
  constexpr std::int64_t boolean = 1;
  constexpr std::int64_t small_temporaries = 8;  // rows x 1, of one step
  const bool prefill = !is_decode(kernel);
  const std::int64_t storage = size_of(args.dtype);
  const std::int64_t scores = rows * args.tile;
  const std::int64_t output = rows * args.head_dim;
  const bool streamed = args.kv == kernels::KvSource::composite;
  // Prefill works on a block while the next one starts; so do streamed tiles of a decode, but for O.
  const std::int64_t blocks = prefill ? 2 : 1;
  const std::int64_t in_flight = prefill || streamed ? 2 : 1;
  const Bytes lasting =
      Budget()
          .add((streamed ? 1 : 2) * args.kv_buffers, args.tile * args.head_dim, storage)                      // K and V
          .add(prefill ? std::max<std::int64_t>(2, streamed ? 2 : args.kv_buffers - 1) : 1, output, storage)  // Q
          .add(in_flight, scores, storage)                                                                    // p
          .add(blocks, output, f32)                                                                           // O
          .add(2 * blocks, rows, f32)                                                                         // m, l
          .add(2, rows, int32)  // indices of the mask
          .add(1, args.tile, int32)
          .add(small_temporaries, rows, f32)
          .total();
  const Bytes masked_scores = Budget().add(in_flight, scores, f32).add(1, scores, boolean).total();
  const std::int64_t conversions = args.dtype == DType::f32 ? 0 : 1;
  const Bytes normalised = Budget().add(1, output, f32).add(conversions, output, storage).total();
  // Prefill normalises a block within the first step of the next one, decode when its scores are gone.
  const bool together = prefill || streamed;  // streamed scores are not gone when a decode normalises
  return lasting + (together ? masked_scores + normalised : std::max(masked_scores, normalised));
}

std::string plan_attention(const AttentionPlanRequest& request, kernels::AttentionArgs& args) {
  const bool decode = is_decode(request.kernel);
  const std::int64_t queries_of_a_block = std::max<std::int64_t>(1, rows_of_a_block / args.group);
  if (decode && request.longest_s_q > queries_of_a_block) {
    throw WorkloadError(
        fmt::format("a decode takes at most {} queries with {} query heads a KV head ({} rows a block), "
                    "not {}; use gqa_attention_prefill_{}",
                    queries_of_a_block, args.group, rows_of_a_block, request.longest_s_q,
                    is_long(request.kernel) ? "long" : "short"));
  }
  args.block_queries = std::min(queries_of_a_block, request.longest_s_q);
  const std::int64_t rows = args.block_queries * args.group;
  const std::int64_t usual_tile = decode ? 512 : 128;
  args.tile = request.tile.value_or(std::min(usual_tile, std::max<std::int64_t>(request.longest_s_kv, 1)));
  const bool streamed = args.kv == kernels::KvSource::composite;
  args.kv_buffers = streamed ? request.staging_slots : 3;

  const auto need = [&] { return request.slots + scratch_need(request.kernel, args, rows); };
  const auto fits = [&] { return need() <= request.scratch; };
  if (!fits() && !streamed) args.kv_buffers = 2;
  while (!fits() && !request.tile && args.tile > smallest_tile) args.tile = std::max(smallest_tile, args.tile / 2);
  if (!fits()) {
    throw WorkloadError(
        fmt::format("{} rows of head_dim {} with tiles of {} keys need {} of scratch; pe.scratch.capacity is {}", rows,
                    args.head_dim, args.tile, format_quantity(need()), format_quantity(request.scratch)));
  }
  return fmt::format("blocks of {} queries x {} heads = {} rows, tiles of {} keys, {} {}: {} of {} scratch",
                     args.block_queries, args.group, rows, args.tile, args.kv_buffers,
                     streamed ? "slots through which composites stream K and V" : "buffers each of K and V",
                     format_quantity(need()), format_quantity(request.scratch));
}

namespace {

constexpr std::int64_t f32_bytes = 4;

/// Of one resident block: Q, O, m and l.
[[nodiscard]] Bytes resident_block_need(const kernels::AttentionArgs& args) {
  const std::int64_t rows = args.block_queries * args.group;
  return Budget()
      .add(1, rows * args.head_dim, size_of(args.dtype))
      .add(1, rows * args.head_dim, f32_bytes)
      .add(2, rows, f32_bytes)
      .total();
}

/// Of everything that does not grow with the resident blocks.
[[nodiscard]] Bytes fixed_ring_need(const kernels::RingArgs& ring, const IpcqConfig& ipcq) {
  const kernels::AttentionArgs& args = ring.attention;
  const std::int64_t rows = args.block_queries * args.group;
  const std::int64_t scores = rows * args.tile;
  const std::int64_t output = rows * args.head_dim;
  const std::int64_t storage = size_of(args.dtype);
  const std::int64_t chunks = ring.sequences.front().keys.chunks_per_rank();
  const std::int64_t queues = ring.ranks == 1 ? 0 : (ring.bidirectional ? 2 : 1);
  constexpr std::int64_t small_temporaries = 12;  // rows x 1
  const Bytes slots = queues == 0 ? Bytes(0) : slots_need(ipcq, ring.message_bytes()) * queues;
  const Bytes lasting = Budget()
                            .add(4 * chunks, args.tile * args.head_dim, storage)  // two own tiles of K and of V
                            .add(2, scores, f32_bytes)
                            .add(2, scores, storage)  // p
                            .add(2, rows, f32_bytes)  // indices of the mask
                            .add(1, args.tile, f32_bytes)
                            .add(small_temporaries, rows, f32_bytes)
                            .total();
  const Bytes masked = Budget().add(1, scores, 1).total();
  const std::int64_t conversions = args.dtype == DType::f32 ? 0 : 1;
  const Bytes normalised = Budget().add(1, output, f32_bytes).add(conversions, output, storage).total();
  return slots + lasting + std::max(masked, normalised);
}

}  // namespace

Bytes slots_need(const IpcqConfig& ipcq, Bytes message) {
  if (ipcq.slot_bytes != Bytes(0) && ipcq.slot_bytes < message) {
    throw WorkloadError(fmt::format("messages of {} do not fit into slots of {} (ipcq.slot_bytes)",
                                    format_quantity(message), format_quantity(ipcq.slot_bytes)));
  }
  return Budget().add(ipcq.depth, std::max(message, ipcq.slot_bytes).count(), 1).total();
}

Bytes ring_scratch_need(const kernels::RingArgs& args, const IpcqConfig& ipcq) {
  return fixed_ring_need(args, ipcq) + resident_block_need(args.attention) * args.resident_blocks;
}

std::string plan_ring(const RingPlanRequest& request, kernels::RingArgs& ring) {
  kernels::AttentionArgs& args = ring.attention;
  std::int64_t longest_queries = 1;
  std::int64_t longest_keys = 1;
  for (const kernels::RingSequence& sequence : ring.sequences) {
    longest_queries = std::max(longest_queries, sequence.queries.longest_chunk());
    longest_keys = std::max(longest_keys, sequence.keys.longest_chunk());
  }
  const std::int64_t chunks = ring.sequences.front().keys.chunks_per_rank();
  const std::int64_t blocks_of_a_chunk = chunks == 1 && longest_queries > 1 ? 2 : 1;
  args.block_queries =
      std::min(std::max<std::int64_t>(1, rows_of_a_block / args.group), ceil_div(longest_queries, blocks_of_a_chunk));
  constexpr std::int64_t usual_tile = 128;
  args.tile = request.tile.value_or(std::min(usual_tile, longest_keys));
  args.kv_buffers = 2;
  ring.resident_blocks = chunks;
  const auto need = [&] { return ring_scratch_need(ring, request.ipcq); };
  while (need() > request.scratch && !request.tile && args.tile > smallest_tile) {
    args.tile = std::max(smallest_tile, args.tile / 2);
  }
  if (need() > request.scratch) {
    throw WorkloadError(
        fmt::format("scratch overflow: a ring with tiles of {} keys{} (messages of {}) and blocks of {} rows of "
                    "head_dim {} needs {} of scratch; pe.scratch.capacity is {}",
                    args.tile, chunks == 1 ? "" : fmt::format(" of each of {} chunks", chunks),
                    format_quantity(ring.message_bytes()), args.block_queries * args.group, args.head_dim,
                    format_quantity(need()), format_quantity(request.scratch)));
  }
  const std::int64_t most = chunks * ceil_div(longest_queries, args.block_queries);
  const std::int64_t further = (request.scratch - need()).count() / (resident_block_need(args) * chunks).count();
  ring.resident_blocks = std::min(most, chunks + chunks * further);
  std::int64_t passes = 0;
  for (const kernels::RingSequence& sequence : ring.sequences) {
    passes = std::max(passes, kernels::ring_passes(sequence, args.block_queries, ring.resident_blocks));
  }
  return fmt::format(
      "messages of {} keys ({}), {} resident blocks of {} queries x {} heads = {} rows, {} ring pass{}: {} of {} "
      "scratch",
      chunks * args.tile, format_quantity(ring.message_bytes()), ring.resident_blocks, args.block_queries, args.group,
      args.block_queries * args.group, passes, passes == 1 ? "" : "es", format_quantity(need()),
      format_quantity(request.scratch));
}

}  // namespace kernwave::platform
