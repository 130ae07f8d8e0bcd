#include "models/pe/memory_request.h"

namespace kernwave {

MemoryRequest::~MemoryRequest() { forget_region(); }

void MemoryRequest::describe(const HbmRegion& region) {
  extension_.region = region;
  extension_.first_data = Picoseconds(0);
  if (get_extension<RegionExtension>() == nullptr) set_extension(&extension_);
}

void MemoryRequest::forget_region() {
  if (get_extension<RegionExtension>() != nullptr) clear_extension(&extension_);
}

std::uint8_t* MemoryRequest::buffer(Bytes length) {
  const auto size = static_cast<std::size_t>(length.count());
  if (buffer_.size() < size) buffer_.resize(size);
  return buffer_.data();
}

MemoryRequest& MemoryRequestPool::acquire() {
  if (free_.empty()) {
    requests_.push_back(std::make_unique<MemoryRequest>(this));
    free_.reserve(requests_.size());
    free_.push_back(requests_.back().get());
  }
  MemoryRequest& request = *free_.back();
  free_.pop_back();
  return request;
}

void MemoryRequestPool::free(Payload* payload) { free_.push_back(static_cast<MemoryRequest*>(payload)); }

}  // namespace kernwave
