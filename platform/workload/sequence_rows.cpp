#include "platform/workload/sequence_rows.h"

#include <algorithm>

#include "platform/workload/hbm_tensor.h"

namespace kernwave::platform {

namespace {

using kernels::Span;

[[nodiscard]] HbmTensor tensor_of(const SequenceRows& rows) {
  return {rows.base, rows.tokens.shard(rows.rank), rows.width, rows.stride, rows.dtype};
}

}  // namespace

void write_rows(System& system, const SequenceRows& rows, const RandomTensor& numbers) {
  for (std::int64_t i = 0; i < rows.tokens.chunks_per_rank(); ++i) {
    const Span chunk = rows.tokens.chunk(rows.rank, i);
    const std::int64_t before = rows.tokens.offset_in_shard(rows.rank, i) * rows.stride * size_of(rows.dtype);
    // Writing rounds.
    write(system, {rows.base + Bytes(before), chunk.count, rows.width, rows.stride, rows.dtype},
          [&numbers, start = chunk.first * rows.width](std::int64_t first, std::int64_t count, float* out) {
            numbers.write(start + first, count, DType::f32, out);
          });
  }
}

void fill_rows(System& system, const SequenceRows& rows, float value) { fill(system, tensor_of(rows), value); }

std::vector<float> gather_rows(const System& system, const std::vector<SequenceRows>& ranks) {
  const std::int64_t width = ranks.front().width;
  std::vector<float> all(static_cast<std::size_t>(ranks.front().tokens.tokens() * width));
  for (const SequenceRows& rows : ranks) {
    const std::vector<float> shard = read(system, tensor_of(rows));
    for (std::int64_t i = 0; i < rows.tokens.chunks_per_rank(); ++i) {
      const Span chunk = rows.tokens.chunk(rows.rank, i);
      const auto begin = shard.begin() + rows.tokens.offset_in_shard(rows.rank, i) * width;
      std::copy(begin, begin + chunk.count * width, all.begin() + chunk.first * width);
    }
  }
  return all;
}

}  // namespace kernwave::platform
