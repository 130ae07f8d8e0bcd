// Readers of FIFOs that are outputs: waits until each FIFO has one.
#pragma once

#include <string>
#include <vector>

#include "traces/files/open_file.h"

namespace kernwave::platform {

/// Waits until each FIFO among the paths has a reader, and names on standard error the FIFO for which it waits. As long
/// as the returned files are open, the readers do not see the end of the FIFOs.
[[nodiscard]] std::vector<traces::OpenFile> wait_for_readers(const std::vector<std::string>& paths);

}  // namespace kernwave::platform
