// A tensor of one sequence in HBM: one row for each token, a shard of the rows for each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention/sharding.h"
#include "models/system/system.h"
#include "platform/workload/random_data.h"

namespace kernwave::platform {

/// The rows that one rank holds, as many and in the order of its chunks.
struct SequenceRows {
  HbmAddress base;
  std::int64_t width = 0;   ///< elements of a row
  std::int64_t stride = 0;  ///< likewise
  DType dtype = DType::f32;
  kernels::Sharding tokens;
  std::int64_t rank = 0;
};

/// Writes the rank's rows of the whole sequence to HBM; `numbers` holds the rows of the whole sequence, one after
/// another.
void write_rows(System& system, const SequenceRows& rows, const RandomTensor& numbers);
void fill_rows(System& system, const SequenceRows& rows, float value);
/// The rows of the whole sequence, from all ranks that hold some.
[[nodiscard]] std::vector<float> gather_rows(const System& system, const std::vector<SequenceRows>& ranks);

}  // namespace kernwave::platform
