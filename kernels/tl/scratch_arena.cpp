#include "kernels/tl/scratch_arena.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernwave::tl {

BufferId ScratchArena::allocate(Bytes size, const BufferOrigin& origin) {
  const BufferId id = make(ScratchAddress(top_.count()), size, origin);
  top_ += align_up(size, scratch_alignment);
  return id;
}

BufferId ScratchArena::adopt(const Slot& slot, ScratchAddress address, Bytes size, const BufferOrigin& origin) {
  const BufferId id = make(address, size, origin);
  buffer(id).is_slot = true;
  buffer(id).slot = slot;
  return id;
}

BufferId ScratchArena::make(ScratchAddress address, Bytes size, const BufferOrigin& origin) {
  if (free_slots_.empty()) {
    buffers_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(buffers_.size() - 1));
  }
  const std::uint32_t number = free_slots_.back();
  free_slots_.pop_back();
  Buffer& buffer = buffers_[number];
  buffer.address = address;
  buffer.size = size;
  buffer.origin = origin;
  buffer.writer = Completion{};
  buffer.readers.clear();
  buffer.is_slot = false;
  buffer.tiles_staged = 0;
  live_.push_back(number);
  return BufferId{number, buffer.generation};
}

std::string ScratchArena::holders() const {
  std::vector<const Buffer*> by_size;
  by_size.reserve(live_.size());
  for (const std::uint32_t slot : live_) by_size.push_back(&buffers_[slot]);
  std::stable_sort(by_size.begin(), by_size.end(), [](const Buffer* a, const Buffer* b) { return a->size > b->size; });
  constexpr std::size_t named = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(named, by_size.size()); ++i) {
    const BufferOrigin& origin = by_size[i]->origin;
    text += fmt::format("{}{} B by {} {} {} ({}:{})", i == 0 ? "" : ", ", by_size[i]->size.count(), origin.operation,
                        to_string(origin.shape), name_of(origin.dtype), origin.where.file, origin.where.line);
  }
  if (by_size.size() > named) text += fmt::format(", and {} smaller ones", by_size.size() - named);
  return text.empty() ? "nobody" : text;
}

}  // namespace kernwave::tl
