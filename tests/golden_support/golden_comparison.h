// What is different between goldens and what runs give now, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/golden_support/golden_document.h"

namespace kernwave::testing {

/// A figure that moved. One that is absent on one side is 0 there.
struct FigureChange {
  std::string group;
  std::string name;
  std::int64_t before = 0;
  std::int64_t after = 0;

  [[nodiscard]] std::int64_t by() const noexcept { return after - before; }
};

/// In the order of the figures, those of `golden` first.
[[nodiscard]] std::vector<FigureChange> changes(const GoldenFigures& golden, const GoldenFigures& now);

/// "latency 1,234,000 -> 1,240,000 ps (+6,000, +0.49 %): waiting for load +48,000 ps over all PEs, ...": the latency,
/// and what moved most among the stalls, on the critical path and among the bounds. One line.
[[nodiscard]] std::string headline_of(const GoldenFigures& golden, const GoldenFigures& now);

/// How the runs of one kernel differ.
struct GoldenDifference {
  enum class Kind : std::uint8_t {
    changed,  ///< some figures are others
    added,    ///< has no golden yet
    removed,  ///< has a golden and is not run any more
  };

  Kind kind = Kind::changed;
  std::string policy;
  std::string options;
  GoldenFigures before;
  GoldenFigures after;
};

/// In the order of `now`, then what is removed.
[[nodiscard]] std::vector<GoldenDifference> differences(const GoldenDocument& golden, const GoldenDocument& now);

/// A run's name and headline: one line.
[[nodiscard]] std::string short_text(const GoldenDifference& difference);

/// The same, and below it each figure that moved: from what, to what, by how much.
[[nodiscard]] std::string long_text(const GoldenDifference& difference);

}  // namespace kernwave::testing
