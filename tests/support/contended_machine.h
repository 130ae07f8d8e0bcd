// A small machine on which everything waits for everything.
#pragma once

#include "models/config/system_config.h"

namespace kernwave::testing {

/// Two cubes of three PEs, with narrow memory and short queues: all of them contend.
[[nodiscard]] inline SystemConfig contended_machine() {
  SystemConfig config;
  config.cubes = 2;
  config.pes_per_cube = 3;
  config.hbm.channels = 4;
  config.hbm.bandwidth = Bandwidth(51'200'000'000);
  config.hbm.queue_depth = 2;
  config.pe.dma.queue_depth = 2;
  return config;
}

}  // namespace kernwave::testing
