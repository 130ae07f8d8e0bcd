// Values that are known ahead of simulated time and shown in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/systemc.h"

namespace kernwave::traces {

/// A signal of a waveform.
struct WaveformSignal {
  std::string name;  ///< with its scope: "pe0.gemm_busy"
  int width = 32;    ///< bits
  std::uint32_t initial = 0;
  bool shown = true;  ///< it is in the file; one that is not costs nothing
};

/// The signals of one PE or one memory, each a traced variable that takes its values when simulated time gets there.
///
/// Changes of one signal apply in the order of (time, call); one for a time that has passed applies now. Of several at
/// one instant the last one is seen. One process serves all signals, at the instants at which one of them changes.
class TimedSignals : public sc_core::sc_module {
 public:
  TimedSignals(const sc_core::sc_module_name& name, std::vector<WaveformSignal> signals);

  void set(std::size_t signal, Picoseconds at, std::uint32_t value) { change({at, 0, signal, value, false}); }
  void add(std::size_t signal, Picoseconds at, std::int32_t delta) {
    change({at, 0, signal, static_cast<std::uint32_t>(delta), true});
  }

  /// The value at this instant, of what has been told so far.
  [[nodiscard]] std::uint32_t value(std::size_t signal) const { return values_[signal]; }

  void trace(sc_core::sc_trace_file* file) const override;

 private:
  struct Change {
    Picoseconds at;
    std::uint64_t number = 0;  ///< of the call
    std::size_t signal = 0;
    std::uint32_t value = 0;
    bool relative = false;
  };

  void change(Change change);
  void apply(const Change& change) noexcept;
  void apply_due();
  void advance();
  [[nodiscard]] static bool later(const Change& a, const Change& b) noexcept {
    return a.at == b.at ? a.number > b.number : a.at > b.at;
  }

  SimulatedTime now;
  std::vector<WaveformSignal> signals_;
  std::vector<unsigned int> values_;  // never resized: SystemC refers to them
  std::vector<Change> ahead_;         // a heap, the earliest first
  std::uint64_t calls_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace kernwave::traces
