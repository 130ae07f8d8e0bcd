// The verdict: the meaning of a result, in words.
#pragma once

#include <string>
#include <vector>

#include "platform/json/json.h"

namespace kernwave::platform {

/// Sentences, made by rules from a result document alone.
struct Verdict {
  std::vector<std::string> warnings;  ///< why the numbers are not those of a whole, right run; mostly none
  std::string headline;               ///< what bounds the run, and by how much
  std::vector<std::string> findings;  ///< where the time went
  std::vector<std::string> advice;    ///< what to change in order to be faster
};

[[nodiscard]] Verdict verdict(const Json& result);

/// "reading from HBM": a resource of `bounds_ps` in words.
[[nodiscard]] std::string resource_in_words(std::string_view resource);

}  // namespace kernwave::platform
