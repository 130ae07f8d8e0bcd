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
                    std::memcpy(out + position, page->second.bytes.get() + within, length);
                  }
                });
}

void PagedStore::write(Bytes offset, const std::uint8_t* from, Bytes count) {
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  Page& page = pages_[number];
                  std::memcpy(page.bytes.get() + within, from + position, length);
                  page.written.mark(within, static_cast<std::int64_t>(length));
                });
}

Bytes PagedStore::first_unwritten(Bytes offset, Bytes count) const {
  const std::int64_t end = offset.count() + count.count();
  std::int64_t first = end;
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  if (first != end) return;
                  const auto page = pages_.find(number);
                  const auto size = static_cast<std::int64_t>(length);
                  const std::int64_t here =
                      page == pages_.end() ? within : page->second.written.first_unmarked(within, size);
                  if (here < within + size) first = offset.count() + position + here - within;
                });
  return Bytes(first);
}

}  // namespace kernwave
