// What a program asks of each PE: how many operations, how much time each resource needs at least.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/property/program.h"

namespace kernwave::testing {

/// Operations of a PE as a log of them counts: parts of composites apart.
struct OperationCounts {
  std::int64_t loads = 0;
  std::int64_t stores = 0;
  std::int64_t dots = 0;
  std::int64_t maths = 0;
  std::int64_t sends = 0;
  std::int64_t receives = 0;
  std::int64_t composites = 0;
  std::int64_t part_reads = 0;
  std::int64_t part_products = 0;
  std::int64_t part_steps = 0;
};
[[nodiscard]] bool operator==(const OperationCounts& a, const OperationCounts& b);
[[nodiscard]] std::string to_text(const OperationCounts& counts);

struct LowerBound {
  std::string resource;
  Picoseconds time;
};

struct Work {
  std::vector<OperationCounts> counts;  ///< by PE
  std::vector<LowerBound> bounds;       ///< no run of the program takes less
};

/// By the formulas of docs/timing.md, from the program alone.
[[nodiscard]] Work work_of(const Program& program);

}  // namespace kernwave::testing
