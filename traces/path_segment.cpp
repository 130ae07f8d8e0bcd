#include "traces/path_segment.h"

#include <array>

namespace kernwave::traces {

std::string_view name_of(PathCause cause) noexcept {
  constexpr std::array<std::string_view, path_cause_count> names = {
      "issue",     "dispatch", "dma_setup", "memory", "contention", "hbm",        "dma_read",
      "dma_write", "gemm",     "math",      "hop",    "link",       "link_queue", "unexplained"};
  return names[static_cast<std::size_t>(cause)];
}

}  // namespace kernwave::traces
