// Functions that append to a text whose memory is reused, so that no row needs an allocation.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "traces/op_log/operation_batch.h"

namespace kernwave::traces {

inline void append(fmt::memory_buffer& text, std::string_view more) {
  text.append(more.data(), more.data() + more.size());
}

inline void append(fmt::memory_buffer& text, std::int64_t number) {
  const fmt::format_int digits(number);
  append(text, std::string_view(digits.data(), digits.size()));
}

/// Sequence numbers with spaces between.
inline void append_dependencies(fmt::memory_buffer& text, const OperationBatch& batch, const OperationEntry& entry) {
  for (std::size_t i = 0; i < entry.dependencies; ++i) {
    if (i > 0) append(text, " ");
    append(text, batch.dependencies[entry.first_dependency + i]);
  }
}

}  // namespace kernwave::traces
