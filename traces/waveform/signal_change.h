// The signals of a waveform, and how their values change.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace kernwave::traces {

/// A signal of a waveform: a number without sign.
struct WaveformSignal {
  std::string name;  ///< with its scope: "pe0.gemm_busy"
  int width = 32;    ///< bits
  std::uint32_t initial = 0;
  bool exists = true;  ///< a PE has no slots for a direction without a neighbour
};

/// The place of a signal among those of a waveform.
using SignalIndex = std::uint32_t;

/// From `at` on, which may lie ahead of simulated time, a signal has a value, or one that is larger by `value` modulo
/// 2^32.
struct SignalChange {
  Picoseconds at;
  SignalIndex signal = 0;
  std::uint32_t value = 0;
  bool relative = false;

  [[nodiscard]] std::uint32_t applied_to(std::uint32_t before) const noexcept {
    return relative ? before + value : value;
  }
};

/// Where changes go. Those of one signal take effect in the order of (time, call); one for a time that has passed takes
/// effect at once. Of several in one instant the last one is seen.
class SignalSink {
 public:
  SignalSink() = default;
  SignalSink(const SignalSink&) = delete;
  SignalSink& operator=(const SignalSink&) = delete;
  virtual ~SignalSink() = default;

  virtual void change(const SignalChange& change) = 0;
};

}  // namespace kernwave::traces
