// Totals of one engine over a run: commands, floating-point operations, bytes and busy time.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace kernwave {

struct EngineStatistics {
  std::int64_t operations = 0;
  std::int64_t flops = 0;
  Bytes bytes;             ///< moved to or from HBM
  Picoseconds busy;        ///< time in which a command was in service
  Picoseconds given_port;  ///< DMA channels with a given timing: time of the data on the port, without gaps

  EngineStatistics& operator+=(const EngineStatistics& other) {
    operations += other.operations;
    flops += other.flops;
    bytes += other.bytes;
    busy += other.busy;
    given_port += other.given_port;
    return *this;
  }
};

}  // namespace kernwave
