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

/// From `at` on a signal has a value, or one that is larger by `value` modulo 2^32.
struct SignalChange {
  SignalChange(Picoseconds when, SignalIndex which, std::uint32_t what, bool is_relative) noexcept
      : at(when), value(what), tagged_(which << 1U | static_cast<SignalIndex>(is_relative)) {}

  Picoseconds at;
  std::uint32_t value;

  [[nodiscard]] SignalIndex signal() const noexcept { return tagged_ >> 1U; }

  [[nodiscard]] std::uint32_t applied_to(std::uint32_t before) const noexcept {
    return (tagged_ & 1U) != 0 ? before + value : value;
  }

 private:
  SignalIndex tagged_;  // there are many: 16 bytes each
};

/// A receiver of changes, which take effect at `at`, possibly ahead of simulated time. The changes of one signal take
/// effect in the order of (time, call); a change for a time that has passed takes effect at once. Of several changes in
/// one instant the last one counts.
class SignalSink {
 public:
  SignalSink() = default;
  SignalSink(const SignalSink&) = delete;
  SignalSink& operator=(const SignalSink&) = delete;
  virtual ~SignalSink() = default;

  virtual void set(SignalIndex signal, Picoseconds at, std::uint32_t value) = 0;
  virtual void add(SignalIndex signal, Picoseconds at, std::int32_t delta) = 0;
};

}  // namespace kernwave::traces
