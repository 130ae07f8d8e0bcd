// Requests of a DMA channel to memory: pooled payloads with their own data.
#pragma once

#include <memory>
#include <vector>

#include "models/base/systemc.h"
#include "models/protocol/region_extension.h"

namespace kernwave {

/// A READ or WRITE payload, with room for its data in mode `full`.
class MemoryRequest : public Payload {
 public:
  explicit MemoryRequest(tlm::tlm_mm_interface* memory_manager) : Payload(memory_manager) {}
  ~MemoryRequest() override;
  MemoryRequest(const MemoryRequest&) = delete;
  MemoryRequest& operator=(const MemoryRequest&) = delete;

  /// Attaches or detaches the region: a pooled request never carries a stale one.
  void describe(const HbmRegion& region);
  void forget_region();

  /// Room for `length` bytes.
  [[nodiscard]] std::uint8_t* buffer(Bytes length);
  [[nodiscard]] const RegionExtension& extension() const noexcept { return extension_; }

  std::size_t command = 0;  ///< the channel's number of the command that this request serves
  std::int64_t row = 0;     ///< of the region
  Bytes offset;             ///< within the row

 private:
  std::vector<std::uint8_t> buffer_;
  RegionExtension extension_;
};

class MemoryRequestPool : public tlm::tlm_mm_interface {
 public:
  [[nodiscard]] MemoryRequest& acquire();
  [[nodiscard]] std::size_t size() const noexcept { return requests_.size(); }
  [[nodiscard]] std::size_t in_use() const noexcept { return requests_.size() - free_.size(); }

 private:
  void free(Payload* payload) override;

  std::vector<std::unique_ptr<MemoryRequest>> requests_;
  std::vector<MemoryRequest*> free_;
};

}  // namespace kernwave
