// The signals of a waveform as variables that SystemC traces, for a trace file of the user's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/quantity.h"
#include "models/base/systemc.h"
#include "traces/waveform/signal_change.h"

namespace kernwave::traces {

/// Each signal is a variable that takes its values when simulated time gets there. One process serves all of them, at
/// the instants at which one changes.
class TracedSignals : public sc_core::sc_module, public SignalSink {
 public:
  TracedSignals(const sc_core::sc_module_name& name, std::vector<WaveformSignal> signals);

  void set(SignalIndex signal, Picoseconds at, std::uint32_t value) override { change({at, signal, value, false}); }
  void add(SignalIndex signal, Picoseconds at, std::int32_t delta) override {
    change({at, signal, static_cast<std::uint32_t>(delta), true});
  }

  /// The value at this instant, by the changes known so far.
  [[nodiscard]] std::uint32_t value(SignalIndex signal) const { return values_[signal]; }

  void trace(sc_core::sc_trace_file* file) const override;

 private:
  struct Ahead {
    SignalChange change;
    std::uint64_t number = 0;  ///< of the call
  };

  void change(const SignalChange& change);
  void apply(const SignalChange& change) noexcept;
  void apply_due();
  void advance();
  [[nodiscard]] static bool later(const Ahead& a, const Ahead& b) noexcept {
    return a.change.at == b.change.at ? a.number > b.number : a.change.at > b.change.at;
  }

  SimulatedTime now;
  std::vector<WaveformSignal> signals_;
  std::vector<unsigned int> values_;  // never resized: SystemC refers to them
  std::vector<Ahead> ahead_;          // a heap, the earliest first
  std::uint64_t calls_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace kernwave::traces
