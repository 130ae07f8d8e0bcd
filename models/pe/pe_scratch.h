// The scratch memory of a PE: its capacity, its bytes, and the peak that a program used.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "models/base/address.h"
#include "models/base/dtype.h"
#include "models/base/systemc.h"
#include "models/config/system_config.h"
#include "models/numeric/tensor_bytes.h"
#include "models/protocol/descriptor.h"

namespace kernwave {

/// Holds bytes in data mode `full`, and only counts them in mode `none`. Engines access scratch by address in zero
/// time: the time to move operands is part of each engine's formula.
class PeScratch : public sc_core::sc_module {
 public:
  PeScratch(const sc_core::sc_module_name& name, const ScratchConfig& config, DataMode mode);

  [[nodiscard]] Bytes capacity() const noexcept { return config_.capacity; }
  [[nodiscard]] DataMode mode() const noexcept { return mode_; }
  [[nodiscard]] Bytes peak() const noexcept { return peak_; }

  /// Records that the program uses scratch up to `top`; the highest `top` is the peak.
  void note_use(Bytes top) noexcept {
    if (top > peak_) peak_ = top;
  }

  /// The bytes of a tensor. Mode `full` only.
  [[nodiscard]] numeric::TensorBytes tensor(const ScratchOperand& view) noexcept {
    return {bytes_.get() + view.address.count(), view};
  }

  /// All bytes are as at the start of the simulation. Does nothing in mode `none`.
  void clear() noexcept;

  /// Makes every element NaN (or a large odd integer), so that a read before the first write shows in the result. Does
  /// nothing in mode `none`.
  void poison(const ScratchOperand& view);

  /// As many zeroed bytes as the capacity, for payloads of mode `none`, whose contents do not matter.
  [[nodiscard]] std::uint8_t* idle_bytes() noexcept { return bytes_.get(); }

 private:
  struct Release {
    std::size_t mapped = 0;  ///< 0: allocated

    void operator()(std::uint8_t* bytes) const noexcept;
  };
  using Memory = std::unique_ptr<std::uint8_t, Release>;

  [[nodiscard]] static Memory allocated(std::size_t size);
  [[nodiscard]] static Memory mapped(std::size_t size);

  ScratchConfig config_;
  DataMode mode_;
  Memory bytes_;
  Bytes peak_;
};

}  // namespace kernwave
