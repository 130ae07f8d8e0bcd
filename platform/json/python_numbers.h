// The numbers that Python's json module writes and JSON does not have: NaN, Infinity and -Infinity.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernwave::platform {

/// A number that was written as a name.
struct NamedNumber {
  std::size_t index = 0;  ///< of all numbers of the text
  double value = 0.0;
};

/// Writes zeros over the names of numbers outside strings, as long as the names, so that positions in messages hold.
/// Returns what they stood for, in the order of the text.
[[nodiscard]] std::vector<NamedNumber> replace_number_names(std::string& text);

}  // namespace kernwave::platform
