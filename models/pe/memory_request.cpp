#include "models/pe/memory_request.h"

namespace kernwave {

MemoryRequest::~MemoryRequest() { forget_region(); }

void MemoryRequest::describe(const HbmRegion& region, bool ahead) {
  extension_.region = region;
  extension_.ahead = ahead;
  extension_.first_data = Picoseconds(0);
  if (get_extension<RegionExtension>() == nullptr) set_extension(&extension_);
}

void MemoryRequest::forget_region() {
  if (get_extension<RegionExtension>() != nullptr) clear_extension(&extension_);
}

}  // namespace kernwave
