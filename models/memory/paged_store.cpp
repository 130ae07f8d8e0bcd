#include "models/memory/paged_store.h"

#include <algorithm>
#include <cstring>

namespace kernwave {

namespace {

/// Calls `piece(page number, offset in page, position, count)` for each page that the range touches.
template <typename Piece>
void for_each_page(std::int64_t offset, std::int64_t count, std::int64_t page_size, Piece piece) {
  std::int64_t position = 0;
  while (position < count) {
    const std::int64_t within = (offset + position) % page_size;
    const std::int64_t length = std::min(page_size - within, count - position);
    piece((offset + position) / page_size, within, position, static_cast<std::size_t>(length));
    position += length;
  }
}

}  // namespace

void PagedStore::read(Bytes offset, std::uint8_t* out, Bytes count) const {
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  const auto page = pages_.find(number);
                  if (page == pages_.end()) {
                    std::memset(out + position, 0, length);
                  } else {
                    std::memcpy(out + position, page->second.get() + within, length);
                  }
                });
}

void PagedStore::write(Bytes offset, const std::uint8_t* from, Bytes count) {
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  Page& page = pages_[number];
                  if (page == nullptr) page = std::make_unique<std::uint8_t[]>(page_size);
                  std::memcpy(page.get() + within, from + position, length);
                });
}

}  // namespace kernwave
