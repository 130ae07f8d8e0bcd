// A sparse memory of any size, whose host memory grows only with the bytes written to it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/base/quantity.h"
#include "models/memory/byte_marks.h"

namespace kernwave {

/// Unwritten bytes read as zero, and the store knows which bytes are unwritten.
class PagedStore {
 public:
  void read(Bytes offset, std::uint8_t* out, Bytes count) const;
  void write(Bytes offset, const std::uint8_t* from, Bytes count);
  /// Gives the range its place and counts it as written; `write_reserved` then writes the bytes.
  void reserve(Bytes offset, Bytes count);
  /// Writes inside of a reserved range. Several threads may write disjoint parts at once; no other function may be
  /// called meanwhile.
  void write_reserved(Bytes offset, const std::uint8_t* from, Bytes count) const;
  /// The first byte of the range that was never written; offset + count if all were.
  [[nodiscard]] Bytes first_unwritten(Bytes offset, Bytes count) const;

  /// Bytes that stay where they are.
  struct DirectRange {
    std::uint8_t* bytes = nullptr;
    Bytes first;
    Bytes count;
  };
  /// The page that holds a byte; all of its bytes count as written.
  [[nodiscard]] DirectRange direct(Bytes offset);

 private:
  static constexpr std::int64_t page_size = std::int64_t{64} * 1024;
  /// Pages that are reserved together lie in one large block, which the host maps by large pages of its own.
  static constexpr std::int64_t block_size = std::int64_t{2} * 1024 * 1024;
  static constexpr std::int64_t pages_of_block = block_size / page_size;
  struct FreeDeleter {
    void operator()(std::uint8_t* bytes) const noexcept { std::free(bytes); }
  };
  using Memory = std::unique_ptr<std::uint8_t, FreeDeleter>;
  struct Page {
    std::uint8_t* bytes = nullptr;
    ByteMarks written{page_size};
  };

  [[nodiscard]] Page& page(std::int64_t number);
  void reserve_block(std::int64_t first_page);

  std::vector<Memory> memory_;
  std::unordered_map<std::int64_t, Page> pages_;  // looked up by number, never iterated
};

}  // namespace kernwave
