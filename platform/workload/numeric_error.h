// The error of an output, and the check that the kernel's arithmetic explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/dtype.h"

namespace kernwave::platform {

/// The values that a right output may have.
struct ExpectedOutput {
  std::vector<double> values;  ///< the float64 reference
  /// By element: the largest error that the kernel's arithmetic can have before the element is rounded to `dtype`. The
  /// rounding itself comes on top.
  std::vector<double> bounds;
  DType dtype = DType::f32;
  /// Every bit, where the order of all sums is pinned; else empty.
  std::vector<float> bits;
};

/// An element that no right kernel computes.
struct WrongElement {
  std::int64_t index = 0;
  std::string output;
  std::string expected;  ///< the pinned value where its bits differ, else the reference
  std::string where;     ///< in the words of the workload: "C[3, 17]"
};

/// The largest differences over all elements that are not NaN, and the verdict.
struct NumericError {
  /// Of |x - ref|. An infinity stands for the smallest magnitude that rounds to it.
  double max_abs = 0.0;
  /// Of |x - ref| / max(|ref|, rms of the reference's row): relative, but an element that happens to be near 0 is
  /// measured against the size of its row. Where the whole row is 0, anything else is infinitely wrong. It informs; it
  /// does not decide.
  double max_rel = 0.0;
  /// Of |x - ref| / (the element's bound + half the spacing of its type there). A right output keeps to 1.
  double max_of_bound = 0.0;
  bool has_nan = false;
  std::optional<bool> bitwise;  ///< whether every bit is as pinned; empty where the order of sums is not pinned
  std::int64_t wrong = 0;       ///< elements that are NaN, beyond their bound, or have another bit than pinned
  std::optional<WrongElement> first_wrong;

  /// Both outputs taken together.
  void merge(const NumericError& other);
  [[nodiscard]] bool is_right() const noexcept { return wrong == 0; }
};

/// Compares rows of `row` elements. Throws std::invalid_argument when the lengths differ or are not whole rows.
[[nodiscard]] NumericError numeric_error(const std::vector<float>& output, const ExpectedOutput& expected,
                                         std::int64_t row);

}  // namespace kernwave::platform
