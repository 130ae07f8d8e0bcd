#include "traces/path_segment.h"

#include <array>

#include "models/protocol/engine.h"

namespace kernwave::traces {

std::string_view name_of(PathCause cause) noexcept {
  constexpr std::array<std::string_view, path_cause_count> names = {"issue",
                                                                    "dispatch",
                                                                    "dma_setup",
                                                                    "memory",
                                                                    "contention",
                                                                    "hbm",
                                                                    kernwave::name_of(Engine::dma_read),
                                                                    kernwave::name_of(Engine::dma_write),
                                                                    kernwave::name_of(Engine::gemm),
                                                                    kernwave::name_of(Engine::math),
                                                                    "added_engine",
                                                                    "launch",
                                                                    "reset",
                                                                    "hop",
                                                                    "link",
                                                                    "link_queue",
                                                                    "unexplained"};
  return names[static_cast<std::size_t>(cause)];
}

}  // namespace kernwave::traces
