#include "models/base/address.h"

#include <fmt/format.h>

#include <stdexcept>

namespace kernwave {

void HbmAddress::fail_no_address(CubeId cube, Bytes offset) {
  throw std::out_of_range(fmt::format("no address has cube {} and offset {}: cubes are 0 to {}, offsets 0 to {:#x}",
                                      cube.count(), offset.count(), cubes - 1, cube_bytes - 1));
}

void HbmAddress::fail_no_sum(HbmAddress address, Bytes distance) {
  throw std::out_of_range(
      fmt::format("address {:#x} and {} B more go beyond 64 bits", address.value(), distance.count()));
}

}  // namespace kernwave
