// A VCD file, seen as a file: whether it can be made, and whether it is whole.
#pragma once

#include <string>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// Makes an empty file; throws WriteError if that is not possible.
void check_vcd_creatable(const std::string& path);

/// Checks that a file that SystemC has written and closed is whole and on the disk, and throws WriteError otherwise.
///
/// Corrects two time stamps: SystemC writes none before the initial values, so that viewers would let them begin at 0,
/// and repeats the last one when something changed in the last instant.
void finish_vcd(const std::string& path, Picoseconds begin, Picoseconds end);

}  // namespace kernwave::traces
