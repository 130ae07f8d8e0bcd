// Sparse memory: what was written is there and known, and what was not is zero, however it was written.
#include "models/memory/paged_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kernwave::paged_store_test {
namespace {

constexpr std::int64_t mebi = std::int64_t{1024} * 1024;

/// Bytes that differ from place to place, none of them 0.
[[nodiscard]] std::vector<std::uint8_t> pattern(std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(1 + (i * 7 + i / 251) % 255);
  return bytes;
}

[[nodiscard]] std::vector<std::uint8_t> read(const PagedStore& store, std::int64_t offset, std::int64_t count) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  store.read(Bytes(offset), bytes.data(), Bytes(count));
  return bytes;
}

// Ranges of a few bytes, of some pages, and of blocks that the host maps at once, whole and cut anywhere.
TEST(PagedStores, AReservedRangeHoldsWhatIsWrittenThereAndNothingAroundItIsWritten) {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{1}, 2 * mebi, 2 * mebi - 3, 5 * mebi + 4096}) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{70'000}, 2 * mebi, 2 * mebi + 1, 7 * mebi - 5}) {
      PagedStore store;
      const std::vector<std::uint8_t> bytes = pattern(count);
      store.reserve(Bytes(offset), Bytes(count));
      const std::int64_t half = count / 2;
      store.write_reserved(Bytes(offset + half), bytes.data() + half, Bytes(count - half));
      store.write_reserved(Bytes(offset), bytes.data(), Bytes(half));
      ASSERT_EQ(read(store, offset, count), bytes) << offset << ", " << count;
      EXPECT_EQ(store.first_unwritten(Bytes(offset), Bytes(count)), Bytes(offset + count));
      EXPECT_EQ(store.first_unwritten(Bytes(offset), Bytes(count + 1)), Bytes(offset + count));
      EXPECT_EQ(read(store, offset + count, 70'000), std::vector<std::uint8_t>(70'000));
      if (offset == 0) continue;
      EXPECT_EQ(store.first_unwritten(Bytes(offset - 1), Bytes(count)), Bytes(offset - 1));
      EXPECT_EQ(read(store, offset - 1, 1).front(), 0);
    }
  }
}

TEST(PagedStores, ReservingKeepsWhatWasWrittenBefore) {
  PagedStore store;
  const std::vector<std::uint8_t> before = pattern(100);
  store.write(Bytes(3 * mebi), before.data(), Bytes(100));  // in the middle of a block
  store.reserve(Bytes(0), Bytes(8 * mebi));
  EXPECT_EQ(read(store, 3 * mebi, 100), before);
  store.reserve(Bytes(0), Bytes(8 * mebi));
  EXPECT_EQ(read(store, 3 * mebi, 100), before);
  store.write(Bytes(4 * mebi), before.data(), Bytes(100));
  EXPECT_EQ(read(store, 4 * mebi, 100), before);
}

}  // namespace
}  // namespace kernwave::paged_store_test
