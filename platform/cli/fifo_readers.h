// Readers of FIFOs that are outputs: waits until each FIFO has one.
#pragma once

#include <string>
#include <vector>

#include "traces/files/open_file.h"

namespace kernwave::platform {

/// Waits until somebody reads each FIFO among the paths, and says on standard error for whom it waits. As long as what
/// it returns is open, a reader does not see the end.
[[nodiscard]] std::vector<traces::OpenFile> wait_for_readers(const std::vector<std::string>& paths);

}  // namespace kernwave::platform
