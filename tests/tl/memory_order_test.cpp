// Which accesses to HBM share a byte: against sets of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/tl/memory_order.h"

namespace kernwave::tl::memory_order_test {
namespace {

[[nodiscard]] HbmRegion region(std::int64_t base, std::int64_t rows, std::int64_t row_bytes, std::int64_t stride) {
  return HbmRegion{HbmAddress(CubeId(0), Bytes(base)), rows, Bytes(row_bytes), Bytes(stride)};
}

/// The bytes of a region that lies in [0, 64), as bits.
[[nodiscard]] std::uint64_t bytes_of(const HbmRegion& region) {
  std::uint64_t bytes = 0;
  for (std::int64_t row = 0; row < region.rows; ++row) {
    for (std::int64_t i = 0; i < region.row_bytes.count(); ++i) {
      bytes |= std::uint64_t{1} << (region.base.offset().count() + row * region.stride.count() + i);
    }
  }
  return bytes;
}

/// Where the answer is promised to be exact: equal strides, or one of the two contiguous.
[[nodiscard]] bool contiguous(const HbmRegion& r) {
  return r.rows <= 1 || r.stride == r.row_bytes || r.stride == Bytes(0);
}
[[nodiscard]] bool exact(const HbmRegion& a, const HbmRegion& b) {
  return a.stride == b.stride || contiguous(a) || contiguous(b);
}

/// Every small region at `base`: gaps between rows, no gaps, rows that overlap, rows that are one, no bytes at all.
[[nodiscard]] std::vector<HbmRegion> small_regions(std::int64_t base) {
  std::vector<HbmRegion> regions;
  for (std::int64_t rows = 0; rows <= 3; ++rows) {
    for (std::int64_t row_bytes = 0; row_bytes <= 4; ++row_bytes) {
      for (std::int64_t stride = 0; stride <= 6; ++stride) regions.push_back(region(base, rows, row_bytes, stride));
    }
  }
  return regions;
}

TEST(MemoryOrder, OverlapIsExactOrErrsOnTheSafeSide) {
  constexpr std::int64_t middle = 20;  // no small region is longer than 16 bytes
  std::int64_t compared = 0;
  for (const HbmRegion& a : small_regions(middle)) {
    for (std::int64_t base = 0; base <= 2 * middle; ++base) {
      for (const HbmRegion& b : small_regions(base)) {
        const bool shares = (bytes_of(a) & bytes_of(b)) != 0;
        const bool answer = overlap(a, b);
        const bool right = exact(a, b) ? answer == shares : answer || !shares;
        ASSERT_TRUE(right) << "rows " << a.rows << " of " << a.row_bytes.count() << " every " << a.stride.count()
                           << " at " << middle << " and rows " << b.rows << " of " << b.row_bytes.count() << " every "
                           << b.stride.count() << " at " << base << ": " << answer;
        ASSERT_EQ(overlap(b, a), answer);
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 140 * 41 * 140);  // 4 x 5 x 7 regions
}

/// The same question by intervals, for regions of any size.
[[nodiscard]] bool rows_meet(const HbmRegion& a, const HbmRegion& b) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t a_begin = a.base.offset().count() + i * a.stride.count();
    for (std::int64_t j = 0; j < b.rows; ++j) {
      const std::int64_t b_begin = b.base.offset().count() + j * b.stride.count();
      const std::int64_t shared =
          std::min(a_begin + a.row_bytes.count(), b_begin + b.row_bytes.count()) - std::max(a_begin, b_begin);
      if (shared > 0 && a.row_bytes.count() > 0 && b.row_bytes.count() > 0) return true;
    }
  }
  return false;
}

TEST(MemoryOrder, LargeRegionsAtRandom) {
  std::mt19937_64 random(20240521);
  const auto below = [&random](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  std::int64_t met = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t pitch = 256 * (1 + below(16));
    const std::int64_t other_pitch = below(2) == 0 ? pitch : 1 + below(5000);
    const HbmRegion a = region(below(1 << 20), 1 + below(60), 1 + below(pitch), pitch);
    const HbmRegion b = region(below(1 << 20), 1 + below(60), 1 + below(600), other_pitch);
    const bool shares = rows_meet(a, b);
    const bool answer = overlap(a, b);
    met += shares ? 1 : 0;
    ASSERT_TRUE(exact(a, b) ? answer == shares : answer || !shares) << "pair " << i;
    ASSERT_EQ(overlap(b, a), answer) << "pair " << i;
  }
  EXPECT_GT(met, 1000);  // the sample decides something
  EXPECT_LT(met, 19000);
}

TEST(MemoryOrder, NeighbouringColumnsOfOneMatrixDoNotMeet) {
  const HbmRegion left = region(0, 128, 64, 256);
  EXPECT_FALSE(overlap(left, region(64, 128, 64, 256)));
  EXPECT_TRUE(overlap(left, region(63, 128, 64, 256)));
  EXPECT_FALSE(overlap(left, region(64, 1, 192, 192)));  // the gap after the first row
  EXPECT_TRUE(overlap(left, region(64, 1, 193, 193)));
}

TEST(MemoryOrder, CubesHaveMemoriesOfTheirOwn) {
  const HbmRegion here{HbmAddress(CubeId(0), Bytes(4096)), 1, Bytes(64), Bytes(64)};
  const HbmRegion there{HbmAddress(CubeId(1), Bytes(4096)), 1, Bytes(64), Bytes(64)};
  EXPECT_FALSE(overlap(here, there));
  EXPECT_TRUE(overlap(there, there));
}

// ---- who waits for whom

[[nodiscard]] Completion operation(std::uint32_t slot) { return Completion{slot, 1}; }

TEST(MemoryOrder, AReadWaitsForWritesAndAWriteForBoth) {
  const auto nothing_complete = [](Completion) { return false; };
  MemoryOrder order;
  order.add(region(0, 1, 64, 64), false, operation(1));
  order.add(region(128, 1, 64, 64), true, operation(2));
  EXPECT_FALSE(order.conflict(region(0, 1, 64, 64), false, nothing_complete).has_value());  // two reads
  EXPECT_TRUE(order.conflict(region(0, 1, 64, 64), true, nothing_complete) == operation(1));
  EXPECT_TRUE(order.conflict(region(128, 1, 64, 64), false, nothing_complete) == operation(2));
  EXPECT_TRUE(order.conflict(region(128, 1, 64, 64), true, nothing_complete) == operation(2));
  EXPECT_FALSE(order.conflict(region(64, 1, 64, 64), true, nothing_complete).has_value());  // between them
}

TEST(MemoryOrder, WhatIsCompleteIsForgotten) {
  MemoryOrder order;
  order.add(region(0, 1, 64, 64), true, operation(1));
  order.add(region(0, 1, 64, 64), true, operation(2));
  const auto first_complete = [](Completion completion) { return completion == operation(1); };
  EXPECT_TRUE(order.conflict(region(0, 1, 64, 64), false, first_complete) == operation(2));
  EXPECT_FALSE(order.conflict(region(0, 1, 64, 64), false, [](Completion) { return true; }).has_value());
}

}  // namespace
}  // namespace kernwave::tl::memory_order_test
