// The extension by which a whole DMA command travels as one payload, to memories that understand it.
#pragma once

#include "models/base/systemc.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Extends a payload whose data are the packed rows of a strided region. The memory answers with the instant of the
/// first data, so that a slower port can stream while the memory does. The extension is not ignorable: a memory that
/// does not know it would take the payload as contiguous. So it is attached only with the DMA burst "whole", which
/// requires kernwave's own memory.
class RegionExtension : public tlm::tlm_extension<RegionExtension> {
 public:
  HbmRegion region;
  /// The sender of the request accepts the response ahead of its instant: the memory may send BEGIN_RESP as soon as it
  /// knows the end, with the end as annotated delay.
  bool ahead = false;
  // Set by the memory with BEGIN_RESP.
  Picoseconds first_data;
  Picoseconds contention;  ///< how much earlier the response would be if channels and links served nothing else

  [[nodiscard]] tlm_extension_base* clone() const override { return new RegionExtension(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const RegionExtension&>(other); }
};

}  // namespace kernwave
