// What a fuzzer calls: a function for each kind of text that people write.
#pragma once

#include <array>
#include <string_view>

namespace kernwave::testing {

// Each takes any bytes. Whether they are accepted or refused, it returns; an exception that leaves it is a fault of the
// project: one of a type that its callers do not expect, or a FuzzError, which says what was found.

/// A TOML file. What follows "#--set " at the beginning of a line is an override besides.
void fuzz_configuration(std::string_view input);

/// A model's config.json.
void fuzz_model_shape(std::string_view input);

/// Arguments, one a line. A run is checked up to the point where it would be simulated; nothing is written.
void fuzz_command_line(std::string_view input);

struct FuzzTarget {
  std::string_view name;  ///< of its folder in corpus/
  void (*run)(std::string_view input);
};

inline constexpr std::array fuzz_targets{FuzzTarget{"configuration", &fuzz_configuration},
                                         FuzzTarget{"model_shape", &fuzz_model_shape},
                                         FuzzTarget{"command_line", &fuzz_command_line}};

}  // namespace kernwave::testing
