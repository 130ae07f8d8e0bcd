// Sparse bytes: a memory of any size that costs what is written to it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "models/base/quantity.h"
#include "models/memory/byte_marks.h"

namespace kernwave {

/// Bytes that were never written read as zero, and it is known which they are.
class PagedStore {
 public:
  void read(Bytes offset, std::uint8_t* out, Bytes count) const;
  void write(Bytes offset, const std::uint8_t* from, Bytes count);
  /// The first byte of the range that was never written; offset + count if all were.
  [[nodiscard]] Bytes first_unwritten(Bytes offset, Bytes count) const;

 private:
  static constexpr std::int64_t page_size = std::int64_t{64} * 1024;
  struct Page {
    std::unique_ptr<std::uint8_t[]> bytes = std::make_unique<std::uint8_t[]>(page_size);
    ByteMarks written{page_size};
  };

  std::unordered_map<std::int64_t, Page> pages_;  // looked up by number, never iterated
};

}  // namespace kernwave
