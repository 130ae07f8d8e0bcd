// Sparse bytes: a memory of any size that costs what is written to it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "models/base/quantity.h"

namespace kernwave {

/// Bytes that were never written read as zero.
class PagedStore {
 public:
  void read(Bytes offset, std::uint8_t* out, Bytes count) const;
  void write(Bytes offset, const std::uint8_t* from, Bytes count);

 private:
  static constexpr std::int64_t page_size = std::int64_t{64} * 1024;
  using Page = std::unique_ptr<std::uint8_t[]>;

  std::unordered_map<std::int64_t, Page> pages_;  // looked up by number, never iterated
};

}  // namespace kernwave
