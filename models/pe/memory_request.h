// Requests of a DMA channel to memory: pooled payloads, each with its own data.
#pragma once

#include "models/base/systemc.h"
#include "models/protocol/payload_pool.h"
#include "models/protocol/region_extension.h"

namespace kernwave {

/// A READ or WRITE payload, with room for its data in mode `full`.
class MemoryRequest : public BufferedPayload {
 public:
  explicit MemoryRequest(tlm::tlm_mm_interface* memory_manager) : BufferedPayload(memory_manager) {}
  ~MemoryRequest() override;
  MemoryRequest(const MemoryRequest&) = delete;
  MemoryRequest& operator=(const MemoryRequest&) = delete;

  /// Attaches or detaches the region: a pooled request never carries a stale one.
  void describe(const HbmRegion& region, bool ahead);
  void forget_region();

  [[nodiscard]] const RegionExtension& extension() const noexcept { return extension_; }

  std::size_t command = 0;  ///< the channel's number of the command that this request serves
  Bytes position;           ///< among the packed bytes of the command's region

 private:
  RegionExtension extension_;
};

using MemoryRequestPool = PayloadPool<MemoryRequest>;

}  // namespace kernwave
