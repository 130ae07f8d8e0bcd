// An interval of the critical path.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/base/address.h"
#include "models/base/quantity.h"

namespace kernwave::traces {

/// What the end of a run waited for.
enum class PathCause : std::uint8_t {
  issue,        ///< a program paying issue cost
  dispatch,     ///< the scheduler dispatching a command
  dma_setup,    ///< a DMA channel setting a command up
  memory,       ///< latency between a request and its first data
  contention,   ///< channels and links of the memory serving others
  hbm,          ///< channels of the memory moving this transfer's bytes
  dma_read,     ///< the read port moving bytes
  dma_write,    ///< the write port moving bytes
  gemm,         ///< the matrix engine
  math,         ///< the vector engine
  added,        ///< an engine that was added to the machine
  launch,       ///< a PE without a program, until the next one was launched
  reset,        ///< a wait that a reset has ended, and the reset
  hop,          ///< latency of queue links: messages and returned credits
  link,         ///< a queue link moving a message's bytes
  link_queue,   ///< a queue link serving other messages
  unexplained,  ///< none of these: a module of the user's own took the time
};
inline constexpr std::size_t path_cause_count = 17;

[[nodiscard]] std::string_view name_of(PathCause cause) noexcept;

/// Segments of a path follow one another without gap or overlap from 0 to the latency.
struct PathSegment {
  Picoseconds start;
  Picoseconds end;
  PathCause cause = PathCause::issue;
  OperationId operation;  ///< that the time was spent on
  SourceLocation where;   ///< of the call that issued it
};

}  // namespace kernwave::traces
