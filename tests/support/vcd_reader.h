// VCD files, read back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/base/quantity.h"

namespace kernwave::testing {

/// A value and since when.
using VcdChange = std::pair<Picoseconds, std::uint64_t>;

struct VcdSignal {
  int width = 0;
  std::vector<VcdChange> changes;  ///< the first one is the initial value

  [[nodiscard]] std::uint64_t at(Picoseconds time) const;
  [[nodiscard]] std::uint64_t most() const;
};

struct Vcd {
  std::string timescale;                     ///< "1 ps"
  std::vector<std::string> names;            ///< in the order of declaration: "SystemC.pe0.state"
  std::map<std::string, VcdSignal> signals;  ///< by name
  std::vector<Picoseconds> stamps;

  [[nodiscard]] const VcdSignal& signal(const std::string& name) const;
  /// Sum of value x time up to the last stamp, in picoseconds: of a bit, how long it is 1.
  [[nodiscard]] Picoseconds integral(const std::string& name) const;
};

/// Numbers only, as VCD spells them. Reports an expectation as failed where the text is not VCD.
[[nodiscard]] Vcd parse_vcd(const std::string& text);

}  // namespace kernwave::testing
