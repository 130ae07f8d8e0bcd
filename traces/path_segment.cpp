#include "traces/path_segment.h"

#include <array>

namespace kernwave::traces {

namespace {

constexpr std::array<std::string_view, path_cause_count> cause_names = {
    "issue",     "dispatch", "dma_setup", "memory", "contention", "hbm",       "dma_read",
    "dma_write", "gemm",     "math",      "hop",    "link",       "link_queue"};

}  // namespace

std::string_view name_of(PathCause cause) noexcept { return cause_names.at(static_cast<std::size_t>(cause)); }

}  // namespace kernwave::traces
