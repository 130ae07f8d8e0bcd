#include "models/memory/paged_store.h"

#include <algorithm>
#include <cstring>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

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
                    std::memcpy(out + position, page->second.bytes + within, length);
                  }
                });
}

PagedStore::Page& PagedStore::page(std::int64_t number) {
  Page& page = pages_[number];
  if (page.bytes != nullptr) return page;
  Memory zeroes(static_cast<std::uint8_t*>(std::calloc(page_size, 1)));
  if (zeroes == nullptr) throw std::bad_alloc();
  memory_.push_back(std::move(zeroes));
  page.bytes = memory_.back().get();
  return page;
}

/// The block is going to be written as a whole: what it holds now does not matter.
void PagedStore::reserve_block(std::int64_t first_page) {
  for (std::int64_t i = 0; i < pages_of_block; ++i) {
    if (pages_.find(first_page + i) != pages_.end()) return;
  }
  Memory block(static_cast<std::uint8_t*>(std::aligned_alloc(block_size, block_size)));
  if (block == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  (void)::madvise(block.get(), block_size, MADV_HUGEPAGE);  // a wish
#endif
  memory_.push_back(std::move(block));
  for (std::int64_t i = 0; i < pages_of_block; ++i) {
    pages_[first_page + i].bytes = memory_.back().get() + i * page_size;
  }
}

void PagedStore::reserve(Bytes offset, Bytes count) {
  const std::int64_t first_block = (offset.count() + block_size - 1) / block_size;
  const std::int64_t end_block = (offset + count).count() / block_size;
  for (std::int64_t block = first_block; block < end_block; ++block) reserve_block(block * pages_of_block);
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t /*position*/, std::size_t length) {
                  page(number).written.mark(within, static_cast<std::int64_t>(length));
                });
}

void PagedStore::write_reserved(Bytes offset, const std::uint8_t* from, Bytes count) const {
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  std::memcpy(pages_.at(number).bytes + within, from + position, length);
                });
}

void PagedStore::write(Bytes offset, const std::uint8_t* from, Bytes count) {
  for_each_page(offset.count(), count.count(), page_size,
                [&](std::int64_t number, std::int64_t within, std::int64_t position, std::size_t length) {
                  Page& to = page(number);
                  std::memcpy(to.bytes + within, from + position, length);
                  to.written.mark(within, static_cast<std::int64_t>(length));
                });
}

/// What was never written reads as zero.
PagedStore::DirectRange PagedStore::direct(Bytes offset) {
  const std::int64_t number = offset.count() / page_size;
  Page& it = page(number);
  for (std::int64_t at = it.written.first_unmarked(0, page_size); at < page_size;
       at = it.written.first_unmarked(at + 1, page_size - at - 1)) {
    it.bytes[at] = 0;
  }
  it.written.mark(0, page_size);
  return {it.bytes, Bytes(number * page_size), Bytes(page_size)};
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
