// What a large machine costs the host beside its operations.
#pragma once

namespace kernwave::bench {

/// Host time of taking a machine down, for each of its PEs: that of 1,024 PEs as a multiple of that of 128. 1 where the
/// time grows with the machine, 8 where it grows with its square.
[[nodiscard]] double teardown_growth();

/// Resident memory of the process for each PE: the slope of its peak between machines of 256 and 2,048 PEs, data mode
/// `none`, that run a small kernel on each PE.
[[nodiscard]] double memory_bytes_per_pe();

}  // namespace kernwave::bench
