// The extension by which a whole DMA command travels as one payload, to memories that understand it.
#pragma once

#include "models/base/systemc.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Rides on a payload whose data are the rows of a strided region, packed. The memory answers with the instant of the
/// first data, so that a slower port can stream while the memory does. Ignorable? No: a memory that does not know it
/// would take the payload as contiguous, so it is attached only when the memory is known to be ours
/// (DMA burst "whole").
class RegionExtension : public tlm::tlm_extension<RegionExtension> {
 public:
  HbmRegion region;
  /// Whoever sent the request can take the response ahead of its instant: a memory may send BEGIN_RESP as soon as it
  /// knows the end, with that as annotated delay.
  bool ahead = false;
  // Set by the memory with BEGIN_RESP.
  Picoseconds first_data;
  Picoseconds contention;  ///< how much earlier the response had come if channels and links had served nobody else

  [[nodiscard]] tlm_extension_base* clone() const override { return new RegionExtension(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const RegionExtension&>(other); }
};

}  // namespace kernwave
