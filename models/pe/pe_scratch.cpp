#include "models/pe/pe_scratch.h"

#include <sys/mman.h>

#include <cstring>
#include <limits>
#include <new>

namespace kernwave {

PeScratch::PeScratch(const sc_core::sc_module_name& name, const ScratchConfig& config, DataMode mode)
    : sc_module(name),
      config_(config),
      mode_(mode),
      bytes_(mode == DataMode::full ? allocated(static_cast<std::size_t>(config.capacity.count()))
                                    : mapped(static_cast<std::size_t>(config.capacity.count()))) {
  if (config.capacity > Bytes(std::numeric_limits<std::uint32_t>::max())) {
    report_error(report_type::configuration, this->name(),
                 "the capacity must be below 4 GiB: an address of scratch has 32 bits");
  }
}

PeScratch::Memory PeScratch::allocated(std::size_t size) {
  Memory memory(static_cast<std::uint8_t*>(std::calloc(size, 1)), Release{});
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Pages that nobody touches cost nothing. What calloc returns may lie where it has to be cleared.
PeScratch::Memory PeScratch::mapped(std::size_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::uint8_t*>(memory), Release{size}};
}

void PeScratch::Release::operator()(std::uint8_t* bytes) const noexcept {
  if (mapped == 0) {
    std::free(bytes);
  } else {
    ::munmap(bytes, mapped);
  }
}

void PeScratch::clear() noexcept {
  if (mode_ == DataMode::full) std::memset(bytes_.get(), 0, static_cast<std::size_t>(config_.capacity.count()));
}

void PeScratch::poison(const ScratchOperand& view) {
  if (mode_ == DataMode::full) numeric::poison(tensor(view));
}

}  // namespace kernwave
