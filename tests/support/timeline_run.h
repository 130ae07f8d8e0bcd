// Runs whose timelines go into files.
#pragma once

#include <functional>
#include <string>

#include "tests/support/simulation.h"
#include "traces/timeline/timeline.h"

namespace kernwave::testing {

/// Runs something on a machine whose timeline goes into the file. Throws traces::WriteError.
void run_with_timeline(const std::string& path, const SystemConfig& config, const std::function<void(Simulation&)>& run,
                       traces::Compression compression = traces::Compression::none,
                       ConstructionOrder order = ConstructionOrder::ascending);

/// Two cubes of three PEs that contend for memory; a queue takes two messages at once.
[[nodiscard]] SystemConfig busy_machine();
/// On each PE of a busy machine, in each round: two loads, a dot, two composites at once, two messages around the ring,
/// arithmetic, two stores.
void run_busy(Simulation& simulation, tl::Policy policy, std::int64_t rounds = 3);

}  // namespace kernwave::testing
