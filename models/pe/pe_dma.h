// The DMA of a PE: a read channel and a write channel that share nothing.
#pragma once

#include "models/pe/dma_channel.h"

namespace kernwave {

/// HBM to scratch through `read()`, scratch to HBM through `write()`. Each has a command queue, a port of the
/// configured bandwidth and a memory socket of its own.
class PeDma : public sc_core::sc_module {
 public:
  PeDma(const sc_core::sc_module_name& name, const DmaConfig& config, PeScratch& scratch)
      : sc_module(name),
        read_("read", Engine::dma_read, config, scratch),
        write_("write", Engine::dma_write, config, scratch) {}

  [[nodiscard]] DmaChannel& read() noexcept { return read_; }
  [[nodiscard]] DmaChannel& write() noexcept { return write_; }
  void set_observer(PeObserver* observer) noexcept {
    read_.set_observer(observer);
    write_.set_observer(observer);
  }
  void allow_reset() noexcept {
    read_.allow_reset();
    write_.allow_reset();
  }
  void begin_reset() {
    read_.begin_reset();
    write_.begin_reset();
  }
  void end_reset() noexcept {
    read_.end_reset();
    write_.end_reset();
  }
  [[nodiscard]] bool is_quiet() const noexcept { return read_.is_quiet() && write_.is_quiet(); }
  [[nodiscard]] const DmaChannel& read() const noexcept { return read_; }
  [[nodiscard]] const DmaChannel& write() const noexcept { return write_; }

 private:
  DmaChannel read_;
  DmaChannel write_;
};

}  // namespace kernwave
