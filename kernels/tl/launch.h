// The launch of a grid of programs on a list of PEs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/tl/context.h"
#include "kernels/tl/policy.h"
#include "models/pe/pe.h"

namespace kernwave::tl {

/// A kernel with its arguments bound.
using Kernel = std::function<void(Context&)>;

/// The number of programs along each axis.
using Grid = std::array<std::int64_t, 3>;

/// The queues that a kernel receives from. Slots exist only for them: `ipcq.depth` each, at fixed addresses at the top
/// of scratch, counted in capacity and peak. `slot_bytes` is the largest message; the configuration may set a larger
/// one.
struct Queues {
  std::vector<Direction> receive_from;
  Bytes slot_bytes;
};

/// Called when the programs of one PE have drained, in simulated time, from the PE's own process: it may notify an
/// event, and launches nothing itself.
using Drained = std::function<void(PeId pe)>;

/// Program (x, y, z) has number x + X (y + Y z) and runs on PE (number mod PEs) of the list; the programs of one PE run
/// in turn. A direction without a neighbour is ignored. Launches on a PE run in the order of the calls: the programs of
/// a launch begin when those of the launches before it have drained. After the simulation has begun, a process of the
/// user's may launch too (a kernel may not), or the caller between two calls of sc_start. A run that waits for such
/// launches must be held (`RunLedger::hold`).
///
/// Slots of queues are kept for all launches. After the simulation has begun, a launch may only declare slots that were
/// declared before, and no larger ones.
///
/// Throws std::invalid_argument, and launches nothing, when the grid, the list or the kernel is empty, when the list
/// holds a PE twice, when a kernel calls, when a kernel has failed, when the slots do not fit into scratch, or when
/// they do not exist and can no longer be made.
void launch(const std::vector<Pe*>& pes, const Grid& grid, const Kernel& kernel, Policy policy = Policy::lazy,
            const Queues& queues = {}, const Drained& drained = {});

/// One program on one PE.
void launch(Pe& pe, const Kernel& kernel, Policy policy = Policy::lazy, const Queues& queues = {});

}  // namespace kernwave::tl
