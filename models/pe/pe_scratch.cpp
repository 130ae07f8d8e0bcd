#include "models/pe/pe_scratch.h"

#include <limits>
#include <new>

namespace kernwave {

PeScratch::PeScratch(const sc_core::sc_module_name& name, const ScratchConfig& config, DataMode mode)
    : sc_module(name),
      config_(config),
      mode_(mode),
      // calloc: pages that nobody touches (mode `none`) cost nothing.
      bytes_(static_cast<std::uint8_t*>(std::calloc(static_cast<std::size_t>(config.capacity.count()), 1))) {
  if (config.capacity > Bytes(std::numeric_limits<std::uint32_t>::max())) {
    SC_REPORT_ERROR(this->name(), "the capacity must be below 4 GiB: an address of scratch has 32 bits");
  }
  if (bytes_ == nullptr) throw std::bad_alloc();
}

void PeScratch::poison(const ScratchOperand& view) {
  if (mode_ == DataMode::full) numeric::poison(tensor(view));
}

}  // namespace kernwave
